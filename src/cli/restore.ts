// `restore FILE`: a backup becomes the database; the present one is kept aside.

import { resolve } from "node:path";
import type { Command } from "commander";
import { databasePath } from "../db/open.ts";
import { restoreDatabase, type Restored, type Totals } from "../db/restore.ts";
import { jsonAmount } from "../domain/money.ts";
import { execute } from "../operations/commands.ts";
import { asFailure, CommandFailure, type CommonOptions, declare, withDatabase } from "./command.ts";
import { print, table } from "./output.ts";
import { verifyShown } from "./verify.ts";

export function declareRestore(program: Command): void {
  declare(
    program,
    "restore <file>",
    "put a backup in the place of the database, which is kept aside; refused while a server runs",
    "reseller restore /backup/reseller-monday.db --data /var/lib/reseller",
  ).action((file: string, options: CommonOptions) => {
    const path = databasePath(options.data);
    const restored = restore(resolve(file), options.data, path);
    const { problemCount } = withDatabase(options, ({ connection }) => verifyShown(connection));
    const ok = problemCount === 0;
    print(options.json, result(path, ok, restored), () => report(path, resolve(file), restored));
    if (!ok)
      throw new CommandFailure(`${problemCount} problems in ${path}: run \`reseller verify\``);
  });
}

function restore(file: string, data: string, path: string): Restored {
  try {
    const now = Date.now();
    return restoreDatabase(file, data, now, (staged) => {
      const cause = "restored from a backup: it may have been sent since";
      execute(staged, "doubtQueued", { cause }, now);
    });
  } catch (error) {
    throw asFailure(error, path);
  }
}

function result(database: string, ok: boolean, { before, after, keptAside }: Restored) {
  return { ok, database, keptAside, before: before && told(before), after: told(after) };
}

function told({ users, orders, transfers, balanceMicros, lastOrderAt }: Totals) {
  const last = lastOrderAt === null ? null : new Date(lastOrderAt).toISOString();
  return { users, orders, transfers, balance: jsonAmount(balanceMicros), lastOrderAt: last };
}

function report(path: string, file: string, { before, after, keptAside }: Restored): string {
  const rows = [
    ...(before ? [{ "": "before", ...told(before) }] : []),
    { "": "after", ...told(after) },
  ];
  const kept = keptAside
    ? `what was there is kept as ${keptAside}`
    : "there was no database before";
  return `${table(rows, "")}\n\nok: ${path} is ${file} now, verified; ${kept}`;
}
