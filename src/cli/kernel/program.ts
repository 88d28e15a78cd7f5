// Runs a command line and prints its errors. Flags are declared in config/flags.ts (settings) and in the files of the
// commands that take them.

import type { EventEmitter } from "node:events";
import { Command, CommanderError, Help, type Option } from "commander";
import packageJson from "../../../package.json" with { type: "json" };
import {
  ConfigError,
  readEnvFile,
  readValueFiles,
  refuseSecretFlags,
  restoreNulls,
} from "../../config/flags.ts";
import { nearestOf } from "../../domain/values/nearest.ts";
import { showHidden } from "../../domain/values/text.ts";
import { CommandFailure, declareGroup, stackOf } from "./command.ts";
import { findCommand } from "./command-tree.ts";
import type { DeferredCommand } from "./deferred-command.ts";
import { EXIT, exitCodeOf } from "./exit-codes.ts";
import { commands as about } from "../about/commands.ts";
import { commands as administrators, panelCommands } from "../administrators/commands.ts";
import { commands as catalogue } from "../catalogue/commands.ts";
import { commands as imports } from "../imports/commands.ts";
import { commands as ledger } from "../ledger/commands.ts";
import { commands as mails } from "../mails/commands.ts";
import { commands as members } from "../members/commands.ts";
import { commands as orders } from "../orders/commands.ts";
import { commands as payments } from "../payments/commands.ts";
import { commands as providers } from "../providers/commands.ts";
import { commands as reports } from "../reports/commands.ts";
import { checkCommands, commands as server, startCommands } from "../server/commands.ts";
import { commands as storage } from "../storage/commands.ts";
import { commands as users } from "../users/commands.ts";
import { commands as webhooks } from "../webhooks/commands.ts";
import { printError, printFailure } from "../output/output.ts";
import { usageError } from "./usage.ts";

/** Commands below `admin`, in the order of its help. */
export const ADMIN: readonly DeferredCommand[] = [
  ...users,
  ...members,
  ...mails,
  ...catalogue,
  ...providers,
  ...orders,
  ...webhooks,
  ...ledger,
  ...administrators,
  ...payments,
  ...imports,
];
/** Commands below the program that follow `admin` in its help. */
const OTHERS = [...reports, ...panelCommands, ...server, ...storage, ...checkCommands, ...about];
/** All commands below the program but `admin`. */
export const TOP: readonly DeferredCommand[] = [...startCommands, ...OTHERS];

const FAULT = "this is a bug in reseller; please report it with these lines:";

/** Runs one command line. Returns the exit code, or undefined while a server runs. */
export async function run(argv: readonly string[]): Promise<number | undefined> {
  const json = asksForJson(argv);
  const fail = (message: string, code: string, rows: readonly string[] = []) => {
    if (json) return printFailure(message, code, rows);
    for (const row of rows) printError(row);
    printError(`error: ${message}`);
  };
  try {
    const program = await createProgram(json, commandNamed(argv));
    refuseUnknownCommand(program, argv);
    await program.parseAsync(shortForms(argv), { from: "user" });
    return undefined;
  } catch (error) {
    const exitCode = exitCodeOf(error);
    if (error instanceof CommanderError) {
      // Without --json, commander has already printed the message.
      if (json && exitCode !== EXIT.done) {
        const message = usageError(error.message).trim();
        printFailure(message.replace(/^error: /, ""), "wrong_usage");
      }
    } else if (error instanceof ConfigError) fail(error.message, "wrong_usage");
    else if (error instanceof CommandFailure) fail(error.message, error.code, error.rows);
    else fail(`${FAULT}\n${stackOf(error)}`, "internal_error");
    return exitCode;
  }
}

function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return argv.slice(0, end < 0 ? undefined : end).includes("--json");
}

/** Returns the words before the first flag: the names of commands, and perhaps arguments. */
function leadingWords(argv: readonly string[]): readonly string[] {
  const words = argv[0] === "help" ? argv.slice(1) : argv;
  const end = words.findIndex((word) => /^-./.test(word) && word !== "--");
  return end < 0 ? words : words.slice(0, end);
}

/**
 * Returns the only command that the command line needs. Null if it needs all: it names none, or one that describes all.
 */
export function commandNamed(argv: readonly string[]): DeferredCommand | null {
  const asksForVersion = argv.length === 1 && ["-v", "-V", "--version"].includes(argv[0]!);
  const [first, second] = asksForVersion ? ["version"] : leadingWords(argv);
  const [commands, name] = first === "admin" ? [ADMIN, second] : [TOP, first];
  const named = commands.find((command) => command.name === name);
  return named === undefined || named.describesAll ? null : named;
}

/** Replaces short forms: `help admin user` means `admin user --help`, and `-v` means `-V`. */
function shortForms(argv: readonly string[]): string[] {
  if (argv[0] === "help") return [...argv.slice(1), "--help"];
  return argv[0] === "-v" ? ["-V", ...argv.slice(1)] : [...argv];
}

/**
 * Refuses unknown commands. Commander itself is not enough. When help is asked for an unknown command, such as
 * `help user add`, it prints the parent's help and exits 0. It suggests nothing if no name is similar. This function
 * also suggests the same command with or without `admin`: `reseller user list`, `reseller admin report`.
 */
function refuseUnknownCommand(program: Command, argv: readonly string[]): void {
  const isHelp = argv[0] === "help";
  const { command, unknown } = findCommand(program, leadingWords(argv));
  const takesWords = command.registeredArguments.length > 0 && !isHelp;
  if (unknown === null || takesWords) return;
  const near = elsewhere(program, command, unknown) ?? nearestOf(unknown, namesOf(command));
  const asksForHelp = isHelp || argv.includes("--help") || argv.includes("-h");
  // Commander refuses too many arguments itself.
  if (!asksForHelp && command.commands.length === 0) return;
  // A group may explain a word itself, by a listener. Commander's types do not say that a command is an EventEmitter.
  if (!asksForHelp) (command as unknown as EventEmitter).emit("command:*", [unknown]);
  const names = namesOf(command);
  const all = names.length === 0 ? "" : `\n(Commands: ${names.join(", ")})`;
  const hint = near === null ? all : `\n(Did you mean ${near}?)`;
  command.error(`error: unknown command '${unknown}'${hint}`);
}

/** Returns the command with the same word on the other side of `admin`, or null. */
function elsewhere(program: Command, command: Command, word: string): string | null {
  const admin = program.commands.find((child) => child.name() === "admin")!;
  if (command === program && namesOf(admin).includes(word)) return `reseller admin ${word}`;
  return command === admin && namesOf(program).includes(word) ? `reseller ${word}` : null;
}

function namesOf({ commands }: Command): string[] {
  return commands.map((child) => child.name());
}

/**
 * Creates the program with all commands, or with `only` one. With `json`, run prints errors as JSON.
 */
export async function createProgram(
  json = false,
  only: DeferredCommand | null = null,
): Promise<Command> {
  const program = new Command("reseller")
    .description("A self-hosted reseller ordering service.")
    .exitOverride()
    .showHelpAfterError(json ? false : "(add --help to see how it is used)")
    .version(packageJson.version, "-V, --version", "print the version (also -v)")
    .configureHelp({ optionDescription: describeOption })
    .configureOutput(
      json
        ? { writeErr() {}, outputError() {} }
        : { outputError: (message, write) => write(showHidden(usageError(message))) },
    )
    .helpCommand(false)
    // `backup` and its subcommands have options with the same names.
    .enablePositionalOptions()
    .hook("preAction", (_, command) => {
      refuseSecretFlags(command);
      readValueFiles(command);
      const note = readEnvFile(command);
      restoreNulls(command);
      if (note !== null && !json && !showsOrigins(command)) printError(note);
    })
    .addHelpText(
      "after",
      "\nStart here:\n  reseller demo              try it; keeps nothing\n  reseller quickstart        try it in ./data\n  reseller serve             the real thing\n  reseller admin --help      users, keys, services and orders\n\nWhen something is wrong:\n  reseller admin alert list --open     what is wrong now, and the command for it\n  reseller doctor                      checks of the machine and the database",
    );
  const declareAll = async (parent: Command, commands: readonly DeferredCommand[]) => {
    const needed = only === null ? commands : commands.filter((command) => command === only);
    for (const declare of await Promise.all(needed.map(({ load }) => load()))) declare(parent);
  };
  await declareAll(program, startCommands);
  const admin = declareGroup(program, "admin", "users, keys, services, providers and orders");
  await declareAll(admin, ADMIN);
  await declareAll(program, OTHERS);
  return program;
}

/**
 * Returns whether the command itself shows the origin of each setting: in its result, or in the log, whose lines may
 * be JSON.
 */
function showsOrigins(command: Command): boolean {
  return command.name() === "serve" || command.parent?.name() === "config";
}

function describeOption(this: void, option: Option): string {
  const description = new Help().optionDescription(option);
  return option.mandatory ? `${description} (required)` : description;
}
