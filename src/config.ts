// Flags and environment → one frozen, validated Config. The only place that knows the environment's variables.
// Every setting is a flag and a variable (--log-level ↔ RESELLER_LOG_LEVEL): flag, then variable, then default.

import { InvalidArgumentError, Option } from "commander";
import { LOG_LEVELS, type LogLevel } from "./log.ts";

export interface Config {
  data: string;
  host: string;
  /** 0 takes a free port. */
  port: number;
  logLevel: LogLevel;
}

/** The setting every command has. */
export function dataOption(): Option {
  return setting("data", "DIR", "folder of the database").default("./data").argParser(parseText);
}

/** The settings of `serve` besides --data. */
export function serveOptions(): Option[] {
  return [
    setting("host", "ADDRESS", "address to listen on").default("127.0.0.1").argParser(parseText),
    setting("port", "PORT", "port to listen on; 0 takes a free one")
      .default(8080)
      .argParser(parsePort),
    setting("log-level", "LEVEL", "least important event to log")
      .choices(LOG_LEVELS)
      .default("info"),
  ];
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

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new InvalidArgumentError("must be a port from 0 to 65535.");
  return port;
}
