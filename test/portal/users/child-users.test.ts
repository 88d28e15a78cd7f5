// The child users of a reseller in the portal.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { openPortal, type TestPortal } from "../../support/worlds/portal.ts";

let portal: TestPortal;
beforeAll(async () => {
  portal = await openPortal();
  portal.user("alice");
  portal.user("bob");
  portal.run("createUser", { username: "alice.child", name: "Ann", parent: "alice" });
  portal.run("createUser", { username: "bob.child", name: "Ben", parent: "bob" });
  portal.run("creditUser", {
    username: "alice.child",
    amountMicros: 5_000_000,
    note: null,
    publicNote: null,
    reference: null,
  });
});
afterAll(() => portal.stop());

test("lists the reseller's own child users with their balances, and nobody else's", async () => {
  const cookie = portal.session(portal.member("alice", "viewer@alice.example", "viewer"));
  const { text } = await portal.get("/users", cookie);
  expect(text).toContain("alice.child");
  expect(text).toContain("$5.00");
  expect(text).not.toContain("bob.child");
});
