// The flags of `admin provider create` and `update` for a provider's currency and its value in US dollars.

import type { Command } from "commander";
import { currency, rateToUsd } from "../kernel/values.ts";

export interface CurrencyOptions {
  rateToUsd?: string;
  currency?: string;
}

export function addCurrency(command: Command): Command {
  return command
    .option(
      "--rate-to-usd <rate>",
      "US dollars in one unit of its currency (default: 1)",
      rateToUsd,
    )
    .option(
      "--currency <code>",
      "currency it charges in (default: USD, or with --rate-to-usd the currency of its first charge)",
      currency,
    );
}

/** Returns the options that were given. */
export function currencyOf({ rateToUsd: rate, currency: code }: CurrencyOptions): CurrencyOptions {
  return {
    ...(rate === undefined ? {} : { rateToUsd: rate }),
    ...(code === undefined ? {} : { currency: code }),
  };
}
