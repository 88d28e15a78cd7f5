// `config show` and `config check`: show the settings of `serve` with their origins, and check whether it could run
// with them.

import type { SettingCheck } from "./setting-check.ts";
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import {
  commandOptions,
  serveOptions,
  showSettings,
  type UnknownVariable,
  unknownVariables,
} from "../../config/flags.ts";
import { type Config, findConflict } from "../../config/settings.ts";
import { formatRemote, missingForRemote } from "../../config/remote-values.ts";
import { refusedWithPostgres } from "../../config/sqlite-settings.ts";
import { readTls, TlsError } from "../../config/tls.ts";
import { counted } from "../../domain/values/text.ts";
import { requireRecipient } from "../../offsite/encryption.ts";
import { BackupError } from "../../storage/backup/backup-error.ts";
import type { State } from "../../storage/doctor/findings.ts";
import { checkAddresses } from "./config-addresses.ts";
import { CommandFailure, type CommonOptions, declare, declareGroup } from "../kernel/command.ts";
import { print } from "../output/output.ts";
import { table } from "../output/text-table.ts";
import { DAY_MS } from "../../domain/values/spans.ts";

/** Limit in days: a certificate that expires sooner gets a warning. */
const CERTIFICATE_DAYS = 14;

export function declareConfig(program: Command): void {
  const group = declareGroup(program, "config", "settings of `serve`");
  const show = declare(
    group,
    "show",
    "print every setting with its value and where it comes from",
    "reseller config show --port 9000",
  );
  for (const option of [...serveOptions(), ...commandOptions()]) show.addOption(option);
  show.action((options: CommonOptions) => {
    print(options.json, showSettings(show), (rows) =>
      table(
        rows.map(({ name, value, origin }) => ({ setting: name, value, "comes from": origin })),
        "",
      ),
    );
  });

  const check = declare(
    group,
    "check",
    "check whether `serve` could run with these settings",
    "reseller config check",
  );
  for (const option of serveOptions()) check.addOption(option);
  check.action(async (options: Config & CommonOptions) => {
    const checks = [
      checkVariables(check),
      checkData(options.data),
      checkTls(options),
      await checkAddresses(options),
      checkProxies(options),
      await checkRemote(options),
    ];
    print(options.json, checks, (rows) =>
      table(
        rows.map((row) => ({ ...row })),
        "",
      ),
    );
    const failed = checks.filter(({ state }) => state === "fail");
    if (failed.length > 0) {
      throw new CommandFailure(
        `serve would not run as configured: ${failed.map(({ detail }) => detail).join("; ")}`,
      );
    }
  });
}

function settingCheck(check: string, state: State, detail: string): SettingCheck {
  return { check, state, detail };
}

function checkVariables(command: Command): SettingCheck {
  const unknown = unknownVariables(command);
  if (unknown.length === 0)
    return settingCheck("variables", "ok", "every RESELLER_ variable is a setting");
  return settingCheck(
    "variables",
    "fail",
    `unknown setting ${unknown.map(unknownText).join(", ")}: correct the name`,
  );
}

function unknownText({ name, nearest }: UnknownVariable): string {
  return nearest === null ? name : `${name} (did you mean ${nearest}?)`;
}

function checkData(data: string): SettingCheck {
  const directory = resolve(data);
  const nearest = nearestExisting(directory);
  if (!statSync(nearest).isDirectory()) {
    return settingCheck("data", "fail", `${nearest} is a file: choose a folder with --data`);
  }
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK);
  } catch {
    return settingCheck(
      "data",
      "fail",
      `${nearest} is not writable for this user: change its owner`,
    );
  }
  const made = nearest === directory ? "" : " (serve will create it)";
  return settingCheck("data", "ok", `${directory}${made}`);
}

function nearestExisting(directory: string): string {
  return existsSync(directory) ? directory : nearestExisting(dirname(directory));
}

function checkTls(config: Config): SettingCheck {
  const conflict = findConflict(config);
  if (conflict) return settingCheck("tls", "fail", conflict);
  const { tlsCert: cert, tlsKey: key } = config;
  if (cert === null || key === null)
    return settingCheck("tls", "ok", "none: a proxy in front provides TLS");
  try {
    const { validTo } = readTls({ cert, key });
    const days = Math.floor((validTo.getTime() - Date.now()) / DAY_MS);
    if (days < 0) return settingCheck("tls", "fail", `${cert} has expired: renew it`);
    const state = days < CERTIFICATE_DAYS ? "warn" : "ok";
    return settingCheck("tls", state, `${cert} is valid for ${counted(days, "day")}`);
  } catch (error) {
    if (!(error instanceof TlsError)) throw error;
    return settingCheck("tls", "fail", error.message);
  }
}

async function checkRemote(config: Config): Promise<SettingCheck> {
  const { database, backupTo, backupRecipient } = config;
  const refused = refusedWithPostgres(config);
  if (refused) return settingCheck("off-site", "fail", refused);
  if (database !== null) return settingCheck("off-site", "ok", "use PostgreSQL's own tools");
  if (backupTo === null)
    return settingCheck(
      "off-site",
      "ok",
      "none: backups on one disk are lost with the disk, see --backup-to",
    );
  const missing = missingForRemote(config);
  if (missing) return settingCheck("off-site", "fail", missing);
  if (backupRecipient === null) return settingCheck("off-site", "ok", formatRemote(backupTo));
  try {
    await requireRecipient(backupRecipient);
    return settingCheck("off-site", "ok", `${formatRemote(backupTo)}, encrypted`);
  } catch (error) {
    if (!(error instanceof BackupError)) throw error;
    return settingCheck("off-site", "fail", error.message);
  }
}

function checkProxies({ trustedProxy }: Config): SettingCheck {
  if (trustedProxy.length === 0) {
    return settingCheck(
      "proxies",
      "ok",
      "none is trusted: behind a proxy, all callers appear with its address",
    );
  }
  const all = trustedProxy.some(([, prefix]) => prefix === 0);
  if (!all) return settingCheck("proxies", "ok", `${trustedProxy.length} trusted`);
  return settingCheck("proxies", "warn", "every proxy is trusted: callers can claim any address");
}
