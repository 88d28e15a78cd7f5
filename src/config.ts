// Flags and environment → one frozen, validated Config. The only place that knows the environment's variables.
// Every setting is a flag and a variable (--log-level ↔ RESELLER_LOG_LEVEL): flag, then variable, then default.

import { join, resolve } from "node:path";
import { InvalidArgumentError, Option } from "commander";
import { LOG_LEVELS, type LogLevel } from "./log.ts";

export interface Config {
  data: string;
  host: string;
  /** 0 takes a free port. */
  port: number;
  /** Milliseconds, like every duration here. */
  placeWait: number;
  placeRetry: number;
  providerTimeout: number;
  pollInterval: number;
  /** 0: no backups by itself. */
  backupEvery: number;
  /** Undefined: `backups` in the data directory. */
  backupDir?: string;
  backupKeep: number;
  logLevel: LogLevel;
}

/** Timers cannot wait for 2^31 ms or more. */
const DURATION_LIMIT_MS = 24 * 24 * 60 * 60 * 1000;
const UNITS_MS: Record<string, number> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const BACKUP_KEEP_LIMIT = 10_000;

/** The setting every command has. */
export function dataOption(): Option {
  return setting("data", "DIR", "folder of the database").default("./data").argParser(parseText);
}

/** The setting of what makes backups or looks for them. */
export function backupDirOption(): Option {
  const description = "folder of the backups (default: backups in --data)";
  return setting("backup-dir", "DIR", description).argParser(parseText);
}

/** The setting of every command that calls a provider. */
export function providerTimeoutOption(): Option {
  return duration("provider-timeout", "how long one call to a provider may take", "30s", 1);
}

/** The settings of `serve` besides --data. */
export function serveOptions(): Option[] {
  return [
    setting("host", "ADDRESS", "address to listen on").default("127.0.0.1").argParser(parseText),
    setting("port", "PORT", "port to listen on; 0 takes a free one")
      .default(8080)
      .argParser(parsePort),
    duration("place-wait", "how long POST /orders waits for the provider's answer", "10s", 0),
    duration("place-retry", "how long an order that could not be sent is tried again", "1h", 0),
    providerTimeoutOption(),
    duration("poll-interval", "shortest pause between two looks at an order", "60s", 1),
    duration("backup-every", "time between two backups; 0 turns them off", "24h", 0),
    backupDirOption(),
    setting("backup-keep", "N", "backups to keep").default(7).argParser(parseKeep),
    setting("log-level", "LEVEL", "least important event to log")
      .choices(LOG_LEVELS)
      .default("info"),
  ];
}

/** Absolute path of the folder of the backups. */
export function backupFolder({ data, backupDir }: Pick<Config, "data" | "backupDir">): string {
  return resolve(backupDir ?? join(data, "backups"));
}

/** The Config of `serve` from what the options above were parsed to. */
export function freezeConfig(options: Config): Config {
  return Object.freeze({ ...options });
}

function setting(name: string, placeholder: string, description: string): Option {
  const variable = `RESELLER_${name.toUpperCase().replaceAll("-", "_")}`;
  return new Option(`--${name} <${placeholder}>`, description).env(variable);
}

/** An empty host would listen on every interface, an empty folder would be the working directory. */
function parseText(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("must not be empty.");
  return text;
}

function duration(name: string, description: string, byDefault: string, leastMs: number): Option {
  return setting(name, "DURATION", description)
    .default(parseDuration(byDefault, leastMs), byDefault)
    .argParser((text) => parseDuration(text, leastMs));
}

function parseDuration(text: string, leastMs: number): number {
  const [, number, unit = ""] = /^(\d{1,10}(?:\.\d{1,3})?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const milliseconds = text === "0" ? 0 : Math.round(Number(number) * UNITS_MS[unit]!);
  if (!(milliseconds >= leastMs && milliseconds <= DURATION_LIMIT_MS)) {
    throw new InvalidArgumentError("must be a duration such as 500ms, 10s, 5m or 1h, at most 24d.");
  }
  return milliseconds;
}

function parseKeep(text: string): number {
  const keep = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(keep >= 1 && keep <= BACKUP_KEEP_LIMIT)) {
    throw new InvalidArgumentError(`must be a whole number from 1 to ${BACKUP_KEEP_LIMIT}.`);
  }
  return keep;
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new InvalidArgumentError("must be a port from 0 to 65535.");
  return port;
}
