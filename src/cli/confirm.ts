// Confirmation of what moves much money or many rows: asked for on a terminal, --yes for scripts. docs/specification.md#cli-confirm.

import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { ConfigError, settingOption } from "../config/flags.ts";
import type { Micros } from "../domain/money.ts";
import { formatMicros } from "../domain/money.ts";
import { showHidden } from "../domain/text.ts";
import { CommandFailure } from "./command.ts";

/** A command that changes more rows than this asks, whatever money they are about. */
export const CONFIRM_ROWS = 20;

export interface ConfirmOptions {
  /** Micros; only of commands that were declared with addMoneyConfirmation. */
  confirmAbove?: number;
  yes?: true;
}

export function addConfirmation(command: Command): Command {
  return command.option("--yes", "do it without asking, for scripts");
}

export function addMoneyConfirmation(command: Command): Command {
  return addConfirmation(command).addOption(settingOption("confirm-above"));
}

/** `what`: what will be done, as `credit alice 5000 USD`. */
export async function confirmMoney(
  options: ConfirmOptions,
  micros: Micros,
  what: string,
): Promise<void> {
  const { confirmAbove = 0 } = options;
  if (micros <= confirmAbove) return;
  await confirm(options, what, `more than ${formatMicros(confirmAbove)} USD (--confirm-above)`);
}

/** Returns once it is confirmed. Exit 1 when it is declined, exit 2 where nobody can be asked. */
export async function confirm(
  { yes }: ConfirmOptions,
  what: string,
  because: string,
): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new ConfigError(
      `${what}: that is ${because}, and there is no terminal to ask on: nothing was changed, add --yes if it is meant`,
    );
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C and Ctrl-D decline too.
  const ended = new Promise<string>((resolve) => terminal.once("close", () => resolve("")));
  try {
    const question = showHidden(`${what}: that is ${because}. Go on? [y/N] `);
    const answer = await Promise.race([terminal.question(question), ended]);
    if (/^y(es)?$/i.test(answer.trim())) return;
    throw new CommandFailure("it was not confirmed: nothing was changed");
  } finally {
    terminal.close();
  }
}
