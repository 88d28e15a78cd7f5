// The flags of `admin provider create` and `update` for orders that the provider refuses for lack of funds.

import { type Command, Option } from "commander";
import {
  type HoldSettings,
  NO_FUNDS_ACTIONS,
  type NoFundsAction,
} from "../../domain/providers/fund-holds.ts";
import { amount, holdFor } from "../kernel/values.ts";

export interface HoldOptions {
  onNoFunds?: NoFundsAction;
  /** In milliseconds. */
  holdFor?: number;
  /** In micros. */
  holdLimit?: number;
}

export function addHold(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--on-no-funds <what>",
        "orders that it refuses because our balance there is too low: refund them (default), or hold them until it has funds",
      ).choices(NO_FUNDS_ACTIONS),
    )
    .option(
      "--hold-for <duration>",
      "how long after its creation an order may be held (default: 24h)",
      holdFor,
    )
    .option(
      "--hold-limit <amount>",
      "limit for the charges of all held orders together, in USD (default: 500)",
      amount,
    );
}

/** Returns the settings that were given. */
export function holdOf({ onNoFunds, holdFor: holdMs, holdLimit }: HoldOptions) {
  const settings: Partial<HoldSettings> = {
    ...(onNoFunds !== undefined && { onNoFunds }),
    ...(holdMs !== undefined && { holdMs }),
    ...(holdLimit !== undefined && { holdLimitMicros: holdLimit }),
  };
  return settings;
}
