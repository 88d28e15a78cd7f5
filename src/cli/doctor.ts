// `doctor`: checks everything that a service on this machine needs, one line each. Exit 1 when a check fails.

import type { Command } from "commander";
import { backupFolder, type Config, settingOption } from "../config/flags.ts";
import { runDoctor } from "../storage/doctor.ts";
import type { Finding } from "../storage/findings.ts";
import { runPostgresDoctor } from "../storage/postgres-doctor.ts";
import { CommandFailure, type CommonOptions, declare } from "./command.ts";
import { databaseOf } from "./database-name.ts";
import { print } from "./output.ts";
import { table } from "./text-table.ts";

export function declareDoctor(program: Command): void {
  declare(
    program,
    "doctor",
    "look at the data directory, the disk, the clock, the database and the backups",
    "reseller doctor --data /var/lib/reseller",
  )
    .addOption(settingOption("backup-dir"))
    .action(async (options: CommonOptions & Pick<Config, "backupDir">) => {
      const { address, data, shown: database } = databaseOf(options);
      const findings = address
        ? await runPostgresDoctor(address, Date.now)
        : runDoctor({ data, backupFolder: backupFolder(options), now: Date.now() });
      const failed = findings.filter(({ state }) => state === "fail").length;
      print(options.json, { ok: failed === 0, database, findings }, () => report(findings));
      if (failed > 0)
        throw new CommandFailure(`${failed} checks failed for ${database}: see above`);
    });
}

function report(findings: readonly Finding[]): string {
  const rows = findings.map(({ state, check, found, advice }) => ({
    state,
    check,
    found: advice === "" ? found : `${found}: ${advice}`,
  }));
  return table(rows, "");
}
