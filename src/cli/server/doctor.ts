// `doctor`: checks everything that a server on this machine needs, one line each. Exit 1 if a check fails.

import type { Command } from "commander";
import { backupFolder, ConfigError, settingOption } from "../../config/flags.ts";
import type { Config } from "../../config/settings.ts";
import { refusedWithPostgres } from "../../config/sqlite-settings.ts";
import { runDoctor } from "../../storage/doctor/doctor.ts";
import { type ConnectionSettings, planOwnFiles } from "../../server/connection-limits.ts";
import { type Finding, finding } from "../../storage/doctor/findings.ts";
import { runPostgresDoctor } from "../../storage/doctor/postgres-doctor.ts";
import { CommandFailure, declare } from "../kernel/command.ts";
import { databaseOf } from "../kernel/database-name.ts";
import { print } from "../output/output.ts";
import { addRemoteOptions, type RemoteOptions } from "../storage/remote.ts";
import { remoteBackupAge } from "../storage/remote-age.ts";
import { table } from "../output/text-table.ts";

type DoctorOptions = RemoteOptions & ConnectionSettings & Pick<Config, "backupDir" | "checkpoint">;

export function declareDoctor(program: Command): void {
  const command = declare(
    program,
    "doctor",
    "check the data directory, the disk, the clock, the database and the backups",
    "reseller doctor --data /var/lib/reseller",
  )
    .addOption(settingOption("max-connections"))
    .addOption(settingOption("max-connections-per-address"))
    .addOption(settingOption("backup-dir"))
    .addOption(settingOption("checkpoint"));
  addRemoteOptions(command).action(async (options: DoctorOptions) => {
    const conflict = refusedWithPostgres(options);
    if (conflict) throw new ConfigError(conflict);
    const { address, shown: database } = databaseOf(options);
    const findings = address
      ? await runPostgresDoctor(address, Date.now)
      : await sqliteFindings(options);
    findings.push(openFiles(options));
    const failed = findings.filter(({ state }) => state === "fail").length;
    print(options.json, { ok: failed === 0, database, findings }, () => report(findings));
    if (failed > 0) throw new CommandFailure(`${failed} checks failed for ${database}: see above`);
  });
}

/**
 * Checks the open-file limit of this shell. A server started by systemd has the limit of its unit, which this check
 * cannot see.
 */
function openFiles(options: ConnectionSettings): Finding {
  const { files, connections, perAddress, warning } = planOwnFiles(options);
  const found = `${files} allowed: at most ${connections} connections, ${perAddress} from one address`;
  return finding("open files", warning ? "warn" : "ok", found, warning ?? "");
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
