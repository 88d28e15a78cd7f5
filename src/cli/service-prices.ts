// `admin service reprice`: the prices of many services by a percentage, shown before they are changed.

import type { Command } from "commander";
import type { Reader } from "../db/port.ts";
import { listServicesAfter } from "../db/service-lists.ts";
import { findService, type Service } from "../db/services.ts";
import { planPrices, type PriceChange } from "../domain/services.ts";
import { refusal } from "../domain/refusals.ts";
import { jsonAmount } from "../domain/money.ts";
import { type CommonOptions, declare, withDatabase } from "./command.ts";
import { dollars, print, printError } from "./output.ts";
import { addFilters, type FilterOptions, serviceFilter } from "./service-lists.ts";
import { table } from "./text-table.ts";
import { percent, serviceId } from "./values.ts";

interface RepriceOptions extends CommonOptions, FilterOptions {
  percent: bigint;
  dryRun?: true;
}

export function declareReprice(group: Command): void {
  addFilters(
    declare(
      group,
      "reprice",
      "change the prices of many services by a percentage",
      "reseller admin service reprice --provider acme --percent 5 --dry-run",
    ),
  )
    .argument("[ids...]", "these services (default: all that the filters leave)", ids)
    .requiredOption("--percent <percent>", "such as 10 or -2.5, rounded up to a micro", percent)
    .option("--dry-run", "only show what it would do")
    .action(async (named: string[], options: RepriceOptions) => {
      const { prices, services } = await withDatabase(options, async ({ store, execute }) => {
        const services = await store.read((reader) => selected(reader, named, options));
        const prices = planPrices(services, options.percent);
        if (!options.dryRun && prices.length > 0) await execute("changePrices", { prices });
        return { prices, services };
      });
      const names = new Map(services.map(({ id, name }) => [id, name]));
      print(options.json, prices.map(changeJson), () => priceTable(prices, names));
      if (options.dryRun && !options.json) printError("dry run, nothing was changed");
    });
}

function ids(text: string, before: readonly string[] = []): string[] {
  return [...before, serviceId(text)];
}

/** Refuses: service_not_found, provider_not_found. */
function selected(reader: Reader, named: readonly string[], options: RepriceOptions): Service[] {
  if (named.length === 0) {
    const filter = serviceFilter(reader, options);
    return listServicesAfter(reader, filter, null, Number.MAX_SAFE_INTEGER - 1).rows;
  }
  return reader.each([...new Set(named)], (id) => {
    const service = findService(reader, id);
    if (!service) throw refusal("service_not_found");
    return service;
  });
}

function changeJson({ id, before, after }: PriceChange) {
  return { id, before: jsonAmount(before), after: jsonAmount(after) };
}

function priceTable(prices: readonly PriceChange[], names: ReadonlyMap<string, string>): string {
  const rows = prices.map(({ id, before, after }) => ({
    id,
    name: names.get(id)!,
    "before usd": dollars(before),
    "after usd": dollars(after),
  }));
  return table(rows, "no price would change");
}
