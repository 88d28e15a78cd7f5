// `restore FILE`: a backup becomes the database; the present one is renamed, not deleted. An address s3://… is fetched first.

import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { isRemote, parseRemote } from "../config/remote-values.ts";
import type { Store } from "../db/port.ts";
import { MICROS_PER_DOLLAR } from "../domain/money.ts";
import type { SinceBackup } from "../storage/replaced-database.ts";
import { restoreDatabase } from "../storage/restore.ts";
import { execute } from "../operations/execute.ts";
import { asFailure, CommandFailure, declare, signed } from "./command.ts";
import { addMoneyConfirmation, type ConfirmOptions, confirmMoney } from "./confirm.ts";
import { type DatabaseName, databaseOf, refusePostgres } from "./database-name.ts";
import { print } from "./output.ts";
import { addRemoteOptions, identityOption, openRemote, type RemoteOptions } from "./remote.ts";
import { withFetched } from "./remote-backups.ts";
import { type Outcome, report, result } from "./restore-report.ts";
import { orderNumber } from "./values.ts";
import { counted } from "../domain/text.ts";
import { verifyShown } from "./verify.ts";

interface RestoreOptions extends RemoteOptions, ConfirmOptions {
  orderNumbersFrom?: number;
}

export function declareRestore(program: Command): void {
  const command = declare(
    program,
    "restore <file>",
    "put a backup in the place of the database, which is kept aside; refused while a server runs",
    "reseller restore /backup/reseller-monday.db --data /var/lib/reseller",
  );
  addMoneyConfirmation(addRemoteOptions(command))
    .addOption(identityOption())
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
      if (isRemote(file)) await restoreRemote(file, options);
      else await restoreShown(resolve(file), resolve(file), options);
    });
}

/** `name`: what the file is called in messages. */
async function restoreShown(file: string, name: string, options: RestoreOptions): Promise<void> {
  const database = databaseOf(options);
  const path = database.shown;
  const restored = await restore(file, name, options, database);
  const { problemCount } = await verifyShown(database);
  const ok = problemCount === 0;
  print(options.json, result(path, ok, restored), () => report(path, name, restored));
  if (!ok) {
    throw new CommandFailure(
      `${counted(problemCount, "problem")} in ${path}: run \`reseller verify\``,
    );
  }
}

/** `address`: of the folder of the copies, whose newest is taken, or of one of them. */
async function restoreRemote(address: string, options: RestoreOptions): Promise<void> {
  const [, folder, name = null] = /^(.*?)(?:\/(reseller-[^/]*))?$/.exec(address)!;
  const remote = parseRemote(folder!);
  if (!remote)
    throw new CommandFailure(`${address} is no S3 address such as s3://backups/reseller`);
  try {
    await withFetched(openRemote(options, remote), name, options, (file, url) =>
      restoreShown(file, url, options),
    );
  } catch (error) {
    throw asFailure(error, databaseOf(options));
  }
}

async function restore(
  file: string,
  name: string,
  options: RestoreOptions,
  database: DatabaseName,
): Promise<Outcome> {
  const now = Date.now();
  let floors: SinceBackup["floors"] | undefined;
  let webhooksWaiting = 0;
  const carryOver = async (staged: Store, since: SinceBackup) => {
    const moved = BigInt(since.movedDollars) * BigInt(MICROS_PER_DOLLAR);
    const what = `take back ${since.movedDollars} USD in transactions that the backup does not have`;
    await confirmMoney(options, moved, what);
    floors = floorsOf(since, options.orderNumbersFrom);
    const endedKeys = since.keys.ended.map(({ id }) => id);
    await execute(staged, "skipSequences", null, now);
    const disabledAdministrators = since.disabled;
    const carried = signed<"carryOver">({ floors, endedKeys, disabledAdministrators });
    ({ webhooksWaiting } = await execute(staged, "carryOver", carried, now));
  };
  try {
    const restored = await restoreDatabase(file, options.data, now, carryOver);
    return { ...restored, floors: floors ?? restored.since.floors, webhooksWaiting };
  } catch (error) {
    const failure = asFailure(error, database);
    if (!(failure instanceof CommandFailure)) throw failure;
    throw new CommandFailure(failure.message.replaceAll(file, name));
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
