// `verify`: recomputes the whole database from the ledger. Exit 1 if something does not match; the output names it.

import { resolve } from "node:path";
import type { Command } from "commander";
import type { Verification } from "../../db/verify/verify.ts";
import { counted } from "../../domain/values/text.ts";
import { CHECK_COUNT, verify } from "../../storage/doctor/verify.ts";
import { POSTGRES_CHECK_COUNT, verifyPostgres } from "../../db/postgres/schema/verify.ts";
import { checkCopy } from "../../storage/backup/copy.ts";
import { whyNoReachableFile } from "../../storage/file/files.ts";
import { closeForCommand, openForCommand } from "../../storage/file/open.ts";
import { type DatabaseName, databaseOf } from "../kernel/database-name.ts";
import { asFailure, CommandFailure, type CommonOptions, declare } from "../kernel/command.ts";
import { print } from "../output/output.ts";
import { table } from "../output/text-table.ts";
import { startProgress } from "../output/progress.ts";

export function declareVerify(program: Command): void {
  const command = declare(
    program,
    "verify",
    "recompute every balance, charge and refund from the ledger",
    "reseller verify --data /var/lib/reseller",
  );
  command.option("--file <backup>", "a backup to verify instead of the database");
  command.action(async (options: CommonOptions & { file?: string }) => {
    const database = databaseOf(options);
    const path = options.file === undefined ? database.shown : resolve(options.file);
    const found =
      options.file === undefined
        ? await verifyWithProgress(database)
        : await verifyBackup(path, database);
    const { users, orders, transfers, usedKeys, problems, problemCount } = found;
    const ok = problemCount === 0;
    const counts = { users, orders, transfers, usedKeys };
    print(options.json, { ok, database: path, ...counts, problems, problemCount }, () =>
      report(path, found),
    );
    if (!ok) {
      throw new CommandFailure(
        `${counted(found.problemCount, "problem")} in ${path}: restore a backup or ask for help before taking orders`,
      );
    }
  });
}

async function verifyBackup(file: string, database: DatabaseName): Promise<Verification> {
  const why = whyNoReachableFile(file);
  if (why) throw new CommandFailure(`${why}: choose a backup`);
  try {
    return await checkCopy(file);
  } catch (error) {
    throw asFailure(error, { ...database, shown: file });
  }
}

/** Verifies the database, with a progress line on a terminal. */
export async function verifyWithProgress(database: DatabaseName): Promise<Verification> {
  const isFile = database.address === null;
  const progress = startProgress("verifying", isFile ? CHECK_COUNT : POSTGRES_CHECK_COUNT);
  try {
    return await verifyDatabase(database, (done) => progress.update(done));
  } catch (error) {
    throw asFailure(error, database);
  } finally {
    progress.end();
  }
}

async function verifyDatabase(
  { address, data }: DatabaseName,
  progress: (done: number) => void,
): Promise<Verification> {
  if (address !== null) return verifyPostgres(address, progress);
  const connection = openForCommand(data);
  try {
    return await verify(connection, progress);
  } finally {
    closeForCommand(connection);
  }
}

function report(path: string, found: Verification): string {
  const { users, orders, transfers, usedKeys, problems, problemCount } = found;
  const counts = `${counted(users, "user")}, ${counted(orders, "order")}, ${counted(transfers, "transfer")}, ${counted(usedKeys, "used key")} in ${path}`;
  if (problemCount === 0) return `ok: ${counts}: every balance, charge and refund adds up`;
  const listed = table(
    problems.map((problem) => ({ ...problem })),
    "",
  );
  const more = problemCount - problems.length;
  return `${counts}\n\n${listed}${more > 0 ? `\n… and ${more} more` : ""}`;
}
