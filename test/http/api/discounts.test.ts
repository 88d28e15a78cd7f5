// A discount: every place that tells or charges a reseller's price agrees on it, at once.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { optionsOf, reseller } from "../../support/worlds/shop.ts";
import { openService, type TestService } from "../../support/worlds/service.ts";
import { micros } from "../../support/databases/test-database.ts";

let shop: TestService;
let key: string;
let other: string;

beforeEach(async () => {
  shop = await openService();
  shop.user("alice", "1000");
  shop.user("bob", "1000");
  shop.user("kid", "0", "alice");
  shop.service({ id: "followers", name: "Followers", price: "2.32", min: 1 });
  shop.service({ id: "odd", name: "Odd", price: "0.000007", min: 1 });
  shop.service({ id: "own", name: "Own", price: "5", min: 1 });
  shop.service({ id: "open", name: "Private", price: "4", min: 1, private: true });
  shop.run("grantService", { id: "own", username: "alice", priceMicros: micros("4.9") });
  shop.run("grantService", { id: "open", username: "alice", priceMicros: null });
  key = shop.key("alice", "full").text;
  other = shop.key("bob", "full").text;
});
afterEach(() => shop.stop());

const discount = (percent: string, ...more: string[]) =>
  reseller("admin", "user", "discount", "alice", percent, ...more, ...optionsOf(shop));

async function pricesOf(keyText: string): Promise<Record<string, number>> {
  const { body } = await shop.call("GET", "/services", keyText);
  const services = body.services as { id: string; price: number }[];
  return Object.fromEntries(services.map(({ id, price }) => [id, price]));
}

/** By name: panels have numbers. */
async function ratesOf(keyText: string): Promise<Record<string, number>> {
  const response = await fetch(`${shop.url}/api/v2`, {
    method: "POST",
    body: new URLSearchParams({ key: keyText, action: "services" }),
  });
  const services = (await response.json()) as { name: string; rate: string }[];
  return Object.fromEntries(services.map(({ name, rate }) => [name, Number(rate)]));
}

async function chargeOf(service: string, quantity: number): Promise<number> {
  const order = { service, link: "x", quantity };
  const { body } = await shop.call("POST", "/orders", key, order);
  return body.order.charge as number;
}

test("orders, both lists and the operator's list show a discount from the next request on", async () => {
  expect(await pricesOf(key)).toEqual({ followers: 2.32, odd: 0.000007, own: 4.9, open: 4 });
  expect((await discount("10%", "--json")).json).toMatchObject({ username: "alice", discount: 10 });
  const expected = { followers: 2.088, odd: 0.000007, own: 4.9, open: 3.6 };
  expect(await pricesOf(key)).toEqual(expected);
  expect(await ratesOf(key)).toEqual({ Followers: 2.088, Odd: 0.000007, Own: 4.9, Private: 3.6 });
  for (const [id, price] of Object.entries(expected)) {
    expect([id, await chargeOf(id, 1000)]).toEqual([id, price]);
  }
  const list = ["admin", "service", "list", "--user", "alice", "--json"];
  const { json } = await reseller(...list, ...optionsOf(shop));
  const listed = json as { id: string; price: number; standardPrice: number; own: boolean }[];
  expect(Object.fromEntries(listed.map(({ id, price }) => [id, price]))).toEqual(expected);
  expect(listed.find(({ id }) => id === "followers")).toMatchObject({
    standardPrice: 2.32,
    own: false,
  });
});

test("a discount changes the list of one reseller only, and the others still share theirs", async () => {
  const before = await pricesOf(other);
  await discount("50");
  expect(await pricesOf(key)).toMatchObject({ followers: 1.16 });
  expect(await pricesOf(other)).toEqual(before);
  await discount("0");
  expect(await pricesOf(key)).toMatchObject({ followers: 2.32, own: 4.9 });
});

test("test keys of the reseller see and pay the same", async () => {
  await discount("25");
  const { text } = shop.key("alice", "full", "all", true);
  expect(await pricesOf(text)).toEqual(await pricesOf(key));
  const order = { service: "followers", link: "x", quantity: 1000 };
  const { body } = await shop.call("POST", "/orders", text, order);
  expect(body.order.charge).toBe(1.74);
});

test("existing orders keep their price, and a refund returns what was paid", async () => {
  await discount("10");
  const order = { service: "followers", link: "x", quantity: 1000 };
  const { body } = await shop.call("POST", "/orders", key, order);
  const id = String(body.order.orderId);
  await discount("90");
  const { body: read } = await shop.call("GET", `/orders/${id}`, key);
  expect(read.order.charge).toBe(2.088);
  shop.run("transitionOrder", { id, to: "CANCELLED", note: null });
  const { body: balance } = await shop.call("GET", "/balance", key);
  expect(balance.balance).toBe(1000);
});

test("a discount of the whole price needs a confirmation, a child user has none, and the audit log has both percentages", async () => {
  const refused = await discount("100");
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("repeat with --yes");
  expect((await discount("100", "--yes")).code).toBe(0);
  expect(await chargeOf("followers", 1000)).toBe(0);
  const child = await reseller("admin", "user", "discount", "kid", "5", ...optionsOf(shop));
  expect(child).toMatchObject({ code: 1 });
  expect(child.stderr).toContain("give the discount to the parent");
  const audited = ["admin", "audit", "list", "--action", "user.discount", "--json"];
  const { json } = await reseller(...audited, ...optionsOf(shop));
  expect(json).toMatchObject([
    { subject: "alice", before: { discountPercent: 0 }, after: { discountPercent: 100 } },
  ]);
  expect((await reseller("verify", ...optionsOf(shop))).code).toBe(0);
});
