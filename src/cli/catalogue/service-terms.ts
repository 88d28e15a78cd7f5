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
    .addOption(option("--price <price>", "price in USD, at most six decimals", price))
    .option("--min <quantity>", "smallest quantity of an order", quantity)
    .option("--max <quantity>", "largest quantity of an order", quantity)
    .addOption(
      new Option(
        "--per <unit>",
        mandatory
          ? "what the price is for: 1000 units, 1 unit or a whole order (default: 1000; for packages: order)"
          : "what the price is for: 1000 units, 1 unit or a whole order",
      ).choices(PRICE_UNITS),
    )
    .addOption(
      new Option(
        "--type <type>",
        mandatory
          ? "type, which decides the fields of its orders (default: default)"
          : "type, which decides the fields of its orders",
      ).choices(SERVICE_TYPES),
    )
    .option("--dripfeed", "allow drip-feed: orders in several runs, one per interval")
    .option("--no-dripfeed", mandatory ? "no drip-feed (default)" : "no drip-feed")
    .option(
      "--category <category>",
      mandatory
        ? `category under which panels list it (default: ${DEFAULT_CATEGORY})`
        : "category under which panels list it",
      category,
    )
    .option("--private", "only for resellers with a grant")
    .option(
      "--provider <name>",
      mandatory
        ? "provider that delivers it (default: none, you deliver by hand)"
        : "provider that delivers it; none: you deliver by hand",
      providerName,
    )
    .option("--provider-service <id>", "the service's id at the provider", providerService)
    .option("--cancel", "its orders can be cancelled on request")
    .option("--no-cancel", "its orders cannot be cancelled on request")
    .option("--refill", "lost quantities of its orders are delivered again on request")
    .option("--no-refill", "its orders are not refilled")
    .option(
      "--refill-days <days>",
      mandatory
        ? `days after an order's end in which refills are possible (default: ${REFILL_DAYS_DEFAULT})`
        : "days after an order's end in which refills are possible",
      refillDays,
    );
}

/** Returns the given terms for cancelling and refilling. */
export function requestTermsOf({ cancel, refill, refillDays: days }: ServiceOptions) {
  return {
    ...(cancel === undefined ? {} : { cancel }),
    ...(refill === undefined ? {} : { refill }),
    ...(days === undefined ? {} : { refillDays: days }),
  };
}

/** Returns the bounds of a new service. A package has one size, 1 by default. Any other type needs both bounds. */
export function requireBounds(
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
