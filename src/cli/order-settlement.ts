// `admin order settle`: what became of an order whose submission is unknown. The provider is asked for the number first.

import { type Command, Option } from "commander";
import { settingOption } from "../config/flags.ts";
import { type Provider, providerOf } from "../db/providers.ts";
import { usernameOf } from "../db/users.ts";
import { formatMicros } from "../domain/money.ts";
import { isTestOrder } from "../domain/sandbox.ts";
import { requireSettleable } from "../operations/unknown-settlement.ts";
import { checkOrder } from "../providers/order-check.ts";
import { connectProvider } from "../providers/protocols.ts";
import { ProviderFailure } from "../providers/provider.ts";
import { CommandFailure, type CommonOptions, declare, withDatabase } from "./command.ts";
import { addMoneyConfirmation, type ConfirmOptions, confirmMoney } from "./confirm.ts";
import { changeOrder } from "./order-output.ts";
import { printError } from "./output.ts";
import { never } from "./providers.ts";
import { providerOrder } from "./values.ts";

interface SettleOptions extends CommonOptions, ConfirmOptions {
  placed?: string;
  notPlaced?: true;
  check: boolean;
  providerTimeout: number;
}

export function declareSettle(group: Command): void {
  const command = declare(
    group,
    "settle",
    "say what became of an order whose placement is unknown, or correct its number",
    "reseller admin order settle 12 --placed 23501",
  )
    .argument("<id>", "either of the order's ids")
    .option(
      "--placed <number>",
      "the provider has it under this number, and is asked for it: follow it",
      providerOrder,
    )
    .addOption(
      new Option("--not-placed", "the provider never had it: refund it").conflicts("placed"),
    )
    .option("--no-check", "believe the number without asking the provider")
    .addOption(settingOption("provider-timeout"));
  addMoneyConfirmation(command).action(async (id: string, options: SettleOptions) => {
    const { placed = null, notPlaced } = options;
    if (placed === null && !notPlaced) {
      command.error("error: give --placed with the provider's order number, or --not-placed.");
    }
    await prepare(id, placed, options);
    await changeOrder(options, ({ execute }) =>
      execute("settleOrder", { id, providerOrder: placed }),
    );
  });
}

/** Asks the provider, or for a confirmation of the refund, before anything is written. */
async function prepare(id: string, placed: string | null, options: SettleOptions): Promise<void> {
  const { order, provider, username } = await withDatabase(options, ({ store }) =>
    store.read((reader) => {
      const found = requireSettleable(reader, id, placed);
      const { resellerAccount, delivery } = found;
      const names = { username: usernameOf(reader, resellerAccount) };
      return { order: found, provider: providerOf(reader, delivery.providerId), ...names };
    }),
  );
  if (placed !== null) {
    // The sandbox answers inside the server alone.
    if (options.check && !isTestOrder(order)) await ask(provider, placed, options);
    return;
  }
  const micros = order.chargeMicros - order.refundedMicros;
  const what = `refund ${formatMicros(micros)} USD of order ${id} to ${username}`;
  await confirmMoney(options, micros, what);
}

async function ask(
  provider: Provider,
  placed: string,
  { providerTimeout, json }: SettleOptions,
): Promise<void> {
  const { name } = provider;
  try {
    const found = await checkOrder(connectProvider(provider, providerTimeout), placed, never());
    if ("unknown" in found) {
      throw new CommandFailure(
        `provider ${name} does not know ${placed} (${found.unknown}): nothing was changed, look the number up there, or give --no-check`,
      );
    }
    if (!json) printError(`${name} has ${placed}: ${found.word}`);
  } catch (error) {
    if (!(error instanceof ProviderFailure)) throw error;
    throw new CommandFailure(
      `provider ${name} could not be asked for ${placed}: ${error.message}: nothing was changed, try again, or give --no-check`,
    );
  }
}
