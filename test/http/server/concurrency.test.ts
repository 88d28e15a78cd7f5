// Concurrent calls on one balance.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { audit } from "../../support/databases/audit.ts";
import { type Market, seedMarket } from "../../support/seeds/market.ts";
import { OPERATOR } from "../../support/databases/test-database.ts";
import { openService } from "../../support/worlds/service.ts";

let market: Market;
beforeAll(async () => {
  market = seedMarket(await openService());
});
afterAll(() => market.stop());

test("200 orders at once against a balance for 120: exactly 120 succeed and nothing is left", async () => {
  market.user("eve", "27.84");
  const { text } = market.key("eve", "order");
  const body = { service: market.serviceId, link: "x", quantity: 100 };
  const calls = Array.from({ length: 200 }, () => market.call("POST", "/orders", text, body));
  const answers = await Promise.all(calls);

  const accepted = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status === 400);
  expect([accepted.length, refused.length]).toEqual([120, 80]);
  expect(new Set(refused.map((answer) => answer.body.message))).toEqual(
    new Set(["Insufficient balance"]),
  );
  expect(new Set(accepted.map((answer) => answer.body.order.orderId)).size).toBe(120);
  expect((await market.call("GET", "/balance", text)).body.balance).toBe(0);
  expect(market.balance("eve")).toBe(0);
  const kept = market.query(
    "SELECT count(*) AS count FROM orders JOIN users ON account = reseller_account WHERE username = 'eve'",
  );
  expect(kept).toEqual([{ count: 120 }]);
  expect(audit(market)).toEqual({});
});

test("recharges, orders and the command line's writes at once lose nothing", async () => {
  market.user("finn", "10");
  const { text } = market.key("finn", "full");
  const body = { service: market.serviceId, link: "x", quantity: 1000 };
  const credit = { username: "finn", amountMicros: 70_000, note: null, actor: OPERATOR };
  const calls = Array.from({ length: 60 }, (_, index) => {
    if (index % 3 === 0) return market.call("POST", "/orders", text, body);
    if (index % 3 === 1) market.run("creditUser", credit);
    return market.call("POST", "/recharge", text, { username: "finn", amount: 0.000003 });
  });
  const accepted = (await Promise.all(calls)).filter((answer) => answer.body.order).length;
  expect(market.balance("finn")).toBe(10_000_000 - accepted * 2_320_000 + 20 * 70_000 + 40 * 3);
  expect(accepted).toBe(4);
  expect(audit(market)).toEqual({});
});
