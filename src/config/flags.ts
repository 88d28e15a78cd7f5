// Turns flags and environment into one frozen, validated Config. Only this file reads environment variables.
// Precedence: the flag (--log-level), the variable (RESELLER_LOG_LEVEL), the file named by the variable with the
// suffix _FILE (RESELLER_LOG_LEVEL_FILE), the same two in the file of --env-file, the default.
// docs/specification/command-line.md#settings.

import { isAbsolute, join, resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { nearestOf } from "../domain/values/nearest.ts";
import { errorCode } from "../domain/values/error-table.ts";
import { EnvFileError, parseEnvFile } from "./env-file.ts";
import { readSmallFile } from "./small-files.ts";
import {
  COMMAND_FLAGS,
  type Config,
  DEFAULT_ENV_FILE,
  type Flag,
  type Setting,
  SETTINGS,
} from "./settings.ts";
import { NO_FILE } from "./values.ts";

/** Thrown for wrong usage that no single flag causes. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

const PREFIX = "RESELLER_";
const FILE_SUFFIX = "_FILE";
/** Maximum size of a file that holds one value. */
const VALUE_FILE_LIMIT_BYTES = 64 * 1024;
const ENV_FILE_LIMIT_BYTES = 1024 * 1024;
/** The data directory of deploy/reseller.service, unless its settings file names another. */
const UNIT_DATA = "/var/lib/reseller";

export function variableOf(flag: string): string {
  return PREFIX + flag.toUpperCase().replaceAll("-", "_");
}

/** Returns a setting as a command option. The environment is read when the command line is parsed. */
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

/** Refuses secrets given on the command line. */
export function refuseSecretFlags(command: Command): void {
  for (const option of command.options) {
    const name = option.name();
    if (!isFlag(name) || command.getOptionValueSource(option.attributeName()) !== "cli") continue;
    if (!(SETTINGS[name] as Setting<unknown>).isSecret) continue;
    const variable = variableOf(name);
    throw new ConfigError(
      `everyone on this machine can read command lines: set ${variable} or ${variable}${FILE_SUFFIX} instead of using --${name}`,
    );
  }
}

/** Returns the environment for a process of this program that must use the same values of `flags`. */
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
  // This process has already read the --env-file, if there is one.
  environment[variableOf("env-file")] = NO_FILE;
  return environment;
}

/** Returns the default of every setting, whatever the environment says. */
export function settingDefaults(): Config {
  const rows = Object.entries(SETTINGS).map(([flag, row]) => [
    camelCase(flag as Flag),
    row.default,
  ]);
  return Object.fromEntries(rows) as Config;
}

function camelCase(flag: Flag): keyof Config {
  return flag.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()) as keyof Config;
}

/** The settings of every command: which database to use, and the settings file. */
const DATABASE_FLAGS: readonly Flag[] = ["data", "database", "env-file"];

/** Created once, because nearly every command has these options. */
let madeForDatabase: readonly Option[] | undefined;

export function databaseOptions(): readonly Option[] {
  return (madeForDatabase ??= DATABASE_FLAGS.map(settingOption));
}

/** Returns the settings that only `serve` has. */
export function serveOptions(): Option[] {
  const flags = Object.keys(SETTINGS) as Flag[];
  const others = [...DATABASE_FLAGS, ...COMMAND_FLAGS];
  return flags.filter((flag) => !others.includes(flag)).map(settingOption);
}

/** Returns the settings that only commands have, for `config show`. */
export function commandOptions(): Option[] {
  return COMMAND_FLAGS.map(settingOption);
}

/** Returns the absolute path of the backup folder. */
export function backupFolder({ data, backupDir }: Pick<Config, "data" | "backupDir">): string {
  return resolve(backupDir ?? join(data, "backups"));
}

/** Returns the frozen Config of `serve` from its parsed options. */
export function freezeConfig(options: Config): Config {
  return Object.freeze({ ...options });
}

/** Restores null for options parsed as null, such as `--panel-listen 0`: commander stores "" for them. */
export function restoreNulls(command: Command): void {
  for (const option of command.options) {
    const name = option.attributeName();
    if (command.getOptionValue(name) !== "" || option.defaultValue !== null) continue;
    command.setOptionValueWithSource(name, null, command.getOptionValueSource(name));
  }
}

/** Reads the files named by variables with the suffix _FILE, for settings given neither by flag nor by variable. */
export function readValueFiles(command: Command): void {
  for (const option of ungiven(command)) {
    const path = process.env[option.envVar! + FILE_SUFFIX];
    if (path === undefined) continue;
    setValue(command, option, readValueFile(option.envVar!, path), `file ${path}`);
  }
}

/** Returns the options with a variable that still have their default. */
function ungiven(command: Command): Option[] {
  return command.options.filter(
    (option) => option.envVar !== undefined && sourceOf(command, option.name()) === "default",
  );
}

function sourceOf(command: Command, flag: string): string | undefined {
  const option = command.options.find((each) => each.name() === flag);
  return option && command.getOptionValueSource(option.attributeName());
}

function setValue(command: Command, option: Option, given: string, source: string): void {
  try {
    const value: unknown = option.parseArg?.(given, undefined);
    command.setOptionValueWithSource(option.attributeName(), value, source);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    // Uses the same message as commander does for a variable.
    command.error(
      `error: option '${option.flags}' value '${given}' from env '${option.envVar}' is invalid. ${error.message}`,
    );
  }
}

/** Options by which a command line names its database or server. */
const NAMES_DATABASE = ["data", "database", "url"];

/** The variable names that a command found in the file of --env-file. */
const fileVariables = new WeakMap<Command, readonly string[]>();

/**
 * Reads the file of --env-file for settings not given in any other way. Returns a sentence for the person who runs
 * the command, or null. A database named by flag or variable is used regardless of the file. Without such a name, a
 * file that exists but cannot be read is refused: any database would be a guess.
 */
export function readEnvFile(command: Command): string | null {
  const source = sourceOf(command, "env-file");
  const path = command.opts<Partial<Config>>().envFile;
  // Commander stores "" for `none`.
  if (source === undefined || !path) return null;
  const isNamed = namesDatabase(command);
  let text: string;
  try {
    text = readSmallFile(path, ENV_FILE_LIMIT_BYTES);
  } catch (error) {
    const code = errorCode(error);
    const why = code || (error instanceof Error ? error.message : String(error));
    if (source !== "default") throw new ConfigError(`--env-file ${path} cannot be read: ${why}`);
    command.setOptionValueWithSource("envFile", null, "default");
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    if (isNamed) return `${path} cannot be read (${why}): its settings are ignored`;
    throw new ConfigError(
      `${path} holds the service's database settings and cannot be read (${why}): run this as the service's user (sudo -u reseller), or choose the database with --data or --database`,
    );
  }
  return applyEnvFile(command, path, variablesIn(path, text), isNamed);
}

function variablesIn(path: string, text: string): Map<string, string> {
  try {
    return parseEnvFile(text);
  } catch (error) {
    if (!(error instanceof EnvFileError)) throw error;
    throw new ConfigError(`${path}: ${error.message}`);
  }
}

function applyEnvFile(
  command: Command,
  path: string,
  variables: Map<string, string>,
  isNamed: boolean,
): string | null {
  fileVariables.set(command, [...variables.keys()]);
  const source = `file ${path}`;
  let isUsed = false;
  for (const option of ungiven(command)) {
    const variable = option.envVar!;
    if (isNamed && NAMES_DATABASE.includes(option.name())) continue;
    const given = variables.get(variable);
    const valueFile = variables.get(variable + FILE_SUFFIX);
    if (given === undefined && valueFile === undefined) continue;
    const value = given ?? readValueFile(variable, valueFile!);
    // The unit runs in another working directory.
    if (option.name() === "data" && !isAbsolute(value)) {
      throw new ConfigError(`${variable} in ${path} must be an absolute path`);
    }
    setValue(command, option, value, source);
    isUsed = true;
  }
  if (!isNamed && path === DEFAULT_ENV_FILE && sourceOf(command, "data") === "default") {
    command.setOptionValueWithSource("data", UNIT_DATA, "default of the systemd unit");
    isUsed = true;
  }
  const elsewhere = variableOf("database");
  if (isNamed && sourceOf(command, "database") === "default" && hasValue(variables, elsewhere)) {
    return `${elsewhere} in ${path} is ignored: this command line chooses the database itself`;
  }
  return isUsed ? `settings from ${path}` : null;
}

function hasValue(variables: Map<string, string>, variable: string): boolean {
  return variables.has(variable) || variables.has(variable + FILE_SUFFIX);
}

/** Returns whether flags or variables name the command's database or server. */
function namesDatabase(command: Command): boolean {
  const isGiven = (name: string) => {
    const source = sourceOf(command, name);
    return source !== undefined && source !== "default";
  };
  return NAMES_DATABASE.some(isGiven) || (isGiven("from") && isGiven("to"));
}

function readValueFile(variable: string, path: string): string {
  const wrong = (why: string) =>
    new ConfigError(`${variable}${FILE_SUFFIX}: cannot use ${path}: ${why}`);
  let content: string;
  try {
    content = readSmallFile(path, VALUE_FILE_LIMIT_BYTES).trim();
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : String(error));
  }
  // The content may be a private key instead of its path: later errors would print it as a path.
  if (content.includes("\n")) {
    throw wrong(`it has more than one line; to pass a file itself, set ${variable} to its path`);
  }
  return content;
}

export interface ShownSetting {
  name: string;
  value: string;
  /** `flag`, `variable RESELLER_…`, `file /path` or `default`. */
  origin: string;
}

/** Returns every setting of a command with its value and origin. */
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
  /** The known variable with the nearest name, or null. */
  nearest: string | null;
}

/**
 * Returns variables with the prefix RESELLER_ that belong to no setting: most likely typing errors. Those in the
 * file of --env-file are included.
 */
export function unknownVariables(command: Command): UnknownVariable[] {
  const variables = Object.keys(SETTINGS).map(variableOf);
  const known = new Set(variables.flatMap((name) => [name, name + FILE_SUFFIX]));
  // In a file the name may be `export RESELLER_PORT`, which systemd ignores.
  const inFile = (fileVariables.get(command) ?? []).filter((name) => name.includes(PREFIX));
  return [...new Set([...Object.keys(process.env), ...inFile])]
    .filter((name) => (name.startsWith(PREFIX) || inFile.includes(name)) && !known.has(name))
    .toSorted()
    .map((name) => ({ name, nearest: nearestOf(name, known) }));
}

/** Returns whether standard error is a terminal and colours are not turned off: https://no-color.org. */
export function wantsColor(): boolean {
  return process.stderr.isTTY && !process.env["NO_COLOR"];
}

/** The user who ran sudo, as reported by SUDO_USER. Anyone may set that variable. */
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
