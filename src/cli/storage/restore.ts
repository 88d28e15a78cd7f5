// `restore FILE`: replaces the database by a backup and keeps the old one under another name. A backup at an s3://…
// address is fetched first.

import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { isRemote, parseRemote } from "../../config/remote-values.ts";
import type { Store } from "../../db/port/port.ts";
import { MICROS_PER_DOLLAR } from "../../domain/ledger/money.ts";
import type { SinceBackup } from "../../storage/backup/replaced-database.ts";
import { restoreDatabase } from "../../storage/backup/restore.ts";
import type { CarriedOver } from "../../operations/batch/restore.ts";
import { execute } from "../../operations/batch/execute.ts";
import { asFailure, CommandFailure, declare, signed } from "../kernel/command.ts";
import { addMoneyConfirmation, type ConfirmOptions, confirmMoney } from "../kernel/confirm.ts";
import { type DatabaseName, databaseOf, refusePostgres } from "../kernel/database-name.ts";
import { print } from "../output/output.ts";
import { addRemoteOptions, identityOption, openRemote, type RemoteOptions } from "./remote.ts";
import { withFetched } from "./remote-backups.ts";
import { type Outcome, report, result } from "./restore-report.ts";
import { firstNumber } from "../kernel/values.ts";
import { counted } from "../../domain/values/text.ts";
import { verifyWithProgress } from "./verify.ts";

interface RestoreOptions extends RemoteOptions, ConfirmOptions {
  orderNumbersFrom?: number;
  unverified?: boolean;
}

export function declareRestore(program: Command): void {
  const command = declare(
    program,
    "restore <file>",
    "replace the database by a backup and keep the old one aside; stop the server first",
    "reseller restore /backup/reseller-monday.db --data /var/lib/reseller",
  );
  addMoneyConfirmation(addRemoteOptions(command))
    .addOption(identityOption())
    .addOption(
      new Option(
        "--order-numbers-from <number>",
        "number of the next order (default: above the replaced database's highest number; if that is unreadable, at least a million above the backup's)",
      ).argParser(firstNumber),
    )
    .option("--unverified", "restore the backup even if `verify` finds problems")
    .action(async (file: string, options: RestoreOptions) => {
      refusePostgres(
        options,
        "restore works only for SQLite: restore PostgreSQL with its own tools, such as pg_restore",
      );
      if (isRemote(file)) await restoreRemote(file, options);
      else await restoreAndReport(resolve(file), resolve(file), options);
    });
}

/** Restores and reports. `name`: the file's name in messages. */
async function restoreAndReport(
  file: string,
  name: string,
  options: RestoreOptions,
): Promise<void> {
  const database = databaseOf(options);
  const path = database.shown;
  const restored = await restore(file, name, options, database);
  const { problemCount } = await verifyWithProgress(database);
  const ok = problemCount === 0;
  print(options.json, result(path, ok, restored), () => report(path, name, restored));
  // With --unverified a faulty backup is restored on purpose, so its problems are not an error.
  if (!ok && restored.fault === null) {
    throw new CommandFailure(
      `${counted(problemCount, "problem")} in ${path}: run \`reseller verify\``,
    );
  }
}

/** Restores an off-site copy. `address`: a folder of copies, of which the newest is used, or one copy. */
async function restoreRemote(address: string, options: RestoreOptions): Promise<void> {
  const [, folder, name = null] = /^(.*?)(?:\/(reseller-[^/]*))?$/.exec(address)!;
  const remote = parseRemote(folder!);
  if (!remote)
    throw new CommandFailure(`${address} is not an S3 address such as s3://backups/reseller`);
  try {
    await withFetched(openRemote(options, remote), name, options, (file, url) =>
      restoreAndReport(file, url, options),
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
  let carriedOver: CarriedOver = {
    webhooksWaiting: 0,
    mailsDropped: 0,
    unknownOrders: 0,
    invoices: { invoices: 0, series: null },
  };
  const carryOver = async (staged: Store, since: SinceBackup) => {
    const moved = BigInt(since.movedDollars) * BigInt(MICROS_PER_DOLLAR);
    const what = `take back ${since.movedDollars} USD in transactions that the backup does not have`;
    await confirmMoney(options, moved, what);
    floors = floorsOf(since, options.orderNumbersFrom);
    const endedKeys = since.keys.ended.map(({ id }) => id);
    await execute(staged, "skipSequences", null, now);
    const { administrators, members } = since;
    const carried = signed<"carryOver">({
      floors,
      endedKeys,
      administrators,
      members,
      invoices: since.invoices,
    });
    carriedOver = await execute(staged, "carryOver", carried, now);
  };
  try {
    const terms = { now, acceptsUnverified: options.unverified ?? false };
    const restored = await restoreDatabase(file, options.data, terms, carryOver);
    return { ...restored, ...carriedOver, floors: floors ?? restored.since.floors };
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
      `order numbers up to ${issued.orders} were issued: choose a higher one with --order-numbers-from`,
    );
  }
  return { ...floors, orders: from - 1 };
}
