// The rates in a provider's list: converted to US dollars for our prices, unconverted for the costs of orders.

import { decimalText, multiplyDecimals, type RateUnit } from "../delivery/costs.ts";
import { parseDecimal } from "./rate-decimals.ts";
import { parseServiceType, standardUnit } from "../catalogue/service-types.ts";
import type { UpstreamEntry } from "./upstream-services.ts";

/** The facts that a sync stores of a service in a provider's list. */
export interface ListedRate {
  rate: string;
  unit: RateUnit;
  dripfeed: boolean;
}

/** Converts the rates to US dollars. */
export function inDollars(
  upstream: readonly UpstreamEntry[],
  rateToUsd: string,
): readonly UpstreamEntry[] {
  if (rateToUsd === "1") return upstream;
  const factor = parseDecimal(rateToUsd)!;
  return upstream.map((entry) => {
    const rate = "rate" in entry ? parseDecimal(entry.rate) : null;
    return rate ? { ...entry, rate: decimalText(multiplyDecimals(rate, factor)) } : entry;
  });
}

/**
 * Returns the rate, unit and drip-feed of each service that can be ordered, by its id at the provider. Includes
 * services of further routes, which a plan leaves out. Leaves out services that are listed more than once.
 */
export function ratesIn(upstream: readonly UpstreamEntry[]): Map<string, ListedRate> {
  const rates = new Map<string, ListedRate>();
  const listed = Map.groupBy(upstream, ({ service }) => service);
  for (const [entry, another] of listed.values()) {
    if (!entry || another || "unreadable" in entry) continue;
    const type = parseServiceType(entry.type);
    const rate = parseDecimal(entry.rate);
    if (type && rate) {
      const { service, dripfeed } = entry;
      rates.set(service, { rate: decimalText(rate), unit: standardUnit(type), dripfeed });
    }
  }
  return rates;
}
