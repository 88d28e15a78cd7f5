// `restore FILE`: a backup becomes the database; the present one is renamed, not deleted.

import { resolve } from "node:path";
import { type Command, Option } from "commander";
import type { Store } from "../db/port.ts";
import type { SinceBackup } from "../storage/replaced-database.ts";
import { restoreDatabase } from "../storage/restore.ts";
import { execute } from "../operations/execute.ts";
import { asFailure, CommandFailure, type CommonOptions, declare, signed } from "./command.ts";
import { type DatabaseName, databaseOf, refusePostgres } from "./database-name.ts";
import { print } from "./output.ts";
import { type Outcome, report, result } from "./restore-report.ts";
import { orderNumber } from "./values.ts";
import { verifyShown } from "./verify.ts";

interface RestoreOptions extends CommonOptions {
  orderNumbersFrom?: number;
}

export function declareRestore(program: Command): void {
  declare(
    program,
    "restore <file>",
    "put a backup in the place of the database, which is kept aside; refused while a server runs",
    "reseller restore /backup/reseller-monday.db --data /var/lib/reseller",
  )
    .addOption(
      new Option(
        "--order-numbers-from <number>",
        "the number of the next order (default: above those of the database that is replaced; where that does not tell, a million or more above the backup's)",
      ).argParser(orderNumber),
    )
    .action(async (file: string, options: RestoreOptions) => {
      refusePostgres(
        options,
        "restore replaces a SQLite database: for the one of --database use PostgreSQL's own tools, such as pg_restore",
      );
      const database = databaseOf(options);
      const path = database.shown;
      const restored = await restore(resolve(file), options, database);
      const { problemCount } = await verifyShown(database);
      const ok = problemCount === 0;
      print(options.json, result(path, ok, restored), () => report(path, resolve(file), restored));
      if (!ok)
        throw new CommandFailure(`${problemCount} problems in ${path}: run \`reseller verify\``);
    });
}

async function restore(
  file: string,
  options: RestoreOptions,
  database: DatabaseName,
): Promise<Outcome> {
  const now = Date.now();
  let floors: SinceBackup["floors"] | undefined;
  const carryOver = async (staged: Store, since: SinceBackup) => {
    floors = floorsOf(since, options.orderNumbersFrom);
    const endedKeys = since.keys.ended.map(({ id }) => id);
    const disabledAdministrators = since.disabled;
    const carried = signed<"carryOver">({ floors, endedKeys, disabledAdministrators });
    await execute(staged, "carryOver", carried, now);
  };
  try {
    const restored = await restoreDatabase(file, options.data, now, carryOver);
    return { ...restored, floors: floors ?? restored.since.floors };
  } catch (error) {
    throw asFailure(error, database);
  }
}

function floorsOf({ issued, floors }: SinceBackup, from?: number): SinceBackup["floors"] {
  if (from === undefined) return floors;
  if (from <= issued.orders) {
    throw new CommandFailure(
      `order numbers up to ${issued.orders} were given out: name a higher one with --order-numbers-from`,
    );
  }
  return { ...floors, orders: from - 1 };
}
