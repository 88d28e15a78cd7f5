// Flags and environment → one frozen, validated Config. The only place that knows the environment's variables.
// Every setting is a flag and a variable (--log-level ↔ RESELLER_LOG_LEVEL): flag, then variable, then the file
// that the variable with _FILE behind it names, then default.

import { join, resolve } from "node:path";
import { type Command, Option } from "commander";
import type { Network } from "./networks.ts";
import {
  type Endpoint,
  parseBytes,
  parseEndpoint,
  parseKeep,
  parseNetworks,
  parsePort,
  parseRateLimit,
  parseShare,
  parseText,
  parseTimer,
  valueText,
} from "./values.ts";
import { parseRate, parseSize, type Rate } from "../domain/units.ts";
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from "../monitoring/log.ts";
import { readSmallFile } from "./small-files.ts";

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
  logFormat: LogFormat;
  /** Which share of the successful reads is logged, 0 to 1. */
  logReads: number;
  /** Of one key; 0: no limit, of addresses neither. */
  rateLimit: Rate | 0;
  /** Whose word for a caller's address is taken. */
  trustedProxy: readonly Network[];
  metricsListen: Endpoint | null;
  /** Paths of PEM files; both or neither. */
  tlsCert: string | null;
  tlsKey: string | null;
  /** Bytes below which the server is not ready. */
  diskFloor: number;
}

/** Wrong usage that no single flag can be blamed for. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

const PREFIX = "RESELLER_";
const FILE_SUFFIX = "_FILE";
/** A file that a variable names holds one value, not a novel. */
const VALUE_FILE_LIMIT_BYTES = 64 * 1024;

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
    setting("tls-cert", "FILE", "certificate chain (PEM) to speak TLS with; SIGHUP reads it again")
      .default(null)
      .argParser(parseText),
    setting("tls-key", "FILE", "private key (PEM) of the certificate")
      .default(null)
      .argParser(parseText),
    setting("trusted-proxy", "CIDR[,CIDR]", "proxies whose X-Forwarded-For counts")
      .default([], "none")
      .argParser(parseNetworks),
    setting(
      "rate-limit",
      "RATE",
      "requests of one key: N/s, N/m or N/h, at once twice that; 0: none",
    )
      .default(parseRate("100/s"), "100/s")
      .argParser(parseRateLimit),
    setting(
      "metrics-listen",
      "ADDRESS:PORT",
      "where Prometheus may ask for /metrics; 0 turns it off",
    )
      .default(null, "off")
      .argParser(parseEndpoint),
    setting("disk-floor", "SIZE", "free room below which the server is not ready; 0: any")
      .default(parseSize("64MiB"), "64MiB")
      .argParser(parseBytes),
    duration("backup-every", "time between two backups; 0 turns them off", "24h", 0),
    backupDirOption(),
    setting("backup-keep", "N", "backups to keep").default(7).argParser(parseKeep),
    setting("log-level", "LEVEL", "least important event to log")
      .choices(LOG_LEVELS)
      .default("info"),
    setting("log-format", "FORMAT", "json: a line an event; pretty: for people; auto: by terminal")
      .choices(LOG_FORMATS)
      .default("auto"),
    setting("log-reads", "SHARE", "which share of the successful reads to log: all, none or 1%")
      .default(1, "all")
      .argParser(parseShare),
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

/** What is wrong with settings that are each well formed by themselves; null when nothing is. */
export function conflictOf({ tlsCert, tlsKey }: Config): string | null {
  if ((tlsCert === null) === (tlsKey === null)) return null;
  return "--tls-cert and --tls-key belong together: give both or neither";
}

export interface ShownSetting {
  name: string;
  value: string;
  /** `flag`, `variable RESELLER_…`, `file /path` or `default`. */
  origin: string;
}

/** Every setting of a command with its value and where that came from. */
export function showSettings(command: Command): ShownSetting[] {
  return command.options
    .filter(({ envVar }) => envVar !== undefined)
    .map((option) => {
      const name = option.attributeName();
      return {
        name: option.name(),
        value: valueText(name, command.getOptionValue(name)),
        origin: originOf(option, command.getOptionValueSource(name)),
      };
    });
}

/** Variables that begin like ours and mean nothing: a typing error, most likely. */
export function unknownVariables(command: Command): string[] {
  const known = new Set(command.options.flatMap(({ envVar }) => (envVar ? [envVar] : [])));
  return Object.keys(process.env)
    .filter((name) => name.startsWith(PREFIX))
    .filter((name) => !known.has(name) && !known.has(name.replace(/_FILE$/, "")))
    .toSorted();
}

function setting(name: string, placeholder: string, description: string): Option {
  const variable = PREFIX + name.toUpperCase().replaceAll("-", "_");
  readValueFile(variable);
  return new Option(`--${name} <${placeholder}>`, description).env(variable);
}

/** Variables whose value came from the file that the variable with _FILE names. */
const valueFiles = new Map<string, string>();

function readValueFile(variable: string): void {
  const path = process.env[variable + FILE_SUFFIX];
  if (path === undefined || process.env[variable] !== undefined) return;
  const wrong = (why: string) => new ConfigError(`${variable}${FILE_SUFFIX} names ${path}: ${why}`);
  let text: string;
  try {
    text = readSmallFile(path, VALUE_FILE_LIMIT_BYTES);
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : String(error));
  }
  // A private key, say: what follows would take its text for the path of one, and show it.
  if (text.trim().includes("\n")) {
    throw wrong(
      `more than one line is no value of a setting; for a file itself set ${variable} to its path`,
    );
  }
  process.env[variable] = text.trim();
  valueFiles.set(variable, path);
}

function originOf({ envVar = "" }: Option, source: string | undefined): string {
  if (source === "cli") return "flag";
  if (source !== "env") return "default";
  const file = valueFiles.get(envVar);
  return file === undefined ? `variable ${envVar}` : `file ${file}`;
}

function duration(name: string, description: string, byDefault: string, leastMs: number): Option {
  return setting(name, "DURATION", description)
    .default(parseTimer(byDefault, leastMs), byDefault)
    .argParser((text) => parseTimer(text, leastMs));
}
