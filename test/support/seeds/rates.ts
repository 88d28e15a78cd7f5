// Rates of a provider, as a sync brings them.

import { planCatalogue, requireProvider } from "../../../src/operations/providers/providers.ts";
import type { TestDatabase } from "../databases/test-database.ts";

/**
 * Creates the provider and syncs its list with a markup of 0 %: rates by the service's id there. Services that are
 * linked to it already only get their rates; others are added.
 */
export function seedRates(
  database: TestDatabase,
  name: string,
  rates: Readonly<Record<string, string>>,
): void {
  const known = database.query(`SELECT 1 FROM providers WHERE name = '${name}'`);
  if (known.length === 0) {
    const address = { protocol: "smm-api", url: "http://127.0.0.1:1/", key: "k" };
    database.run("createProvider", { name, ...address });
  }
  const upstream = Object.entries(rates).map(([service, rate]) => {
    const flags = { dripfeed: false, cancel: false, refill: false };
    const terms = { category: "Synced", type: "Default", min: 1, max: 10_000, ...flags };
    return { service, name: `Synced ${service}`, rate, ...terms };
  });
  const plan = database.read((reader) =>
    planCatalogue(reader, requireProvider(reader, name), upstream, { markup: "0" }),
  );
  database.run("syncCatalogue", { name, upstream, markup: "0", plan });
}
