// A provider's currency on the command line: in its terms, in a sync, in a report.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Shop, openShop } from "../../support/worlds/shop.ts";
import { seedProvider, orderOf } from "../../support/seeds/shop-orders.ts";
import { startUpstream, type Upstream } from "../../support/peers/upstream.ts";

let upstream: Upstream;
let shop: Shop;
beforeAll(async () => {
  upstream = await startUpstream();
  shop = seedProvider(openShop(), upstream);
});
afterAll(async () => {
  shop.close();
  await upstream.stop();
});

const provider = (...argv: string[]) => shop.cli("admin", "provider", ...argv);
const LISTED = { service: 1, name: "Likes", type: "Default", rate: "84.00", min: 1, max: 1000 };

test("a sync converts rates to USD, shows the exchange rate, and keeps the provider's own rates", async () => {
  const { json: updated } = await provider("update", "acme", "--rate-to-usd", "0.0120", "--json");
  expect(updated).toMatchObject({ rateToUsd: "0.012", currency: null });
  upstream.services = [LISTED];
  const dryRun = await provider("sync", "acme", "--markup", "10%", "--dry-run");
  expect(dryRun.stderr).toContain("taken at 0.012 USD for 1 unit of its currency");
  expect(dryRun.stdout).toContain("Likes (provider's 1): 1.1088 USD, 1 to 1000");
  await provider("sync", "acme", "--markup", "10%");
  const rates = () =>
    shop.query("SELECT provider_service AS service, rate FROM provider_rates ORDER BY after_order");
  expect(rates()).toEqual([{ service: "1", rate: "84" }]);
  // Above the price: 1.2 USD.
  upstream.services = [{ ...LISTED, rate: 100 }];
  const [{ id }] = (await shop.cli("admin", "service", "list", "--json", "--search", "Likes")).json;
  await shop.cli("admin", "service", "update", id, "--price", "1.1");
  const shown = await provider("sync", "acme", "--dry-run");
  expect(shown.stdout + shown.stderr).toContain(
    "is sold at 1.1; the provider charges 1.2 for 1000",
  );
  expect((await provider("sync", "acme", "--json")).json).toMatchObject({ belowCost: 1 });
  expect(rates()).toEqual([{ service: "1", rate: "100" }]);
  await provider("update", "acme", "--rate-to-usd", "1");
});

describe("a charge in another currency", () => {
  const note = () => shop.cli("report", "--by", "provider", "--from", "2020-01-01");

  test("is shown but not added until its exchange rate is set", async () => {
    const orderId = Number(orderOf(shop, "placed", "901"));
    const [row] = shop.query<{ id: number }>(
      "SELECT provider_id AS id FROM providers WHERE name = 'acme'",
    );
    const cost = { charge: "125.5", currency: "INR" };
    const report = { word: "In progress", startCount: null, remains: null, text: "{}", cost };
    const polled = { providerId: Number(row!.id), pollIntervalMs: 60_000, jitter: 0 };
    shop.run("recordReports", { ...polled, reports: [{ orderId, report }] });
    const told = await note();
    expect(told.stderr).toContain("the cost of 1 order is not counted");
    expect(told.stdout).toMatch(/^acme +1 +2\.00 +0\.00 +0\.00 +2\.00$/m);
    expect((await provider("list")).stdout).toContain("it charged in INR");
    await provider("update", "acme", "--rate-to-usd", "0.012");
    const counted = await note();
    expect(counted.stderr).toBe("");
    expect(counted.stdout).toMatch(/^acme +1 +2\.00 +0\.00 +1\.51 +0\.49$/m);
    expect((await provider("list")).stdout).not.toContain("INR");
    const { json } = await shop.cli("admin", "order", "show", String(orderId), "--json");
    const costs = { cost: 1.506, providerCharge: "125.5", providerCurrency: "INR" };
    expect(json).toMatchObject(costs);
    // For its invoice: the list has them too.
    const list = ["admin", "order", "list", "--provider", "acme"];
    expect((await shop.cli(...list, "--json")).json).toContainEqual(
      expect.objectContaining({ orderId, ...costs }),
    );
    const shown = await shop.cli(...list, "--columns", "order,cost-usd,provider-charge");
    expect(shown.stdout).toMatch(new RegExp(`^ *${orderId} +1\\.506 +125\\.5 INR$`, "m"));
  });

  test("the table of a report fits 80 columns; --json and --csv have all digits", async () => {
    const { stdout } = await note();
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    const csv = await shop.cli("report", "--by", "provider", "--from", "2020-01-01", "--csv");
    expect(csv.stdout).toContain("acme,1,2,0,2,1.506,0.494");
  });
});

test("an invalid rate or currency is wrong usage", async () => {
  for (const wrong of [
    ["--rate-to-usd", "0"],
    ["--rate-to-usd", "-1"],
    ["--rate-to-usd", "one"],
    ["--currency", "€"],
  ]) {
    expect((await provider("update", "acme", ...wrong)).code).toBe(2);
  }
});
