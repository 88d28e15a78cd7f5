// The rules by which a provider's rates become our prices: markup, markups of categories, rounding. Every sync prices
// by them, by hand or scheduled. Prices are whole micros and are only rounded up, so rounding never sells below cost.
// docs/specification/providers.md#sync-prices.

import { AMOUNT_LIMIT_MICROS } from "../ledger/money.ts";
import { type Decimal, parseDecimal } from "./rate-decimals.ts";
import { priceWithMarkup } from "./upstream-services.ts";

/** Distance between the allowed prices, and the digits with which each ends, in micros. */
const ROUNDINGS = {
  none: { step: 1, ending: 0 },
  "0.0001": { step: 100, ending: 0 },
  "0.001": { step: 1_000, ending: 0 },
  "0.01": { step: 10_000, ending: 0 },
  "0.1": { step: 100_000, ending: 0 },
  "1": { step: 1_000_000, ending: 0 },
  "x.xx9": { step: 10_000, ending: 9_000 },
  "x.x9": { step: 100_000, ending: 90_000 },
  "x.99": { step: 1_000_000, ending: 990_000 },
} as const;

/** `0.01`: up to the next whole cent. `x.x9`: up to the next price that ends so, such as 1.29. */
export type PriceRounding = keyof typeof ROUNDINGS;
export const PRICE_ROUNDINGS: readonly PriceRounding[] = [
  "none",
  "0.0001",
  "0.001",
  "0.01",
  "0.1",
  "1",
  "x.xx9",
  "x.x9",
  "x.99",
];

/** Percentages by the name of the category at the provider, as decimal text. */
export type CategoryMarkups = Readonly<Record<string, string>>;

export interface Pricing {
  markup: Decimal;
  categories: ReadonlyMap<string, Decimal>;
  rounding: PriceRounding;
}

/** The rules of a provider besides its markup, as its row has them. */
export interface PriceRules {
  roundPrices: PriceRounding;
  /** CategoryMarkups as JSON. */
  categoryMarkups: string;
}

/** Changes of CategoryMarkups. Null removes the markup of a category; categories that are not named keep theirs. */
export type CategoryMarkupChanges = Readonly<Record<string, string | null>>;

/** `markup`: the general one, as decimal text. */
export function pricingOf(markup: string, { categoryMarkups, roundPrices }: PriceRules): Pricing {
  const categories = Object.entries(readCategoryMarkups(categoryMarkups));
  return {
    markup: percentOf(markup),
    categories: new Map(categories.map(([name, percent]) => [name, percentOf(percent)])),
    rounding: roundPrices,
  };
}

function percentOf(text: string): Decimal {
  const percent = parseDecimal(text);
  if (!percent) throw new Error("a markup must be a decimal number");
  return percent;
}

/** Returns our price for a rate of that category, in micros; null above AMOUNT_LIMIT_MICROS. */
export function priceAt(rate: Decimal, category: string, pricing: Pricing): number | null {
  const { markup, categories, rounding } = pricing;
  const micros = priceWithMarkup(rate, categories.get(category) ?? markup);
  return micros === null ? null : roundUp(micros, rounding);
}

/** A price of 0 stays 0: the service is free. */
function roundUp(micros: number, rounding: PriceRounding): number | null {
  if (micros === 0) return 0;
  const { step, ending } = ROUNDINGS[rounding];
  const rounded = Math.ceil((micros - ending) / step) * step + ending;
  return rounded <= AMOUNT_LIMIT_MICROS ? rounded : null;
}

export function readCategoryMarkups(stored: string): CategoryMarkups {
  return JSON.parse(stored) as CategoryMarkups;
}

/** Returns the row's text after changes. */
export function changedMarkups(stored: string, changes: CategoryMarkupChanges): string {
  const changed = new Map(Object.entries(readCategoryMarkups(stored)));
  for (const [category, percent] of Object.entries(changes)) {
    if (percent === null) changed.delete(category);
    else changed.set(category, percent);
  }
  return JSON.stringify(Object.fromEntries([...changed].toSorted(([a], [b]) => (a < b ? -1 : 1))));
}
