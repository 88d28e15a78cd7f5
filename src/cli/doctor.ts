// `doctor`: checks everything that a service on this machine needs, one line each. Exit 1 when a check fails.

import type { Command } from "commander";
import { backupFolder, type Config, settingOption } from "../config/settings.ts";
import { databasePath } from "../storage/open.ts";
import { runDoctor, type Finding } from "../storage/doctor.ts";
import { CommandFailure, declare } from "./command.ts";
import { print, table } from "./output.ts";
import { addRemoteOptions, type RemoteOptions } from "./remote.ts";
import { remoteBackupAge } from "./remote-age.ts";

export function declareDoctor(program: Command): void {
  const command = declare(
    program,
    "doctor",
    "look at the data directory, the disk, the clock, the database and the backups",
    "reseller doctor --data /var/lib/reseller",
  )
    .addOption(settingOption("backup-dir"))
    .addOption(settingOption("checkpoint"));
  addRemoteOptions(command).action(
    async (options: RemoteOptions & Pick<Config, "backupDir" | "checkpoint">) => {
      const findings = runDoctor({
        data: options.data,
        backupFolder: backupFolder(options),
        now: Date.now(),
        checkpoint: options.checkpoint,
      });
      if (options.backupTo !== null) findings.push(await remoteBackupAge(options, Date.now()));
      const failed = findings.filter(({ state }) => state === "fail").length;
      const database = databasePath(options.data);
      print(options.json, { ok: failed === 0, database, findings }, () => report(findings));
      if (failed > 0)
        throw new CommandFailure(`${failed} checks failed for ${database}: see above`);
    },
  );
}

function report(findings: readonly Finding[]): string {
  const rows = findings.map(({ state, check, found, advice }) => ({
    state,
    check,
    found: advice === "" ? found : `${found}: ${advice}`,
  }));
  return table(rows, "");
}
