// Flags of `admin service create` and `update` for the terms of a service.

import { type Command, Option } from "commander";
import { REFILL_DAYS_DEFAULT } from "../../domain/orders/order-requests.ts";
import {
  isPackage,
  SERVICE_TYPES,
  type ServiceType,
} from "../../domain/catalogue/service-types.ts";
import { DEFAULT_CATEGORY, type PriceUnit, PRICE_UNITS } from "../../domain/catalogue/services.ts";
import { type CommonOptions } from "../kernel/command.ts";
import { type ConfirmOptions } from "../kernel/confirm.ts";

import {
  category,
  price,
  providerName,
  providerService,
  quantity,
  refillDays,
  serviceName,
} from "../kernel/values.ts";

export interface ServiceOptions extends CommonOptions, ConfirmOptions {
  id?: string;
  name?: string;
  category?: string;
  price?: number;
  min?: number;
  max?: number;
  per?: PriceUnit;
  type?: ServiceType;
  dripfeed?: boolean;
  private?: true;
  public?: true;
  provider?: string;
  providerService?: string;
  cancel?: boolean;
  refill?: boolean;
  refillDays?: number;
}

export function addServiceOptions(command: Command, mandatory: boolean): Command {
  const option = (flags: string, description: string, parse: (text: string) => unknown) =>
    new Option(flags, description).argParser(parse).makeOptionMandatory(mandatory);
  return command
    .addOption(option("--name <name>", "display name", serviceName))
    .addOption(option("--price <price>", "USD, at most six decimals", price))
    .option("--min <quantity>", "smallest order", quantity)
    .option("--max <quantity>", "largest order", quantity)
    .addOption(
      new Option(
        "--per <unit>",
        mandatory
          ? "what the price buys (default: 1000, of a package order)"
          : "what the price buys",
      ).choices(PRICE_UNITS),
    )
    .addOption(
      new Option(
        "--type <type>",
        mandatory ? "which fields its orders take (default: default)" : "which fields orders take",
      ).choices(SERVICE_TYPES),
    )
    .option("--dripfeed", "take orders in runs, one each interval")
    .option("--no-dripfeed", mandatory ? "do not (default)" : "do not")
    .option(
      "--category <category>",
      mandatory ? `where panels list it (default: ${DEFAULT_CATEGORY})` : "where panels list it",
      category,
    )
    .option("--private", "only for resellers with a grant")
    .option(
      "--provider <name>",
      mandatory ? "who delivers it (default: you, by hand)" : "who delivers it; none: you, by hand",
      providerName,
    )
    .option("--provider-service <id>", "its id at the provider", providerService)
    .option("--cancel", "its orders can be cancelled on request")
    .option("--no-cancel", "they cannot")
    .option("--refill", "what is lost of its orders is delivered again on request")
    .option("--no-refill", "it is not")
    .option(
      "--refill-days <days>",
      mandatory
        ? `for how many days after an order's end (default: ${REFILL_DAYS_DEFAULT})`
        : "for how many days after an order's end",
      refillDays,
    );
}

/** Returns the terms that were given. */
export function requestTermsOf({ cancel, refill, refillDays: days }: ServiceOptions) {
  return {
    ...(cancel === undefined ? {} : { cancel }),
    ...(refill === undefined ? {} : { refill }),
    ...(days === undefined ? {} : { refillDays: days }),
  };
}

/** Returns the bounds of a new service. A package has one size, 1 by default. Any other type needs both bounds. */
export function boundsOf(
  command: Command,
  options: ServiceOptions,
  type: ServiceType,
): { min: number; max: number } {
  const { min, max } = options;
  if (isPackage(type)) return { min: min ?? max ?? 1, max: max ?? min ?? 1 };
  for (const [name, value] of Object.entries({ min, max })) {
    if (value === undefined) {
      command.error(`error: required option '--${name} <quantity>' not specified`);
    }
  }
  return { min: min!, max: max! };
}

/** Refuses --min above --max as wrong usage (exit 2), before the database is read. */
export function refuseCrossedBounds(
  command: Command,
  { min, max }: Pick<ServiceOptions, "min" | "max">,
): void {
  if (min !== undefined && max !== undefined && min > max) {
    command.error("error: --min must not be above --max.");
  }
}
