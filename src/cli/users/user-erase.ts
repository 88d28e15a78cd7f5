// `admin user erase`: erases a user's personal data.

import type { Command } from "commander";
import { eraseWholly } from "../../operations/users/erasures.ts";
import { ConfigError } from "../../config/flags.ts";
import { ask, mayAsk } from "../kernel/ask.ts";
import { CommandFailure, type CommonOptions, declare, withDatabase } from "../kernel/command.ts";
import { print, printError } from "../output/output.ts";
import { fields } from "../output/text-table.ts";
import { note, username } from "../kernel/values.ts";

export function declareErase(group: Command): void {
  declare(
    group,
    "erase",
    "erase a user's personal data for good: names, links, notes; balance and amounts stay",
    'reseller admin user erase alice --reason "asked for by letter, 2026-11-22"',
  )
    .argument("<username>", "the user, inactive and without open orders", username)
    .requiredOption(
      "--reason <text>",
      "reason, stored in the audit log; do not include personal data",
      note,
    )
    .option("--yes", "do not ask")
    .action(async (user: string, options: CommonOptions & { reason: string; yes?: true }) => {
      if (!options.yes) await requireErasure(user);
      const { username: left, rows } = await withDatabase(options, ({ execute }) =>
        eraseWholly({
          user: () => execute("eraseUser", { username: user, reason: options.reason }),
          piece: (piece) => execute("eraseHistory", piece),
        }),
      );
      print(options.json, { username: left, erased: true, rows }, fields);
      if (!options.json) {
        printError("backups and off-site copies hold the data until they are deleted");
      }
    });
}

/** Asks for the username again. Throws if the answer differs or there is no terminal. */
async function requireErasure(user: string): Promise<void> {
  const answer = await ask(`This cannot be undone. Type ${user} again to erase its data:`);
  if (answer === user) return;
  if (answer === null && !mayAsk()) {
    throw new ConfigError(
      `erase ${user}: this cannot be undone, and there is no terminal to confirm on. Nothing was changed; repeat with --yes to confirm`,
    );
  }
  throw new CommandFailure("the name does not match: nothing was erased");
}
