// The settings, one row each: flags and environment → one frozen, validated Config. The only file that reads the
// environment's variables. Precedence: the flag (--log-level), the variable (RESELLER_LOG_LEVEL), the file that the
// variable with the suffix _FILE names (RESELLER_LOG_LEVEL_FILE), the default. docs/specification.md#settings.

import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { LOG_FORMATS, LOG_LEVELS } from "../monitoring/log.ts";
import { isLoopback } from "./networks.ts";
import { readSmallFile } from "./small-files.ts";
import * as remote from "./remote-values.ts";
import * as kinds from "./values.ts";

export interface Setting<Value> extends kinds.ValueKind<Value> {
  default: Value;
  /** The default as text that `parse` takes, or a word for its absence. */
  defaultText: string;
  help: string;
  /** Given by variable or file only: the command line of a process can be read by everyone on the machine. */
  isSecret?: true;
}

const CHECKPOINT_MODES = ["internal", "external"] as const;

/** By flag. The order is that of help, `config show` and docs/configuration.md. */
export const SETTINGS = {
  data: setting(kinds.text("DIR"), "./data", "folder of the database (reseller.db)"),
  database: optional(
    kinds.databaseAddress,
    "PostgreSQL database, postgres://user:password@host/name, in place of the one in --data",
  ),
  server: {
    ...kinds.serverName,
    default: hostname(),
    defaultText: "the host's name",
    help: "name of this server among those of one PostgreSQL database",
  },
  host: setting(kinds.text("ADDRESS"), "127.0.0.1", "address to listen on"),
  port: setting(kinds.port, "8080", "port to listen on; 0 takes a free one"),
  "tls-cert": optional(
    kinds.text("FILE"),
    "certificate chain (PEM) to speak TLS with; SIGHUP reads it again",
  ),
  "tls-key": optional(kinds.text("FILE"), "private key (PEM) of the certificate"),
  "trusted-proxy": {
    ...kinds.networks,
    default: [],
    defaultText: "none",
    help: "proxies whose X-Forwarded-For counts",
  },
  "rate-limit": setting(
    kinds.rateLimit,
    "100/s",
    "requests of one key: N/s, N/m or N/h, at once twice that; 0: no limit, of addresses neither",
  ),
  "metrics-listen": {
    ...kinds.endpoint,
    default: null,
    defaultText: "off",
    help: "where Prometheus may ask for /metrics; 0 turns it off",
  },
  "panel-listen": {
    ...kinds.endpoint,
    default: null,
    defaultText: "off",
    help: "where the operator's panel listens; 0 turns it off",
  },
  "panel-url": optional(
    kinds.origin,
    "where browsers find the panel, when it is behind a proxy: https://panel.example",
  ),
  "panel-insecure": setting(
    kinds.toggle,
    "off",
    "the panel may speak plain HTTP beyond this machine, where others can read along",
  ),
  "panel-confirm-above": setting(
    kinds.amount,
    "100",
    "credits, debits and refunds above this ask the panel's administrator for a password or code again",
  ),
  "disk-floor": setting(
    kinds.size,
    "64MiB",
    "free room below which the server is not ready; 0: any",
  ),
  "place-wait": setting(
    kinds.duration(0),
    "10s",
    "how long POST /orders waits for the provider's reply",
  ),
  "place-retry": setting(
    kinds.duration(0),
    "1h",
    "how long an order that could not be sent is tried again",
  ),
  "provider-timeout": setting(kinds.duration(1), "30s", "how long one call to a provider may take"),
  "poll-interval": setting(
    kinds.duration(1),
    "60s",
    "shortest pause between two polls of an order; the longest is 30 times that",
  ),
  "webhook-allow": {
    ...kinds.networks,
    default: [],
    defaultText: "none",
    help: "networks that are not public and that webhooks may be sent to all the same",
  },
  "webhook-allow-http": setting(kinds.toggle, "off", "webhooks may be sent to http addresses too"),
  "backup-every": setting(kinds.duration(0), "24h", "time between two backups; 0 turns them off"),
  "backup-dir": {
    ...optional(kinds.text("DIR"), "folder of the backups; services may share one"),
    defaultText: "backups in --data",
  },
  "backup-keep": setting(kinds.backupCount, "7", "backups to keep"),
  "backup-to": optional(remote.remoteFolder, "S3 folder that each backup is copied to"),
  "backup-keep-remote": setting(kinds.backupCount, "30", "copies to keep there"),
  "backup-recipient": optional(remote.recipient, "age recipient that the copies are encrypted to"),
  "s3-endpoint": {
    ...optional(remote.httpUrl, "server of the bucket"),
    defaultText: "Amazon's",
  },
  "s3-region": setting(remote.region, "us-east-1", "region of the bucket"),
  "s3-access-key": { ...optional(remote.secret, "access key of the bucket"), isSecret: true },
  "s3-secret-key": { ...optional(remote.secret, "secret key of the bucket"), isSecret: true },
  checkpoint: setting(
    kinds.choice("MODE", CHECKPOINT_MODES),
    "internal",
    "who checkpoints the write-ahead log; external: Litestream does",
  ),
  "log-level": setting(kinds.choice("LEVEL", LOG_LEVELS), "info", "least important event to log"),
  "log-format": setting(
    kinds.choice("FORMAT", LOG_FORMATS),
    "auto",
    "json: a line an event; pretty: for people; auto: pretty on a terminal",
  ),
  "log-reads": setting(
    kinds.share,
    "all",
    "which share of the successful reads to log: all, none or 1%",
  ),
} satisfies Record<string, Setting<unknown>>;

export type Flag = keyof typeof SETTINGS;

/** The settings with which a command finds the copies of backups. */
export const REMOTE_FLAGS = [
  "backup-to",
  "s3-endpoint",
  "s3-region",
  "s3-access-key",
  "s3-secret-key",
] as const satisfies readonly Flag[];

type CamelCase<Text extends string> = Text extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Text;

/** Each value under its flag in camel case, as commander names it. */
export type Config = {
  [Name in Flag as CamelCase<Name>]: ReturnType<(typeof SETTINGS)[Name]["parse"]>;
};

/** Wrong usage that no single flag causes. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

const PREFIX = "RESELLER_";
const FILE_SUFFIX = "_FILE";
/** Maximum length of a file that holds one value. */
const VALUE_FILE_LIMIT_BYTES = 64 * 1024;

export function variableOf(flag: string): string {
  return PREFIX + flag.toUpperCase().replaceAll("-", "_");
}

/** A setting as an option of a command. The environment is read when the command line is parsed. */
export function settingOption(flag: Flag): Option {
  const row: Setting<unknown> = SETTINGS[flag];
  const { placeholder, preset } = row;
  const argument = preset === undefined ? `<${placeholder}>` : `[${placeholder}]`;
  const option = new Option(`--${flag} ${argument}`, row.help)
    .env(variableOf(flag))
    .default(row.default, row.defaultText);
  if (row.isSecret) option.hideHelp();
  if (preset !== undefined) option.preset(preset);
  return row.choices ? option.choices(row.choices) : option.argParser((given) => row.parse(given));
}

/** Refuses secrets on the command line. */
export function refuseSecretFlags(command: Command): void {
  for (const option of command.options) {
    const name = option.name();
    if (!isFlag(name) || command.getOptionValueSource(option.attributeName()) !== "cli") continue;
    if (!(SETTINGS[name] as Setting<unknown>).isSecret) continue;
    const variable = variableOf(name);
    throw new ConfigError(
      `everyone on this machine can read the command line: set ${variable} or ${variable}${FILE_SUFFIX} instead of --${name}`,
    );
  }
}

/** The environment for a process of this program that is to use the same values of `flags`. */
export function environmentWith(
  config: Partial<Config>,
  flags: readonly Flag[],
): Record<string, string | undefined> {
  const environment: Record<string, string | undefined> = { ...process.env };
  for (const flag of flags) {
    const value = config[camelCase(flag)] ?? null;
    const row: Setting<unknown> = SETTINGS[flag];
    if (value === null) continue;
    const text = row.isSecret && typeof value === "string" ? value : row.format(value);
    environment[variableOf(flag)] = text;
  }
  return environment;
}

function camelCase(flag: Flag): keyof Config {
  return flag.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()) as keyof Config;
}

/** Which database: the settings of every command. */
const DATABASE_FLAGS: readonly Flag[] = ["data", "database"];

export function databaseOptions(): Option[] {
  return DATABASE_FLAGS.map(settingOption);
}

/** The settings that only `serve` has. */
export function serveOptions(): Option[] {
  const flags = Object.keys(SETTINGS) as Flag[];
  return flags.filter((flag) => !DATABASE_FLAGS.includes(flag)).map(settingOption);
}

/** Absolute path of the folder of the backups. */
export function backupFolder({ data, backupDir }: Pick<Config, "data" | "backupDir">): string {
  return resolve(backupDir ?? join(data, "backups"));
}

/** The Config of `serve` from its parsed options. */
export function freezeConfig(options: Config): Config {
  return Object.freeze({ ...options });
}

/** The conflict between settings that are each valid by themselves; null when there is none. */
export function conflictOf(config: Config): string | null {
  const { tlsCert, tlsKey, panelListen, panelInsecure } = config;
  if ((tlsCert === null) !== (tlsKey === null)) {
    return "--tls-cert and --tls-key belong together: give both or neither";
  }
  if (panelListen && !isPanelSecure(config) && !isPanelNear(config) && !panelInsecure) {
    return "the panel would speak plain HTTP beyond this machine: give --tls-cert and --tls-key, or --panel-url https://… of the proxy before it, or --panel-insecure on";
  }
  return null;
}

/** Browsers speak TLS with the panel, or with the proxy before it. */
export function isPanelSecure({
  tlsCert,
  panelUrl,
}: Pick<Config, "tlsCert" | "panelUrl">): boolean {
  return panelUrl === null ? tlsCert !== null : panelUrl.startsWith("https:");
}

/** It neither listens nor is found beyond this machine. */
function isPanelNear({ panelListen, panelUrl }: Config): boolean {
  const hosts = [panelListen!.host, ...(panelUrl === null ? [] : [new URL(panelUrl).hostname])];
  return hosts.every((host) => isLoopback(host.replace(/^\[|\]$/g, "")));
}

/** Only this machine reaches the panel. */
export function isPanelLocal({ panelListen, panelUrl }: Pick<Config, "panelListen" | "panelUrl">) {
  return panelUrl === null && panelListen !== null && isLoopback(panelListen.host);
}

/** Reads the files that variables with the suffix _FILE name, for settings given neither by flag nor by variable. */
export function readValueFiles(command: Command): void {
  for (const option of command.options) {
    const { envVar: variable } = option;
    const name = option.attributeName();
    if (variable === undefined || command.getOptionValueSource(name) !== "default") continue;
    const path = process.env[variable + FILE_SUFFIX];
    if (path === undefined) continue;
    const given = readValueFile(variable, path);
    try {
      command.setOptionValueWithSource(name, option.parseArg?.(given, undefined), `file ${path}`);
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      // The same message as commander's for a variable.
      command.error(
        `error: option '${option.flags}' value '${given}' from env '${variable}' is invalid. ${error.message}`,
      );
    }
  }
}

function readValueFile(variable: string, path: string): string {
  const wrong = (why: string) => new ConfigError(`${variable}${FILE_SUFFIX} names ${path}: ${why}`);
  let content: string;
  try {
    content = readSmallFile(path, VALUE_FILE_LIMIT_BYTES).trim();
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : String(error));
  }
  // The content may be a private key instead of its path: later errors would print it as a path.
  if (content.includes("\n")) {
    throw wrong(
      `more than one line is no value of a setting; for a file itself set ${variable} to its path`,
    );
  }
  return content;
}

export interface ShownSetting {
  name: string;
  value: string;
  /** `flag`, `variable RESELLER_…`, `file /path` or `default`. */
  origin: string;
}

/** Every setting of a command with its value and where that came from. */
export function showSettings(command: Command): ShownSetting[] {
  return command.options.flatMap((option) => {
    const name = option.name();
    if (!isFlag(name)) return [];
    const row: Setting<unknown> = SETTINGS[name];
    const attribute = option.attributeName();
    const value = row.format(command.getOptionValue(attribute));
    return { name, value, origin: originOf(name, command.getOptionValueSource(attribute)) };
  });
}

/** Variables with the prefix RESELLER_ that belong to no setting: most likely a typing error. */
export function unknownVariables(): string[] {
  const known = new Set(Object.keys(SETTINGS).map(variableOf));
  return Object.keys(process.env)
    .filter((name) => name.startsWith(PREFIX))
    .filter((name) => !known.has(name) && !known.has(name.replace(/_FILE$/, "")))
    .toSorted();
}

function originOf(flag: Flag, source: string | undefined): string {
  if (source === "cli") return "flag";
  if (source === "env") return `variable ${variableOf(flag)}`;
  return source ?? "default";
}

function isFlag(name: string): name is Flag {
  return name in SETTINGS;
}

function setting<Value>(
  kind: kinds.ValueKind<Value>,
  defaultText: string,
  help: string,
): Setting<Value> {
  return { ...kind, default: kind.parse(defaultText), defaultText, help };
}

/** A setting that is null unless it is given. */
function optional<Value>(kind: kinds.ValueKind<Value>, help: string): Setting<Value | null> {
  const format = (value: Value | null) => (value === null ? "" : kind.format(value));
  return { ...kind, format, default: null, defaultText: "none", help };
}
