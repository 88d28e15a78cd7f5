// The limits of registrations: from one network, and of those that wait.

import { expect, test } from "bun:test";
import { createCallerRate } from "../../../src/http/server/rate-limits.ts";
import { type Reply, openPortal, type TestPortal } from "../../support/worlds/portal.ts";

const register = (portal: TestPortal, name: string): Promise<Reply> =>
  portal.post("/register", "", { name, email: `${name}@new.example` });
const waiting = (portal: TestPortal) =>
  portal.query("SELECT email FROM registrations ORDER BY created_at, email").length;

test("a network that registers too often is told when to try again, and nothing is stored", async () => {
  const registration = createCallerRate({ requests: 2, milliseconds: 3_600_000 });
  const settings = { registration: "approve" } as const;
  const portal = await openPortal({ settings, limits: { registration } });
  // Twice the rate at once.
  for (const name of ["a", "b", "c", "d"]) {
    const { status, headers } = await register(portal, name);
    expect([name, status, headers.get("location")]).toEqual([name, 303, "/sign-in"]);
  }
  const refused = await register(portal, "e");
  expect([refused.status, refused.text.includes('value="e@new.example"')]).toEqual([429, true]);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(1000);
  expect(waiting(portal)).toBe(4);
  await portal.stop();
});

test("no more registrations wait than the operator allows", async () => {
  const settings = { registration: "approve", registrationsWaiting: 2 } as const;
  const portal = await openPortal({ settings });
  for (const name of ["a", "b"]) expect((await register(portal, name)).status).toBe(303);
  const refused = await register(portal, "c");
  expect([refused.status, waiting(portal)]).toEqual([422, 2]);
  await portal.stop();
});
