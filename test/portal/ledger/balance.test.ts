// The balance in the portal: transactions as a list and as CSV, and a statement of each month that adds up.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { findUser } from "../../../src/db/users/users.ts";
import { openPortal, type TestPortal } from "../../support/worlds/portal.ts";

let portal: TestPortal;
let viewer = "";
let month = "";

beforeAll(async () => {
  const legal = { name: "Nova Ltd", address: "1 Main Street\nDublin" };
  portal = await openPortal({ settings: { legal } });
  portal.user("alice", "100");
  portal.user("bob", "7");
  viewer = portal.session(portal.member("alice", "viewer@alice.example", "viewer"));
  portal.service({ id: "followers", price: "2.32" });
  const { id: keyId } = portal.key("alice", "order");
  const { account: resellerAccount } = portal.read((reader) => findUser(reader, "alice")!);
  const order = () =>
    portal.run("placeOrder", {
      resellerAccount,
      keyId,
      service: "followers",
      link: "https://example.com/a",
      quantity: 1000,
      reference: null,
    });
  order();
  const { orderId } = order();
  const operator = { keyId: null, operator: "cli:test" };
  portal.run("transitionOrder", {
    id: String(orderId),
    to: "CANCELLED",
    note: null,
    actor: operator,
  });
  portal.run("debitUser", {
    username: "alice",
    amountMicros: 1_500_000,
    note: "fee",
    publicNote: "card fee",
    reference: null,
  });
  month = new Date(portal.clock.now).toISOString().slice(0, 7);
});
afterAll(() => portal.stop());

/** The cells of the last column, from top to bottom. */
const amountsOf = (html: string) =>
  [...html.matchAll(/<td class="number[^"]*"[^>]*>([^<]*)<\/td><\/tr>/g)].map(([, cell]) => cell);

test("a statement lists credits and debits, sums up orders, and ends with the balance", async () => {
  const { status, text } = await portal.get(`/balance/${month}`, viewer);
  expect(status).toBe(200);
  expect(amountsOf(text)).toEqual(["$0.00", "$100.00", "-$1.50", "-$2.32", "$96.18"]);
  expect(portal.balance("alice")).toBe(96_180_000);
  expect(text).toContain("Nova Ltd");
  expect(text).toContain("card fee");
});

test("a statement lists every credit of a month with more than a page of them", async () => {
  portal.user("carol", "1");
  const cookie = portal.session(portal.member("carol", "owner@carol.example"));
  const credit = { username: "carol", amountMicros: 1_000_000, note: null, publicNote: null };
  for (let made = 0; made < 450; made++) portal.run("creditUser", { ...credit, reference: null });
  const { status, text } = await portal.get(`/balance/${month}`, cookie);
  const amounts = amountsOf(text);
  expect([status, amounts.length]).toEqual([200, 454]);
  expect(amounts.slice(-2)).toEqual(["$0.00", "$451.00"]);
});

test("internal notes are on no page and in no file", async () => {
  for (const path of ["/balance", "/balance.csv", `/balance/${month}`]) {
    expect((await portal.get(path, viewer)).text).not.toContain('"fee"');
    expect((await portal.get(path, viewer)).text).not.toMatch(/>fee</);
  }
});

test.each(["1999-12", "2026-13", "2026-1", "9999-12", "x", "..%2f"])(
  "a month without a statement, %s, leads to the balance",
  async (name) => {
    const { status, headers } = await portal.get(`/balance/${name}`, viewer);
    expect([status, headers.get("location")]).toEqual([303, "/balance"]);
  },
);

test("the CSV has the columns of the API and only the reseller's own transactions", async () => {
  const { text } = await portal.get("/balance.csv", viewer);
  const [header, ...lines] = text.trimEnd().split("\r\n");
  expect(header).toBe("seq,kind,amount,balanceAfter,orderId,note,createdAt");
  expect(lines.map((line) => line.split(",").slice(1, 4).join(" "))).toEqual([
    "adjustment -1.5 96.18",
    "refund 2.32 97.68",
    "order -2.32 95.36",
    "order -2.32 97.68",
    "adjustment 100 100",
  ]);
});

test("a wrong filter is said beside its field, and nothing is listed", async () => {
  const { status, text } = await portal.get("/balance?from=2026-02-30", viewer);
  expect(status).toBe(200);
  expect(text).toContain('id="filter-from-error"');
  expect(text).not.toContain("card fee");
});
