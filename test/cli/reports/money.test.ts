// `report --money` in its three forms.

import { beforeAll, expect, test } from "bun:test";
import { orderOf, seedProvider } from "../../support/seeds/shop-orders.ts";
import { openShop, type Shop } from "../../support/worlds/shop.ts";

let shop: Shop;

beforeAll(async () => {
  shop = openShop();
  shop.order(100);
  shop.order(1000);
  await shop.cli("admin", "order", "cancel", "1");
  await shop.cli("admin", "user", "debit", "kid", "0.000001");
});

test("opening, credits, charges, refunds and debits add up to closing, which is the sum of balances", async () => {
  const { json } = await shop.cli("report", "--money", "--json");
  expect(json).toMatchObject({ opening: 0, unknown: 0, unknownOrders: 0, until: null });
  expect(json.closing).toBe(json.credits - json.charges + json.refunds - json.debits);
  expect(json).toMatchObject({ credits: 105, debits: 0.000001, charges: 2.552, refunds: 0.232 });
  expect(json.net).toBe(json.revenue - json.refunds);
  const [{ owed }] = shop.query<{ owed: number }>(
    "SELECT sum(balance_micros) AS owed FROM users",
  ) as [{ owed: number }];
  expect(json.closing).toBe(Number(owed) / 1e6);
  const { json: report } = await shop.cli("report", "--json");
  expect(report[0]).toMatchObject({ revenue: json.revenue, refunds: json.refunds });
});

test("CSV and table have the same lines, and the amounts of the CSV add up with their signs", async () => {
  const { stdout } = await shop.cli("report", "--money", "--csv");
  const [header, ...lines] = stdout
    .trim()
    .split("\n")
    .map((line) => line.split(","));
  expect(header).toEqual(["line", "kind", "source", "count", "amount"]);
  const micros = (amount: string) => Math.round(Number(amount) * 1e6);
  const at = lines.findIndex(([line]) => line === "closing");
  const moved = lines.slice(0, at).reduce((sum, cells) => sum + micros(cells[4]!), 0);
  expect(moved).toBe(micros(lines[at]![4]!));
  const table = (await shop.cli("report", "--money")).stdout.trim().split("\n");
  expect(table).toHaveLength(lines.length + 1);
  expect(Math.max(...table.map(({ length }) => length))).toBeLessThanOrEqual(80);
});

test("the charge of an unknown order is no revenue until it is settled, and has a line of its own", async () => {
  const market = openShop();
  seedProvider(market, { url: "http://127.0.0.1:9" });
  const [found, lost] = [orderOf(market, "unknown"), orderOf(market, "unknown")];
  const money = async () => {
    const { json } = await market.cli("report", "--money", "--json");
    const { charges, unknownOrders, unknown, revenue, refunds, net } = json;
    return [charges, unknownOrders, unknown, revenue, refunds, net];
  };
  expect(await money()).toEqual([4, 2, 4, 0, 0, 0]);
  await market.cli("admin", "order", "settle", found, "--placed", "9", "--no-check");
  expect(await money()).toEqual([4, 1, 2, 2, 0, 2]);
  await market.cli("admin", "order", "settle", lost, "--not-placed");
  expect(await money()).toEqual([4, 0, 0, 4, 2, 2]);
});

test("with --by it is wrong usage", async () => {
  const { code, stdout } = await shop.cli("report", "--money", "--by", "day");
  expect([code, stdout]).toEqual([2, ""]);
});
