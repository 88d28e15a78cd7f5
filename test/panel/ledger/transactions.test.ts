// The page of all transactions and its CSV.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { askPayment, seedMember, seedMethod } from "../../support/seeds/payments.ts";
import { openPanel, type TestPanel } from "../../support/worlds/panel.ts";

let panel: TestPanel;

beforeAll(async () => {
  panel = await openPanel({ role: "support" });
  panel.user("alice", "100");
  panel.user("@bob", "5");
  panel.service({ id: "likes", price: "1", per: "1" });
  const { id: keyId } = panel.key("alice", "order");
  panel.run("placeOrder", { resellerAccount: 3, keyId, service: "likes", link: "x", quantity: 10 });
});
afterAll(() => panel.stop());

const users = (html: string) =>
  [...html.matchAll(/data-label="User"><a[^>]*>(.*?)<\/a>/g)].map(([, user]) => user);

test("it lists the transactions of all users, each with a link to its user", async () => {
  const { text } = await panel.get("/transactions");
  expect(users(text)).toEqual(["alice", "@bob", "alice"]);
  expect(text).toContain('href="/users/%40bob"');
  expect(text).toContain('href="/orders/1"');
});

test("filters by user, kind, order and time, in the list and in its CSV", async () => {
  const at = async (query: string) => {
    const { text } = await panel.get(`/transactions?${query}`);
    const csv = (await panel.get(`/transactions.csv?${query}`)).text;
    expect(csv.trim().split("\r\n").length - 1).toBe(
      [...text.matchAll(/data-label="Kind"/g)].length,
    );
    return [...text.matchAll(/data-label="Kind">(\w+)/g)].map(([, kind]) => kind);
  };
  expect(await at("user=alice")).toEqual(["order", "adjustment"]);
  expect(await at("kind=order")).toEqual(["order"]);
  expect(await at("order=1")).toEqual(["order"]);
  expect(await at("from=2000-01-01")).toHaveLength(3);
  expect(await at("to=2000-01-01")).toEqual([]);
});

test("the CSV has the user, the author and no formula", async () => {
  const { text, headers } = await panel.get("/transactions.csv");
  expect(headers.get("content-disposition")).toContain("transactions.csv");
  const [header, ...rows] = text.trim().split("\r\n");
  expect(header).toBe(
    "seq,username,kind,amount,balanceAfter,orderId,by,reference,note,publicNote,createdAt",
  );
  expect(rows[0]).toMatch(/^\d+,alice,order,-10,90,1,key \w{24},,,,/);
  expect(rows[1]).toMatch(/^\d+,'@bob,adjustment,5,5,,tester,/);
});

test.each([
  "user=nobody",
  "user=%20x%20y",
  "kind=x",
  "order=x",
  "from=x",
  "from=2026-02-01&to=2026-01-01",
])("%s is named as wrong, on the page and instead of the CSV", async (query) => {
  for (const path of ["/transactions", "/transactions.csv"]) {
    const { status, headers, text } = await panel.get(`${path}?${query}`);
    expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(text).toMatch(/ must be |not found/);
  }
});

test("a payment and its reversal lead to the payment, and what has neither an order nor a payment to nothing", async () => {
  seedMethod(panel, "bank", "manual");
  const actor = seedMember(panel, "carol");
  const id = askPayment(panel, { methodId: "bank", actor, now: panel.clock.now });
  panel.run("approvePayment", { id, receivedMicros: null, creditMicros: null });
  panel.run("settleReversal", { id, amountMicros: 1, publicNote: null });
  const trap = { username: "carol", amountMicros: 1, publicNote: null, reference: null };
  panel.run("creditUser", { ...trap, note: `payment ${id}` });
  const { text } = await panel.get("/transactions?user=carol");
  const causes = [...text.matchAll(/data-label="Order, payment">(.*?)<\/td>/g)].map(
    ([, cell]) => cell,
  );
  const link = `<a href="/payments/${id}">payment</a>`;
  expect(causes).toEqual(['<span class="none">–</span>', link, link]);
  expect((await panel.get(`/payments/${id}`)).status).toBe(200);
});
