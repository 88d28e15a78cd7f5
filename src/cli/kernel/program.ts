// The whole command line, and the printing of its errors. Flags are declared in config/flags.ts (settings) and in the
// files of the commands that take them.

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
import { declareAlerts } from "../webhooks/alerts.ts";
import { findCommand } from "./command-tree.ts";
import { declareAudit } from "../administrators/audit.ts";
import { declareBackup } from "../storage/backup.ts";
import { declareCompletion } from "../about/completion.ts";
import { declareConfig } from "../server/config.ts";
import { declareDoctor } from "../server/doctor.ts";
import { declareGrants } from "../catalogue/grants.ts";
import { declareHealth } from "../server/health.ts";
import { declareKeys } from "../users/keys.ts";
import { declareLicenses } from "../about/licenses.ts";
import { declareMan } from "../about/man-page.ts";
import { declareMove } from "../storage/move.ts";
import { declareOrderRequests } from "../orders/order-requests.ts";
import { declareOrders } from "../orders/orders.ts";
import { declarePanel } from "../administrators/administrators.ts";
import { declareProviders } from "../providers/providers.ts";
import { declareQuickstart } from "../server/quickstart.ts";
import { declareReports } from "../reports/reports.ts";
import { declareRestore } from "../storage/restore.ts";
import { declareRestored } from "../storage/restored.ts";
import { declareServe } from "../server/serve.ts";
import { declareServices } from "../catalogue/services.ts";
import { printError, printFailure } from "../output/output.ts";
import { usageError } from "./usage.ts";
import { declareTransactions } from "../ledger/transactions.ts";
import { declareUsers } from "../users/users.ts";
import { declareVerify } from "../storage/verify.ts";
import { declareVersion } from "../about/version.ts";
import { declareWebhooks } from "../webhooks/webhooks.ts";

const REFUSED = 1;
const WRONG_USAGE = 2;
const FAULT = "a fault in this program, please report it with these lines:";

/** Runs one command line. Returns the exit code, or undefined while a server runs. */
export async function run(argv: readonly string[]): Promise<number | undefined> {
  const json = asksForJson(argv);
  const fail = (message: string, code: string, rows: readonly string[] = []) => {
    if (json) return printFailure(message, code, rows);
    for (const row of rows) printError(row);
    printError(`error: ${message}`);
  };
  try {
    const program = createProgram(json);
    refuseUnknownCommand(program, argv);
    await program.parseAsync(shortForms(argv), { from: "user" });
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      // Without --json, commander has already printed the message.
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
    if (error instanceof CommandFailure) fail(error.message, error.code, error.rows);
    else fail(`${FAULT}\n${stackOf(error)}`, "internal_error");
    return REFUSED;
  }
}

function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return argv.slice(0, end < 0 ? undefined : end).includes("--json");
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
  const words = isHelp ? argv.slice(1) : argv;
  const end = words.findIndex((word) => /^-./.test(word) && word !== "--");
  const { command, unknown } = findCommand(program, end < 0 ? words : words.slice(0, end));
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

/** Creates the program. With `json`, run prints errors as JSON. */
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
