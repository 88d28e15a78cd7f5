// `admin order settle`: settles orders whose submission is unknown. With --placed, first asks the provider; with
// --provider, searches it for all its unknown orders (unknown-search.ts).

import { type Command, Option } from "commander";
import { settingOption } from "../../config/flags.ts";
import { type Provider, getProvider } from "../../db/providers/providers.ts";
import { usernameOf } from "../../db/users/users.ts";
import type { Reader } from "../../db/port/port.ts";
import { decideTransition } from "../../domain/orders/order-transitions.ts";
import { attempt, Refusal } from "../../domain/values/error-table.ts";
import { isTestOrder } from "../../domain/orders/sandbox.ts";
import { requireSettleable } from "../../operations/delivery/unknown-settlement.ts";
import { checkOrder } from "../../providers/order-check.ts";
import { connectProvider } from "../../providers/protocols.ts";
import { ProviderFailure } from "../../providers/provider.ts";
import { CommandFailure, type CommonOptions, declare, withDatabase } from "../kernel/command.ts";
import { addMoneyConfirmation, type ConfirmOptions } from "../kernel/confirm.ts";
import { confirmRefunds, type Refund } from "./order-changes.ts";
import { changeOrder } from "./order-output.ts";
import { printError } from "../output/output.ts";
import { neverAborted } from "../providers/provider-call.ts";
import { changeOrders, ORDER_IDS, orderIdsArgument } from "../kernel/several-orders.ts";
import { nearbyNumbers, providerName, providerOrder } from "../kernel/values.ts";
import { addWindow, type WindowOptions } from "../output/list-pages.ts";
import { NEARBY_DEFAULT, NEARBY_LIMIT } from "../../domain/delivery/number-ranges.ts";
import { settleByProvider } from "./unknown-search.ts";

interface SettleOptions extends CommonOptions, ConfirmOptions, WindowOptions {
  placed?: string;
  notPlaced?: true;
  check: boolean;
  provider?: string;
  nearby?: number;
  dryRun?: true;
  providerTimeout: number;
}

/** The options that only a search by --provider has, and those that it does not have. */
const OF_SEARCH = ["since", "until", "from", "to", "nearby", "dryRun"] as const;
const OF_ORDERS = ["placed", "notPlaced"] as const;

export function declareSettle(group: Command): void {
  const command = declare(
    group,
    "settle",
    "settle orders whose submission is unknown, or correct an order's number at the provider",
    "reseller admin order settle 12 --placed 23501\n  reseller admin order settle --provider acme --since 24h --dry-run",
  )
    .argument("[ids...]", ORDER_IDS, orderIdsArgument, [])
    .option(
      "--placed <number>",
      "the provider has the order under this number; checked with the provider, one order at a time",
      providerOrder,
    )
    .addOption(
      new Option("--not-placed", "the provider never received the orders: refund them").conflicts(
        "placed",
      ),
    )
    .option("--no-check", "do not check the number with the provider")
    .option(
      "--provider <name>",
      "search this provider for its unknown orders, and settle those that were likely sent or not sent",
      providerName,
    )
    .option(
      "--nearby <number>",
      `with --provider: how many order numbers to ask about for each order, at most ${NEARBY_LIMIT} (default: ${NEARBY_DEFAULT})`,
      nearbyNumbers,
    )
    .option("--dry-run", "with --provider: only show what was found; with --json all the evidence")
    .addOption(settingOption("provider-timeout"));
  addWindow(command);
  addMoneyConfirmation(command).action(async (ids: string[], options: SettleOptions) => {
    const { placed, notPlaced, provider } = options;
    const isGiven = (name: keyof SettleOptions) => options[name] !== undefined;
    if (provider !== undefined) {
      if (ids.length > 0 || OF_ORDERS.some(isGiven) || !options.check) {
        command.error("error: with --provider, give neither orders nor how to settle them.");
      }
      const { nearby: numbers = NEARBY_DEFAULT } = options;
      return settleByProvider(provider, { ...options, nearby: numbers });
    }
    if (ids.length === 0)
      command.error("error: give the orders, or --provider to search for them.");
    if (OF_SEARCH.some(isGiven)) {
      command.error("error: --since, --until, --nearby and --dry-run are for --provider.");
    }
    if (placed === undefined && !notPlaced) {
      command.error("error: give --placed with the provider's order number, or --not-placed.");
    }
    if (placed === undefined) return settleNotPlaced(ids, options);
    if (ids.length > 1) {
      command.error("error: --placed is for one order: settle each order with its own number.");
    }
    await settlePlaced(ids[0]!, placed, options);
  });
}

/** Settles orders as not placed, which refunds them. First asks for one confirmation of all refunds. */
async function settleNotPlaced(ids: readonly string[], options: SettleOptions): Promise<void> {
  const refunds = await withDatabase(options, ({ store }) =>
    store.read((reader) => reader.each(ids, (id) => refundOf(reader, id))),
  );
  const confirmed = await confirmRefunds(options, refunds);
  await changeOrders(options, ids, ({ execute }, id) =>
    execute("settleOrder", { id, providerOrder: null, refundMicros: confirmed.get(id)! }),
  );
}

/** Returns the refund of an order. An order that cannot be settled now gets 0, as in order-changes.ts. */
function refundOf(reader: Reader, id: string): Refund {
  const refund = attempt(() => {
    const order = requireSettleable(reader, id, null);
    const { refundMicros } = decideTransition(order, "FAILED");
    return { id, username: usernameOf(reader, order.resellerAccount), refundMicros };
  });
  return refund instanceof Refusal ? { id, username: "", refundMicros: 0 } : refund;
}

/** Settles an order as placed. Asks the provider before anything is written. */
async function settlePlaced(id: string, placed: string, options: SettleOptions): Promise<void> {
  const { order, provider } = await withDatabase(options, ({ store }) =>
    store.read((reader) => {
      const found = requireSettleable(reader, id, placed);
      return { order: found, provider: getProvider(reader, found.delivery.providerId) };
    }),
  );
  // The sandbox answers only inside the server process.
  if (options.check && !isTestOrder(order)) await ask(provider, placed, options);
  await changeOrder(options, ({ execute }) =>
    execute("settleOrder", { id, providerOrder: placed }),
  );
}

async function ask(
  provider: Provider,
  placed: string,
  { providerTimeout, json }: SettleOptions,
): Promise<void> {
  const { name } = provider;
  try {
    const found = await checkOrder(
      connectProvider(provider, providerTimeout),
      placed,
      neverAborted(),
    );
    if ("unknown" in found) {
      throw new CommandFailure(
        `provider ${name} does not recognize ${placed} (${found.unknown}). Nothing was changed; look the number up at the provider, or use --no-check`,
      );
    }
    if (!json) printError(`${name} has ${placed}: ${found.word}`);
  } catch (error) {
    if (!(error instanceof ProviderFailure)) throw error;
    throw new CommandFailure(
      `provider ${name} could not be asked for ${placed}: ${error.message}. Nothing was changed; try again, or use --no-check`,
    );
  }
}
