// `doctor`: checks everything that a service on this machine needs, one line each. Exit 1 when a check fails.

import type { Command } from "commander";
import { backupFolder, ConfigError, settingOption } from "../config/flags.ts";
import type { Config } from "../config/settings.ts";
import { refusedWithPostgres } from "../config/sqlite-settings.ts";
import { runDoctor } from "../storage/doctor.ts";
import type { Finding } from "../storage/findings.ts";
import { runPostgresDoctor } from "../storage/postgres-doctor.ts";
import { CommandFailure, declare } from "./command.ts";
import { databaseOf } from "./database-name.ts";
import { print } from "./output.ts";
import { addRemoteOptions, type RemoteOptions } from "./remote.ts";
import { remoteBackupAge } from "./remote-age.ts";
import { table } from "./text-table.ts";

type DoctorOptions = RemoteOptions & Pick<Config, "backupDir" | "checkpoint">;

export function declareDoctor(program: Command): void {
  const command = declare(
    program,
    "doctor",
    "look at the data directory, the disk, the clock, the database and the backups",
    "reseller doctor --data /var/lib/reseller",
  )
    .addOption(settingOption("backup-dir"))
    .addOption(settingOption("checkpoint"));
  addRemoteOptions(command).action(async (options: DoctorOptions) => {
    const conflict = refusedWithPostgres(options);
    if (conflict) throw new ConfigError(conflict);
    const { address, shown: database } = databaseOf(options);
    const findings = address
      ? await runPostgresDoctor(address, Date.now)
      : await sqliteFindings(options);
    const failed = findings.filter(({ state }) => state === "fail").length;
    print(options.json, { ok: failed === 0, database, findings }, () => report(findings));
    if (failed > 0) throw new CommandFailure(`${failed} checks failed for ${database}: see above`);
  });
}

async function sqliteFindings(options: DoctorOptions): Promise<Finding[]> {
  const { data, checkpoint } = options;
  const now = Date.now();
  const findings = runDoctor({ data, backupFolder: backupFolder(options), now, checkpoint });
  if (options.backupTo !== null) findings.push(await remoteBackupAge(options, now));
  return findings;
}

function report(findings: readonly Finding[]): string {
  const rows = findings.map(({ state, check, found, advice }) => ({
    state,
    check,
    found: advice === "" ? found : `${found}: ${advice}`,
  }));
  return table(rows, "");
}
