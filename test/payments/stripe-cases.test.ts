// Every case of Stripe's documentation against the server over HTTP: the state of the payment, the balance, the ledger,
// the alert, and the answers to events.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { LIVE_KEY } from "../support/peers/stripe/server.ts";
import { refusalCode } from "../support/http/refusal.ts";
import { COMPLETED, disputed, expired, paid, refunded } from "./stripe-cases/case.ts";
import { CASES } from "./stripe-cases/cases.ts";
import { type Market, openMarket } from "./stripe-cases/world.ts";

let market: Market;
beforeAll(async () => void (market = await openMarket()));
afterAll(() => market.stop());

test("there are more than 60 cases, each with a name of its own and a page of the documentation", () => {
  expect(CASES.length).toBeGreaterThan(60);
  expect(new Set(CASES.map(({ name }) => name)).size).toBe(CASES.length);
  expect(CASES.filter(({ page }) => !/^[a-z][\w/#.-]+$/.test(page))).toEqual([]);
});

test.each([...CASES])("$name ($page)", async ({ run, expected }) => {
  const world = await market.world();
  await run(world);
  market.local.mend();
  expect(await world.outcome()).toMatchObject(expected);
});

// https://docs.stripe.com/currencies: what is asked for, Stripe's minor units, and what is credited at the rate.
const CURRENCIES: [currency: string, rate: string, amount: number, minor: number, usd: number][] = [
  ["EUR", "1.1", 25, 2500, 27.5],
  ["GBP", "1.25", 20, 2000, 25],
  ["JPY", "0.0065", 3000, 3000, 19.5],
  ["KRW", "0.0007", 50_000, 50_000, 35],
  ["ISK", "0.0072", 5000, 500_000, 36],
  ["HUF", "0.0027", 10_000, 1_000_000, 27],
];

test.each(CURRENCIES)("%s at %s: %d is %d minor units, and %d USD", async (...row) => {
  const [currency, rate, amount, minor, usd] = row;
  const methodId = currency.toLowerCase();
  market.method(methodId, currency, rate);
  const world = await market.world(methodId, amount);
  expect([world.session.currency, world.session.amount_total]).toEqual([methodId, minor]);
  market.local.account.payByCard(world.reference);
  const path = `/payments/stripe/${methodId}`;
  await world.deliver("checkout.session.completed", { path });
  const credited = { state: "paid", balance: usd, transfers: { payment: usd } };
  expect(await world.outcome()).toMatchObject(credited);
  market.local.account.refund(world.reference);
  await world.deliver("charge.refunded", { path });
  const reversed = { state: "refunded", balance: usd, refunded: amount };
  expect(await world.outcome()).toMatchObject(reversed);
});

test("a method that is off takes no new payment, and its payments are followed to their end", async () => {
  market.method("off-card", "USD", "1");
  const path = "/payments/stripe/off-card";
  const [told, found, left] = [
    await market.world("off-card"),
    await market.world("off-card"),
    await market.world("off-card"),
  ];
  market.service.run("updatePaymentMethod", {
    methodId: "off-card",
    known: [],
    changes: { active: false },
  });
  const { cookie } = market.customer();
  const refused = await market.addFunds(cookie, "off-card", 25);
  expect(refused.status).not.toBe(303);
  const { account } = market.local;
  account.payByCard(told.reference);
  await told.deliver(COMPLETED, { path });
  expect(await told.outcome()).toMatchObject({ ...paid, statuses: [200] });
  account.payByCard(found.reference);
  await found.read();
  expect(await found.outcome()).toMatchObject(paid);
  account.expire(left.reference);
  await left.read();
  expect(await left.outcome()).toMatchObject(expired);
  account.refund(told.reference);
  await told.deliver("charge.refunded", { path });
  expect(await told.outcome()).toMatchObject(refunded(25));
  account.dispute(found.reference);
  await found.read();
  expect(await found.outcome()).toMatchObject(disputed(25));
});

test("a method is not removed while its payments are read, unless the operator does without: then notices are unknown", async () => {
  market.method("old-card", "USD", "1");
  const world = await market.world("old-card");
  const remove = (unread: boolean) => () =>
    market.service.run("removePaymentMethod", { methodId: "old-card", unread });
  expect(refusalCode(remove(true))).toBe("payment_method_in_use");
  market.local.account.payByCard(world.reference);
  const path = "/payments/stripe/old-card";
  await world.deliver(COMPLETED, { path });
  expect(refusalCode(remove(false))).toBe("payment_method_followed");
  remove(true)();
  market.local.account.refund(world.reference);
  await world.deliver("charge.refunded", { path });
  await world.read();
  expect(await world.outcome()).toMatchObject({ ...paid, statuses: [200, 404] });
  const [row] = market.service.query<{ next: number | null }>(
    "SELECT next_read_at AS next FROM payments WHERE id = ?",
    world.id,
  );
  expect(row!.next).toBeNull();
});

// https://docs.stripe.com/keys
test("a key that Stripe refuses fails the payment; the member reads neither the cause nor the key", async () => {
  market.method("wrong", "USD", "1", LIVE_KEY);
  const { cookie } = market.customer();
  const answer = await market.addFunds(cookie, "wrong", 25);
  expect(answer.status).toBe(303);
  const { url } = market.service;
  const page = await fetch(url + answer.headers.get("location")!, { headers: { cookie } });
  const text = await page.text();
  expect(text).toContain("Failed");
  expect(text).not.toContain("API Key");
  // Nothing will be credited.
  expect(text).not.toContain("redited");
  expect(text).not.toContain(LIVE_KEY.slice(0, 12));
  const [row] = market.service.query<Record<string, unknown>>(
    "SELECT state, cause, method_reference FROM payments WHERE method_id = 'wrong'",
  );
  expect(row).toMatchObject({ state: "failed", method_reference: null });
  expect(row!["cause"]).toContain("StripeAuthenticationError");
  expect(row!["cause"]).not.toContain(LIVE_KEY);
});
