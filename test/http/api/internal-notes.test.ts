// What operators and the service itself note is never told to a reseller: neither by GET /transactions nor as CSV, in an
// event, or by /api/v2.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openService, type TestService } from "../../support/worlds/service.ts";
import { OPERATOR } from "../../support/databases/test-database.ts";

const INTERNAL = "zqxinternal";
const TOLD = "zqxtold";
/** What the service itself writes to a settlement. */
const OURS = "settled: it was not placed";

let shop: TestService;
let key: string;

beforeAll(async () => {
  shop = await openService();
  shop.user("alice", "1000");
  key = shop.key("alice", "full").text;
  shop.run("createProvider", {
    name: "acme",
    protocol: "smm-api",
    url: "http://127.0.0.1:9/api/v2",
    key: "provider-key-0123456789",
  });
  shop.service({ id: "manual", price: "1", min: 1 });
  shop.service({ id: "likes", price: "1", min: 1, provider: { name: "acme", service: "7" } });
  const url = "https://hooks.example/";
  const events = "*,order.progress";
  shop.run("createWebhook", {
    username: "alice",
    url,
    events,
    balanceLowBelow: 999_000_000,
    secret: "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
  } as never);
  const notes = { note: INTERNAL, publicNote: TOLD, actor: OPERATOR };
  shop.run("creditUser", { username: "alice", amountMicros: 5, reference: INTERNAL, ...notes });
  shop.run("debitUser", { username: "alice", amountMicros: 5, ...notes });
  for (const [to, remains] of [
    ["CANCELLED", 0],
    ["FAILED", 0],
    ["PARTIAL", 50],
  ] as const) {
    const id = String(place("manual"));
    shop.run("transitionOrder", { id, to, remains, ...notes });
  }
  const done = String(place("manual"));
  shop.run("transitionOrder", { id: done, to: "COMPLETED", note: INTERNAL, actor: OPERATOR });
  shop.run("transitionOrder", { id: done, to: "REFUNDED", ...notes });
  const orderId = place("likes");
  shop.attempt(orderId, { outcome: "unknown", cause: INTERNAL });
  shop.run("settleOrder", { id: String(orderId), providerOrder: null, actor: OPERATOR });
});
afterAll(() => shop.stop());

function place(service: string): number {
  const { account } = shop.query("SELECT account FROM users WHERE username = 'alice'")[0]! as {
    account: number;
  };
  const [{ id }] = shop.query("SELECT id FROM keys") as [{ id: string }];
  const order = { resellerAccount: Number(account), keyId: id, service, link: "x", quantity: 100 };
  return shop.run("placeOrder", order).orderId;
}

const SOURCES: [what: string, read: () => Promise<string>][] = [
  ["GET /transactions", async () => (await shop.call("GET", "/transactions?limit=100", key)).text],
  [
    "its CSV",
    async () => {
      const headers = { "x-api-key": key, accept: "text/csv" };
      return (await fetch(`${shop.url}/api/v1/transactions`, { headers })).text();
    },
  ],
  ["GET /orders", async () => (await shop.call("GET", "/orders?limit=100", key)).text],
  [
    "/api/v2 status",
    async () => {
      const body = new URLSearchParams({ key, action: "status", orders: "1,2,3,4,5" });
      return (await fetch(`${shop.url}/api/v2`, { method: "POST", body })).text();
    },
  ],
  ["events", () => Promise.resolve(JSON.stringify(shop.query("SELECT body FROM webhook_events")))],
];

describe.each(SOURCES)("%s", (_, read) => {
  test("contains no internal note of an operator or of the service", async () => {
    const text = await read();
    expect(text.length).toBeGreaterThan(100);
    expect(text).not.toContain(INTERNAL);
    expect(text).not.toContain(OURS);
  });
});

test("public notes appear beside the money they explain: in GET /transactions and its CSV", async () => {
  const { body } = await shop.call("GET", "/transactions?limit=100", key);
  const told = (body.transactions as { kind: string; note: string | null }[])
    .filter(({ note }) => note === TOLD)
    .map(({ kind }) => kind);
  expect(told.toSorted()).toEqual([
    "adjustment",
    "adjustment",
    "partial_refund",
    "refund",
    "refund",
    "refund",
  ]);
  expect((await SOURCES[1]![1]()).match(new RegExp(TOLD, "g"))).toHaveLength(6);
});

test("the operator sees every note", () => {
  const notes = shop.query("SELECT DISTINCT note FROM transfers WHERE note IS NOT NULL");
  expect(notes.map(({ note }) => String(note)).toSorted()).toEqual([OURS, INTERNAL].toSorted());
});
