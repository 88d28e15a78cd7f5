// The whole command line, and how its errors are printed.
// Flags are declared in config/flags.ts (settings) and in the file of the command that takes them.

import type { EventEmitter } from "node:events";
import { Command, CommanderError, Help, type Option } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { ConfigError, readValueFiles, refuseSecretFlags, restoreNulls } from "../config/flags.ts";
import { nearestOf } from "../domain/nearest.ts";
import { showHidden } from "../domain/text.ts";
import { CommandFailure, declareGroup, stackOf } from "./command.ts";
import { declareAlerts } from "./alerts.ts";
import { findCommand } from "./command-tree.ts";
import { declareAudit } from "./audit.ts";
import { declareBackup } from "./backup.ts";
import { declareCompletion } from "./completion.ts";
import { declareConfig } from "./config.ts";
import { declareDoctor } from "./doctor.ts";
import { declareGrants } from "./grants.ts";
import { declareHealth } from "./health.ts";
import { declareKeys } from "./keys.ts";
import { declareLicenses } from "./licenses.ts";
import { declareMan } from "./man-page.ts";
import { declareMove } from "./move.ts";
import { declareOrderRequests } from "./order-requests.ts";
import { declareOrders } from "./orders.ts";
import { declarePanel } from "./administrators.ts";
import { declareProviders } from "./providers.ts";
import { declareQuickstart } from "./quickstart.ts";
import { declareReports } from "./reports.ts";
import { declareRestore } from "./restore.ts";
import { declareRestored } from "./restored.ts";
import { declareServe } from "./serve.ts";
import { declareServices } from "./services.ts";
import { printError, printFailure } from "./output.ts";
import { usageError } from "./usage.ts";
import { declareTransactions } from "./transactions.ts";
import { declareUsers } from "./users.ts";
import { declareVerify } from "./verify.ts";
import { declareVersion } from "./version.ts";
import { declareWebhooks } from "./webhooks.ts";

const REFUSED = 1;
const WRONG_USAGE = 2;
const FAULT = "a fault in this program, please report it with these lines:";

/** Runs one command line. Returns the exit code; undefined while a server runs. */
export async function run(argv: readonly string[]): Promise<number | undefined> {
  const json = asksForJson(argv);
  const fail = (message: string, code: string) =>
    json ? printFailure(message, code) : printError(`error: ${message}`);
  try {
    const program = createProgram(json);
    refuseUnknownCommand(program, argv);
    await program.parseAsync(shortForms(argv), { from: "user" });
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      // Without --json commander has printed it.
      if (json)
        printFailure(
          usageError(error.message)
            .trim()
            .replace(/^error: /, ""),
          "wrong_usage",
        );
      return WRONG_USAGE;
    }
    if (error instanceof ConfigError) {
      fail(error.message, "wrong_usage");
      return WRONG_USAGE;
    }
    if (error instanceof CommandFailure) fail(error.message, error.code);
    else fail(`${FAULT}\n${stackOf(error)}`, "internal_error");
    return REFUSED;
  }
}

function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return argv.slice(0, end < 0 ? undefined : end).includes("--json");
}

/** `help admin user` prints the same as `admin user --help`; `-v` is `-V`. */
function shortForms(argv: readonly string[]): string[] {
  if (argv[0] === "help") return [...argv.slice(1), "--help"];
  return argv[0] === "-v" ? ["-V", ...argv.slice(1)] : [...argv];
}

/**
 * Commander prints the help of what it does know, and exit 0, where help is asked for of a command that there is none of, and
 * names none where none is near: `user add`. A command of `admin` that is asked for without it, or the other way round, is near
 * too: `reseller user list`, `reseller admin report`.
 */
function refuseUnknownCommand(program: Command, argv: readonly string[]): void {
  const isHelp = argv[0] === "help";
  const words = isHelp ? argv.slice(1) : argv;
  const end = words.findIndex((word) => /^-./.test(word) && word !== "--");
  const { command, unknown } = findCommand(program, end < 0 ? words : words.slice(0, end));
  const takesWords = command.registeredArguments.length > 0 && !isHelp;
  if (unknown === null || takesWords) return;
  const near = elsewhere(program, command, unknown) ?? nearestOf(unknown, namesOf(command));
  const asksForHelp = isHelp || argv.includes("--help") || argv.includes("-h");
  // Too many arguments are commander's to refuse.
  if (!asksForHelp && command.commands.length === 0) return;
  // A group may say what there is in the place of a word. Commander's types leave out that it is one.
  if (!asksForHelp) (command as unknown as EventEmitter).emit("command:*", [unknown]);
  const names = namesOf(command);
  const all = names.length === 0 ? "" : `\n(Commands: ${names.join(", ")})`;
  const hint = near === null ? all : `\n(Did you mean ${near}?)`;
  command.error(`error: unknown command '${unknown}'${hint}`);
}

/** The same word on the other side of `admin`. */
function elsewhere(program: Command, command: Command, word: string): string | null {
  const admin = program.commands.find((child) => child.name() === "admin")!;
  if (command === program && namesOf(admin).includes(word)) return `reseller admin ${word}`;
  return command === admin && namesOf(program).includes(word) ? `reseller ${word}` : null;
}

function namesOf({ commands }: Command): string[] {
  return commands.map((child) => child.name());
}

/** `json`: errors are printed by run, as JSON. */
export function createProgram(json = false): Command {
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
    // `backup` has options and subcommands with the same options.
    .enablePositionalOptions()
    .hook("preAction", (_, command) => {
      refuseSecretFlags(command);
      readValueFiles(command);
      restoreNulls(command);
    })
    .addHelpText(
      "after",
      "\nStart here:\n  reseller quickstart        a demo to try, on ./data\n  reseller serve             the real thing\n  reseller admin --help      users, keys, services and orders",
    );
  declareServe(program);
  declareQuickstart(program);
  const admin = declareGroup(program, "admin", "users, keys, services, providers and orders");
  declareUsers(admin);
  declareKeys(admin);
  declareServices(admin);
  declareGrants(admin);
  declareProviders(admin);
  declareOrders(admin);
  declareOrderRequests(admin);
  declareWebhooks(admin);
  declareAlerts(admin);
  declareTransactions(admin);
  declareAudit(admin);
  declareReports(program);
  declarePanel(program);
  declareConfig(program);
  declareBackup(program);
  declareRestore(program);
  declareRestored(program);
  declareMove(program);
  declareVerify(program);
  declareDoctor(program);
  declareHealth(program);
  declareVersion(program);
  declareLicenses(program);
  declareCompletion(program);
  declareMan(program);
  return program;
}

function describeOption(this: void, option: Option): string {
  const description = new Help().optionDescription(option);
  return option.mandatory ? `${description} (required)` : description;
}
