// Asks for confirmation before much money moves or many rows change: on a terminal, or by --yes in scripts.
// docs/specification/command-line.md#cli-confirm.

import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { ConfigError, settingOption } from "../../config/flags.ts";
import type { Micros } from "../../domain/ledger/money.ts";
import { formatMicros } from "../../domain/ledger/money.ts";
import { showHidden } from "../../domain/values/text.ts";
import { mayAsk } from "./ask.ts";
import { CommandFailure } from "./command.ts";

/** A command that changes more rows than this asks for confirmation, regardless of the amount. */
export const CONFIRM_ROWS = 20;

export interface ConfirmOptions {
  /** In micros; only for commands declared with addMoneyConfirmation. */
  confirmAbove?: number;
  yes?: true;
}

export function addConfirmation(command: Command): Command {
  return command.option("--yes", "do not ask for confirmation, for scripts");
}

export function addMoneyConfirmation(command: Command): Command {
  return addConfirmation(command).addOption(settingOption("confirm-above"));
}

/** Asks if the amount is above --confirm-above. `what`: what will be done, such as `credit alice 5000 USD`. */
export async function confirmMoney(
  options: ConfirmOptions,
  micros: Micros,
  what: string,
): Promise<void> {
  const { confirmAbove = 0 } = options;
  if (micros <= confirmAbove) return;
  await confirm(options, what, `more than ${formatMicros(confirmAbove)} USD (--confirm-above)`);
}

/** Returns once confirmed. Exit 1 if the person declines, exit 2 if there is no terminal to ask on. */
export async function confirm(
  { yes }: ConfirmOptions,
  what: string,
  because: string,
): Promise<void> {
  if (yes) return;
  if (!mayAsk()) {
    throw new ConfigError(
      `${what} needs confirmation: ${because}. There is no terminal and nothing was changed; repeat with --yes to confirm`,
    );
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C and Ctrl-D also decline.
  const ended = new Promise<string>((resolve) => terminal.once("close", () => resolve("")));
  try {
    const question = showHidden(`${what}: ${because}. Continue? [y/N] `);
    const answer = await Promise.race([terminal.question(question), ended]);
    if (/^y(es)?$/i.test(answer.trim())) return;
    throw new CommandFailure("not confirmed: nothing was changed");
  } finally {
    terminal.close();
  }
}
