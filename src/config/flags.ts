// Flags and environment → one frozen, validated Config. The only file that reads the environment's variables. Precedence: the flag (--log-level), the variable (RESELLER_LOG_LEVEL), the file that the
// variable with the suffix _FILE names (RESELLER_LOG_LEVEL_FILE), the default. docs/specification.md#settings.

import { join, resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { nearestOf } from "../domain/nearest.ts";
import { readSmallFile } from "./small-files.ts";
import { COMMAND_FLAGS, type Config, type Flag, type Setting, SETTINGS } from "./settings.ts";

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
  if (row.isSecret || row.isHidden) option.hideHelp();
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

/** Made once: nearly every command has them. */
let madeForDatabase: readonly Option[] | undefined;

export function databaseOptions(): readonly Option[] {
  return (madeForDatabase ??= DATABASE_FLAGS.map(settingOption));
}

/** The settings that only `serve` has. */
export function serveOptions(): Option[] {
  const flags = Object.keys(SETTINGS) as Flag[];
  const others = [...DATABASE_FLAGS, ...COMMAND_FLAGS];
  return flags.filter((flag) => !others.includes(flag)).map(settingOption);
}

/** The settings that only commands have, for `config show`. */
export function commandOptions(): Option[] {
  return COMMAND_FLAGS.map(settingOption);
}

/** Absolute path of the folder of the backups. */
export function backupFolder({ data, backupDir }: Pick<Config, "data" | "backupDir">): string {
  return resolve(backupDir ?? join(data, "backups"));
}

/** The Config of `serve` from its parsed options. */
export function freezeConfig(options: Config): Config {
  return Object.freeze({ ...options });
}

/** Commander keeps "" for a value that was parsed as null, such as `--panel-listen 0`. */
export function restoreNulls(command: Command): void {
  for (const option of command.options) {
    const name = option.attributeName();
    if (command.getOptionValue(name) !== "" || option.defaultValue !== null) continue;
    command.setOptionValueWithSource(name, null, command.getOptionValueSource(name));
  }
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

export interface UnknownVariable {
  name: string;
  /** The variable that was most likely meant. */
  nearest: string | null;
}

/** Variables with the prefix RESELLER_ that belong to no setting: most likely a typing error. */
export function unknownVariables(): UnknownVariable[] {
  const variables = Object.keys(SETTINGS).map(variableOf);
  const known = new Set(variables.flatMap((name) => [name, name + FILE_SUFFIX]));
  return Object.keys(process.env)
    .filter((name) => name.startsWith(PREFIX) && !known.has(name))
    .toSorted()
    .map((name) => ({ name, nearest: nearestOf(name, known) }));
}

/** Whether a person reads standard error on a terminal and did not turn colours off: https://no-color.org. */
export function wantsColor(): boolean {
  return process.stderr.isTTY && !process.env["NO_COLOR"];
}

/** Who ran sudo, as it says; anyone may set the variable. */
export function sudoUser(): string | undefined {
  return process.env["SUDO_USER"];
}

function originOf(flag: Flag, source: string | undefined): string {
  if (source === "cli") return "flag";
  if (source === "env") return `variable ${variableOf(flag)}`;
  return source ?? "default";
}

function isFlag(name: string): name is Flag {
  return name in SETTINGS;
}
