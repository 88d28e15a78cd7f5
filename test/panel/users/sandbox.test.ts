// The test side in the panel: its keys are made there, its orders are found by number, and no figure of the panel has any
// of it.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readAttention } from "../../../src/db/reports/attention.ts";
import { readRowFacts } from "../../../src/db/port/row-facts.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import { seedPanelMarket, type PanelMarket } from "../../support/seeds/panel-market.ts";
import { openPanel } from "../../support/worlds/panel.ts";

let market: PanelMarket;

beforeAll(async () => {
  market = seedPanelMarket(await openPanel());
});
afterAll(() => market.stop());

const makeKey = async (user: string, side: string) => {
  const terms = {
    type: side === "test" ? "full" : "order",
    reach: "all",
    label: "",
    days: "",
    allow: "",
    ...(side === "test" && { test: "yes" }),
  };
  const { text } = await market.post(`/users/${user}/keys`, terms);
  return /rk_[A-Za-z0-9_]{20,}/.exec(text)![0];
};

const testKeys = () =>
  market.query(
    "SELECT id, reseller_account AS account, active FROM keys WHERE test_of IS NOT NULL ORDER BY created_at, id",
  );

function testOrder(): number {
  const [{ id, account }] = testKeys() as [{ id: string; account: number }];
  const order = {
    resellerAccount: account,
    keyId: id,
    service: "followers",
    link: "x",
    quantity: 100,
  };
  return market.run("placeOrder", order).orderId;
}

const figures = async () => {
  let today: string;
  // To count may take longer than a page waits for it.
  do today = (await market.get("/")).text;
  while (today.includes("being counted"));
  const tiles = [...today.matchAll(/class="card tile">([A-Za-z ]+) <strong>([^<]*)/g)].map(
    ([, , value]) => value,
  );
  const reports = [];
  for (const by of ["day", "service", "reseller", "provider"]) {
    reports.push((await market.get(`/reports.csv?by=${by}`)).text);
  }
  return { tiles, reports };
};

test("a test key is made, shown and replaced as one", async () => {
  expect(await makeKey("alice", "live")).not.toStartWith("rk_test_");
  const text = await makeKey("alice", "test");
  expect(text).toStartWith("rk_test_");
  expect((await market.get("/users/alice")).text).toContain(`${text.slice(0, 13)}…`);
  const [{ id }] = testKeys() as [{ id: string }];
  const { text: replaced } = await market.post(`/users/alice/keys/${id}/rotate`, { grace: "24" });
  expect(replaced).toMatch(/rk_test_[A-Za-z0-9]{20,}/);
  expect(replaced).not.toMatch(/rk_(?!test_)[A-Za-z0-9]{20,}/);
});

test("figures and reports are the same with and without test orders and their refunds", async () => {
  market.order({ quantity: 1000 });
  const before = await figures();
  expect(before.tiles[0]).toBe("1");
  const orders = [testOrder(), testOrder()];
  const keyId = testKeys()[0]!["id"] as string;
  market.run("transitionTestOrder", { keyId, id: String(orders[0]), to: "FAILED", remains: 0 });
  expect(await figures()).toEqual(before);
});

test('waiting test orders and test webhooks never appear under "needs attention"', async () => {
  const facts = () => market.read((reader) => readRowFacts(reader, Date.now()));
  const quiet = { unknownPlacements: 0, oldestDuePollAt: null, failedWebhooks: 0 };
  const orderId = testOrder();
  const started = market.run("startAttempt", {
    orderId,
    providerId: 0,
    server: "test",
    placeRetryMs: 1000,
  });
  if (!started.send) throw new Error("not sent");
  const { attemptId } = started;
  const finish = (result: object) =>
    market.run("finishAttempt", {
      orderId,
      attemptId,
      result,
      placeRetryMs: 1000,
      backoffMs: 0,
    } as never);
  finish({ outcome: "unknown", cause: "its link asks for that" });
  expect(facts()).toMatchObject(quiet);
  const keyId = testKeys()[0]!["id"] as string;
  market.run("transitionTestOrder", { keyId, id: String(orderId), to: "PROCESSING", remains: 0 });
  expect(facts()).toMatchObject(quiet);
  expect(market.read((reader) => readAttention(reader, Date.now()))).toMatchObject({
    failedWebhooks: [],
  });
});

test("a test account is not a user of the panel: no live money reaches it", async () => {
  const path = `/users/${encodeURIComponent("test:alice")}`;
  expect((await market.get(path)).status).toBe(404);
  const { status } = await market.confirm(`${path}/balance`, {
    direction: "credit",
    amount: "5",
    note: "",
  });
  expect(status).toBe(404);
  expect((await market.get(`/providers/${encodeURIComponent("test:sandbox")}`)).status).toBe(404);
  expect(await verifyStore(market)).toEqual([]);
});

test("a deactivated reseller's test keys are inactive as its others are, and none is activated by itself", async () => {
  market.run("setUserActive", { username: "alice", active: false });
  expect(new Set(testKeys().map(({ active }) => Number(active)))).toEqual(new Set([0]));
  const id = testKeys()[0]!["id"] as string;
  expect(() => market.run("setKeyActive", { id, active: true })).toThrow();
  market.run("setUserActive", { username: "alice", active: true });
  expect(new Set(testKeys().map(({ active }) => Number(active)))).toEqual(new Set([1]));
});

test("a new user with a renamed user's old name gets a test account of its own", async () => {
  await makeKey("bob", "test");
  market.run("updateUser", { username: "bob", changes: { username: "robert" } });
  market.user("bob", "1");
  expect(await makeKey("bob", "test")).toStartWith("rk_test_");
  expect(
    market.query("SELECT username FROM users WHERE test_of IS NOT NULL ORDER BY username"),
  ).toEqual([{ username: "test:alice" }, { username: "test:bob" }, { username: "test:robert" }]);
  expect(await verifyStore(market)).toEqual([]);
});
