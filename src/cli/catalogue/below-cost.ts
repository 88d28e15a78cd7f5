// Asks before a service is sold below its provider's rate. docs/specification/catalogue.md#below-cost.

import { listProviders } from "../../db/providers/providers.ts";
import { findFirstMargin, type MarginTerms } from "../../db/catalogue/margins.ts";
import type { Reader } from "../../db/port/port.ts";
import { fallsBelowCost, type SoldAt } from "../../domain/catalogue/margins.ts";
import { formatMicros } from "../../domain/ledger/money.ts";
import { counted } from "../../domain/values/text.ts";
import { type CommonOptions, withDatabase } from "../kernel/command.ts";
import { confirm, type ConfirmOptions } from "../kernel/confirm.ts";

/** What would be sold, and for how much. */
export interface Sale {
  /** What is done, such as `set the price of likes to 0.5 USD`. */
  what: string;
  /** The terms and price so far; null: it is not sold yet. */
  before: MarginTerms | null;
  after: MarginTerms;
}

/** Asks if any of the sales would be below cost and was not before. `read` returns the sales. */
export async function confirmBelowCost(
  options: CommonOptions & ConfirmOptions,
  read: (reader: Reader) => Sale[],
): Promise<void> {
  const below = await withDatabase(options, ({ store }) =>
    store.read((reader) => {
      const sold = (terms: MarginTerms): SoldAt => {
        const { priceMicros } = terms;
        return { priceMicros, margin: findFirstMargin(reader, terms) };
      };
      const names = new Map(listProviders(reader).map((each) => [each.providerId, each.name]));
      return reader
        .each(read(reader), ({ what, before, after }) => {
          const then = sold(after);
          if (!fallsBelowCost(before && sold(before), then)) return null;
          const cost = `${names.get(after.providerId!)} charges ${formatMicros(then.margin!.costMicros)} USD`;
          return { what, cost };
        })
        .filter((each) => each !== null);
    }),
  );
  const [first] = below;
  if (!first) return;
  if (below.length === 1) return confirm(options, first.what, `below cost: ${first.cost}`);
  await confirm(options, `change ${counted(below.length, "price")}`, "they would be below cost");
}
