// Two servers of one PostgreSQL database that get the same notices at the same moment: each payment is credited once.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import type { Actor } from "../../src/domain/ledger/ledger.ts";
import { callback } from "../../src/payments/callback.ts";
import type { Service } from "../../src/server/serve.ts";
import { freshFolder } from "../support/folders.ts";
import { verifyStore } from "../support/databases/verify.ts";
import { askPayment, DOLLAR, seedMember, seedMethod } from "../support/seeds/payments.ts";
import { openService, startTestService, type TestService } from "../support/worlds/service.ts";

const PAYMENTS = 15;
const SECRET = callback.settings.find(({ name }) => name === "secret")!.make!();

let first: TestService;
let second: Service;
let actor: Actor;
beforeAll(async () => {
  first = await openService();
  second = await startTestService({ ...first.location, data: freshFolder(), server: "second" });
  actor = seedMember(first);
  seedMethod(first, "pay", "callback", { settings: JSON.stringify({ secret: SECRET }) });
});
afterAll(async () => {
  await second.stop();
  await first.stop();
});

async function send(url: string, payment: string, id: string): Promise<number> {
  const data = { payment, id, amount: "10", currency: "USD" };
  const body = JSON.stringify({ type: "payment.paid", data });
  const at = new Date();
  const headers = {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(SECRET).sign(id, at, body),
  };
  const response = await fetch(`${url}/payments/callback/pay`, { method: "POST", body, headers });
  await response.text();
  return response.status;
}

test("two servers that each get a notice twice, and a second id for the payment, credit it once", async () => {
  const ids = Array.from({ length: PAYMENTS }, () =>
    askPayment(first, { methodId: "pay", actor, now: Date.now() }),
  );
  const sent = ids.flatMap((id) =>
    [first.url, second.url].flatMap((url) => [
      send(url, id, `a-${id}`),
      send(url, id, `a-${id}`),
      send(url, id, `b-${id}`),
    ]),
  );
  const statuses = await Promise.all(sent);
  expect(new Set(statuses)).toEqual(new Set([200, 409]));
  expect(first.balance("alice")).toBe(PAYMENTS * 10 * DOLLAR);
  const [sums] = first.query<{ transfers: number; paid: number }>(
    `SELECT (SELECT count(*) FROM transfers WHERE kind = 'payment') AS transfers,
      (SELECT count(*) FROM payments WHERE state = 'paid') AS paid`,
  );
  expect([Number(sums!.transfers), Number(sums!.paid)]).toEqual([PAYMENTS, PAYMENTS]);
  expect(await verifyStore(first)).toEqual([]);
});

test("a path with an impossible method id is not found", async () => {
  for (const id of ["a%00b", "%00", "PAY", "x".repeat(5000)]) {
    const url = `${first.url}/payments/callback/${id}`;
    const response = await fetch(url, { method: "POST", body: "{}" });
    expect([id, response.status, (await response.text()).includes("not_found")]).toEqual([
      id,
      404,
      true,
    ]);
  }
});

test("due payments are taken by one server only, when both look at the same moment", async () => {
  const now = Date.now();
  seedMethod(first, "card", "stripe");
  const ids = Array.from({ length: 4 }, (_, index) => {
    const id = askPayment(first, { methodId: "card", actor, now });
    const begun = {
      reference: `cs-${index}`,
      url: "https://p.example/",
      expiresAt: now + 3_600_000,
    };
    const result = { outcome: "begun", ...begun } as const;
    first.execute("recordBegun", { id, isReadable: true, result }, now - 600_000);
    return id;
  });
  const due = { limit: 10, readableKinds: ["stripe"] };
  const taken = [first.run("takeDuePayments", due), first.run("takeDuePayments", due)];
  expect(
    taken
      .flat()
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(ids.toSorted());
});
