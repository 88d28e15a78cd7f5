// `admin service reprice`: changes the prices of many services by a percentage, after showing the new prices.

import type { Command } from "commander";
import type { Reader } from "../../db/port/port.ts";
import { listServicesAfter } from "../../db/catalogue/service-lists.ts";
import { findService, type Service } from "../../db/catalogue/services.ts";
import { planPrices, type PriceChange } from "../../domain/catalogue/services.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { formatMicros, jsonAmount } from "../../domain/ledger/money.ts";
import { asFailure, type CommonOptions, declare, withDatabase } from "../kernel/command.ts";
import { addConfirmation, confirm, CONFIRM_ROWS, type ConfirmOptions } from "../kernel/confirm.ts";
import { databaseOf } from "../kernel/database-name.ts";
import { dollars, print, printError } from "../output/output.ts";
import { confirmBelowCost } from "./below-cost.ts";
import { addFilters, type FilterOptions, serviceFilter } from "./service-lists.ts";
import { table } from "../output/text-table.ts";
import { percent, serviceId } from "../kernel/values.ts";

interface RepriceOptions extends CommonOptions, FilterOptions, ConfirmOptions {
  percent: bigint;
  dryRun?: true;
}

export function declareReprice(group: Command): void {
  const command = addFilters(
    declare(
      group,
      "reprice",
      "change the prices of many services by a percentage",
      "reseller admin service reprice --provider acme --percent 5 --dry-run",
    ),
  );
  addConfirmation(command)
    .argument("[ids...]", "these services (default: all that match the filters)", ids)
    .requiredOption(
      "--percent <percent>",
      "percentage by which prices change, such as 10 or -2.5; new prices are rounded up to a micro",
      percent,
    )
    .option("--dry-run", "only show what would change")
    .action(async (named: string[], options: RepriceOptions) => {
      const services = await withDatabase(options, ({ store }) =>
        store.read((reader) => selected(reader, named, options)),
      );
      const prices = makePlan(services, options);
      if (!options.dryRun && prices.length > 0) {
        if (prices.length > CONFIRM_ROWS) {
          await confirm(options, `change ${prices.length} prices`, `more than ${CONFIRM_ROWS}`);
        }
        const after = new Map(prices.map((price) => [price.id, price.after]));
        const changed = services.filter(({ id }) => (after.get(id) ?? 0) > 0);
        await confirmBelowCost(options, () =>
          changed.map((before) => {
            const priceMicros = after.get(before.id)!;
            const what = `set the price of ${before.id} to ${formatMicros(priceMicros)} USD`;
            return { what, before, after: { ...before, priceMicros } };
          }),
        );
        // The command refuses if a price changed since it was read.
        await withDatabase(options, ({ execute }) => execute("changePrices", { prices }));
      }
      const names = new Map(services.map(({ id, name }) => [id, name]));
      print(options.json, prices.map(changeJson), () => priceTable(prices, names));
      if (options.dryRun && !options.json) printError("dry run, nothing was changed");
    });
}

/** Plans the new prices. Throws a refusal as CommandFailure. */
function makePlan(services: readonly Service[], options: RepriceOptions): PriceChange[] {
  try {
    return planPrices(services, options.percent);
  } catch (error) {
    throw asFailure(error, databaseOf(options));
  }
}

function ids(text: string, before: readonly string[] = []): string[] {
  return [...before, serviceId(text)];
}

/** Returns the services to reprice. Refuses: service_not_found, provider_not_found. */
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
