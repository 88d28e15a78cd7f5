// `backup FILE`: makes a verified copy of the live database.

import { resolve } from "node:path";
import type { Command } from "commander";
import { settingOption } from "../../config/flags.ts";
import type { Config } from "../../config/settings.ts";
import { COPY_THREAD } from "../../config/source-files.ts";
import { counted } from "../../domain/values/text.ts";
import { backUp } from "../../storage/backup/backup.ts";
import { mebibytes, sizeOf } from "../../storage/file/files.ts";
import type { Backup } from "../../storage/backup/backup.ts";
import type { CheckpointMode } from "../../storage/file/checkpoint.ts";
import {
  asFailure,
  CommandFailure,
  type CommonOptions,
  declare,
  withDatabase,
} from "../kernel/command.ts";
import { type DatabaseName, databaseOf, refusePostgres } from "../kernel/database-name.ts";
import { print } from "../output/output.ts";
import { startProgress } from "../output/progress.ts";
import { declareRemoteBackups } from "./remote-backups.ts";

type BackupOptions = CommonOptions & Pick<Config, "checkpoint">;

export function declareBackup(program: Command): void {
  const command = declare(
    program,
    "backup <file>",
    "copy the database while it is in use, and verify the copy",
    "reseller backup /backup/reseller-monday.db --data /var/lib/reseller",
  ).addOption(settingOption("checkpoint"));
  command.action(async (file: string, options: BackupOptions) => {
    // SIGUSR1 makes the server start a backup. `systemctl kill` sends it to this process too, which ignores it.
    process.on("SIGUSR1", () => {});
    refusePostgres(
      options,
      "backup works only for SQLite: back up PostgreSQL with its own tools, such as pg_dump or pg_basebackup",
    );
    const database = databaseOf(options);
    const path = database.shown;
    // Throws if the database does not exist or this version does not know its schema.
    await withDatabase(options, () => {});
    const backup = await copyWithProgress(database, resolve(file), options.checkpoint);
    print(options.json, { database: path, ...backup }, () => report(path, backup));
    if (!backup.verified) {
      throw new CommandFailure(
        `the backup was made, but it ${backup.fault}: keep it, run \`reseller verify\` and ask for help; only \`reseller restore --unverified\` restores it`,
      );
    }
  });
  // Options after a subcommand's name belong to the subcommand, also --data and --json.
  command.enablePositionalOptions();
  declareRemoteBackups(command);
}

async function copyWithProgress(
  database: DatabaseName,
  target: string,
  checkpoint: CheckpointMode,
): Promise<Backup> {
  const path = database.shown;
  const progress = startProgress("MiB copied:", mebibytes(sizeOf(path)));
  try {
    return await backUp(COPY_THREAD, path, target, checkpoint, {
      onCopy: (bytes) => progress.update(mebibytes(bytes)),
      onWarning: (warning) => process.stderr.write(`warning: ${warning}\n`),
    });
  } catch (error) {
    throw asFailure(error, database);
  } finally {
    progress.end();
  }
}

function report(path: string, backup: Backup): string {
  const { file, bytes, seconds, users, orders, transfers, verified } = backup;
  return `${file}: ${mebibytes(bytes)} MiB in ${seconds} s, ${counted(users, "user")}, ${counted(orders, "order")}, ${counted(transfers, "transfer")} of ${path}, ${verified ? "verified" : "NOT VERIFIED"}`;
}
