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

test("in test mode lists the same child users with their test balances", async () => {
  const cookie = portal.session(portal.member("alice", "dev@alice.example", "developer"));
  await portal.post("/test-mode", cookie);
  const before = (await portal.get("/test/users", cookie)).text;
  expect([before.includes("alice.child"), before.includes("$0.00")]).toEqual([true, true]);
  const { id: keyId } = portal.key("alice", "recharge", "children", true);
  const [{ reseller_account: resellerAccount }] = portal.query(
    `SELECT reseller_account FROM keys WHERE id = '${keyId}'`,
  ) as [{ reseller_account: number }];
  const recharge = { keyId, resellerAccount, username: "alice.child", amountMicros: 7_000_000 };
  portal.run("recharge", { ...recharge, isTest: true });
  const { text } = await portal.get("/test/users", cookie);
  expect([text.includes("$7.00"), text.includes("$5.00")]).toEqual([true, false]);
  expect((await portal.get("/users", cookie)).text).toContain("$5.00");
});

test("lists the reseller's own child users with their balances, and nobody else's", async () => {
  const cookie = portal.session(portal.member("alice", "viewer@alice.example", "viewer"));
  const { text } = await portal.get("/users", cookie);
  expect(text).toContain("alice.child");
  expect(text).toContain("$5.00");
  expect(text).not.toContain("bob.child");
});
