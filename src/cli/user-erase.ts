// `admin user erase`.

import type { Command } from "commander";
import { eraseWholly } from "../operations/erasures.ts";
import { ask } from "./ask.ts";
import { CommandFailure, type CommonOptions, declare, withDatabase } from "./command.ts";
import { print, printError } from "./output.ts";
import { fields } from "./text-table.ts";
import { note, username } from "./values.ts";

export function declareErase(group: Command): void {
  declare(
    group,
    "erase",
    "erase a user's personal data for good: names, links, notes; balance and amounts stay",
    'reseller admin user erase alice --reason "asked for by letter, 2026-11-22"',
  )
    .argument("<username>", "the user, inactive and without open orders", username)
    .requiredOption("--reason <text>", "why, kept in the audit log: nothing personal", note)
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

async function requireErasure(user: string): Promise<void> {
  const answer = await ask(`This cannot be undone. Type ${user} again to erase its data:`);
  if (answer === user) return;
  throw new CommandFailure(
    answer === null
      ? "this cannot be undone, and nobody can be asked here: give --yes to do it all the same"
      : "that is another name: nothing was erased",
  );
}
