// Costs where routes, syncs and corrected numbers meet them: of the provider and the number that the order has.

import { describe, expect, test } from "bun:test";
import { formatMicros } from "../../../src/domain/ledger/money.ts";
import type { UpstreamEntry } from "../../../src/domain/providers/upstream-services.ts";
import { findProvider } from "../../../src/db/providers/providers.ts";
import { planCatalogue } from "../../../src/operations/providers/providers.ts";
import { type StoreShop, seedStoreShop } from "../../support/seeds/store-shop.ts";
import { ENGINES, freshStore } from "../../support/databases/stores.ts";
import type { Engine } from "../../support/databases/engine.ts";

const SERVER = "s".repeat(24);
const actor = { keyId: null, operator: "tester" };
const RETRY = { placeRetryMs: 3_600_000, backoffMs: 0 };
const POLL = { pollIntervalMs: 1000, jitter: 0 };

async function attempt(
  shop: StoreShop,
  orderId: number,
  providerId: number,
  result: Parameters<typeof shop.run<"finishAttempt">>[1]["result"],
) {
  const started = await shop.start(orderId, SERVER, undefined, providerId);
  if (!started.send) throw new Error("not sent");
  const { attemptId } = started;
  await shop.run("finishAttempt", { orderId, attemptId, result, ...RETRY });
}

const report = (word: string, remains: number | null, charge?: string) => ({
  word,
  startCount: 0,
  remains,
  text: word,
  ...(charge === undefined ? {} : { cost: { charge, currency: null } }),
});

async function costsOf({ store }: StoreShop, orderId: number): Promise<string[]> {
  const rows = await store.query(
    `SELECT basis, cost_micros AS micros FROM order_costs WHERE order_id = ${orderId} ORDER BY number`,
  );
  return rows.map(({ basis, micros }) => `${String(basis)} ${formatMicros(Number(micros))}`);
}

const listed = (service: string, rate: string, type = "Default"): UpstreamEntry => ({
  service,
  name: `Service ${service}`,
  category: "Services",
  type,
  dripfeed: false,
  rate,
  min: 1,
  max: 10_000,
  cancel: false,
  refill: false,
});

/** A sync, also of what is not added to the catalogue. */
async function sync(shop: StoreShop, name: string, upstream: UpstreamEntry[]) {
  const options = { markup: "0", newServices: "ignore" } as const;
  const plan = await shop.store.read((reader) =>
    planCatalogue(reader, findProvider(reader, name)!, upstream, options),
  );
  await shop.run("syncCatalogue", { name, upstream, ...options, plan, actor });
}

/** A service that goes to acme (7), then to bulk (8). */
async function openRouted(engine: Engine, rateToUsd = "1") {
  const shop = await seedStoreShop(await freshStore(engine));
  const provider = { name: "bulk", protocol: "smm-api", url: "http://127.0.0.1:1/", key: "secret" };
  await shop.run("createProvider", { ...provider, rateToUsd, actor });
  const route = { id: "likes", provider: "bulk", providerService: "8", priority: null };
  await shop.run("putRoute", { ...route, actor });
  return shop;
}

describe.each(ENGINES)("on %s", (engine) => {
  test.each(["Canceled", "Refunded", "Failed"])(
    "an order that its provider reports as %s costs nothing from then on, whatever charge is still reported",
    async (word) => {
      const shop = await openRouted(engine);
      const costsAfter = async (number: string, ...said: ReturnType<typeof report>[]) => {
        const { orderId } = await shop.order();
        await attempt(shop, orderId, 1, { outcome: "accepted", providerOrder: number });
        for (const each of said) {
          await shop.run("recordReports", {
            providerId: 1,
            reports: [{ orderId, report: each }],
            ...POLL,
          });
        }
        return costsOf(shop, orderId);
      };
      const begun = report("In progress", 900, "0.5");
      expect(await costsAfter("1", begun, report(word, 900, "0.5"))).toEqual([
        "charge 0.5",
        "charge 0",
      ]);
      expect(await costsAfter("2", begun, report(word, null))).toEqual(["charge 0.5", "charge 0"]);
      expect(await costsAfter("3", report(word, 1000, "0.5"))).toEqual(["charge 0"]);
      const again = report(word, 0, "0.7");
      expect(await costsAfter("4", begun, again, again)).toEqual(["charge 0.5", "charge 0"]);
      // What was delivered in part costs what the provider charges for it, and so does what it delivers after all.
      expect(await costsAfter("5", begun, report("Partial", 400, "0.3"))).toEqual([
        "charge 0.5",
        "charge 0.3",
      ]);
      const late = report("Completed", 0, "0.5");
      expect(await costsAfter("6", begun, again, late)).toEqual([
        "charge 0.5",
        "charge 0",
        "charge 0.5",
      ]);
      await shop.store.close();
    },
  );

  test("without a charge an order costs the rate of the route that took it, in its provider's currency", async () => {
    const shop = await openRouted(engine, "0.5");
    await sync(shop, "acme", [listed("7", "0.9")]);
    // A further route is no service of its own: its rate is known nevertheless.
    await sync(shop, "bulk", [listed("8", "0.3"), listed("9", "5")]);
    const { orderId } = await shop.order();
    await attempt(shop, orderId, 1, { outcome: "refused", cause: "no", outOfFunds: false });
    await attempt(shop, orderId, 2, { outcome: "accepted", providerOrder: "4711" });
    const reports = [{ orderId, report: report("In progress", 1000) }];
    await shop.run("recordReports", { providerId: 2, reports, ...POLL });
    expect(await costsOf(shop, orderId)).toEqual(["rate 0.15"]);
    const partial = [{ orderId, report: report("Partial", 400) }];
    await shop.run("recordReports", { providerId: 2, reports: partial, ...POLL });
    expect(await costsOf(shop, orderId)).toEqual(["rate 0.15", "rate 0.09"]);
    await shop.store.close();
  });

  test("a route to a package costs the package, whatever the order's quantity", async () => {
    const shop = await openRouted(engine);
    await sync(shop, "bulk", [listed("8", "0.3", "Custom Comments Package"), listed("9", "5")]);
    const { orderId } = await shop.order();
    await attempt(shop, orderId, 1, { outcome: "refused", cause: "no", outOfFunds: false });
    await attempt(shop, orderId, 2, { outcome: "accepted", providerOrder: "4711" });
    const reports = [{ orderId, report: report("Completed", 0) }];
    await shop.run("recordReports", { providerId: 2, reports, ...POLL });
    expect(await costsOf(shop, orderId)).toEqual(["rate 0.3"]);
    await shop.store.close();
  });

  test("a provider service that is listed twice, or cannot be ordered here, has no rate", async () => {
    const shop = await openRouted(engine);
    const upstream = [
      listed("7", "1"),
      listed("8", "2"),
      listed("8", "3"),
      listed("9", "4", "Subscriptions"),
    ];
    await sync(shop, "acme", upstream);
    const rates = await shop.store.query("SELECT provider_service, rate FROM provider_rates");
    expect(rates).toEqual([{ provider_service: "7", rate: "1" }]);
    await shop.store.close();
  });

  test("a report for a corrected order number adds no cost and sets no currency", async () => {
    const shop = await seedStoreShop(await freshStore(engine));
    const { orderId } = await shop.order();
    await attempt(shop, orderId, 1, { outcome: "unknown", cause: "no reply" });
    const id = String(orderId);
    await shop.run("settleOrder", { id, providerOrder: "111", actor });
    await shop.run("settleOrder", { id, providerOrder: "222", actor });
    const late = { ...report("Completed", 0), cost: { charge: "9.9", currency: "EUR" } };
    const reports = [{ orderId, providerOrder: "111", report: late }];
    await shop.run("recordReports", { providerId: 1, reports, ...POLL });
    expect(await costsOf(shop, orderId)).toEqual([]);
    const [provider] = await shop.store.query(
      "SELECT foreign_currency FROM providers WHERE provider_id = 1",
    );
    expect(provider).toEqual({ foreign_currency: null });
    const own = [{ orderId, providerOrder: "222", report: report("In progress", 9, "0.7") }];
    await shop.run("recordReports", { providerId: 1, reports: own, ...POLL });
    expect(await costsOf(shop, orderId)).toEqual(["charge 0.7"]);
    await shop.store.close();
  });
});
