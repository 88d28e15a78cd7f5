// The whole command line, and how its errors are printed.
// Flags are declared in config/flags.ts (settings) and in the file of the command that takes them.

import { Command, CommanderError, Help, type Option } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { ConfigError, readValueFiles, refuseSecretFlags } from "../config/flags.ts";
import { showHidden } from "../domain/text.ts";
import { CommandFailure, declareGroup, stackOf } from "./command.ts";
import { declareAlerts } from "./alerts.ts";
import { declareAudit } from "./audit.ts";
import { declareBackup } from "./backup.ts";
import { declareConfig } from "./config.ts";
import { declareDoctor } from "./doctor.ts";
import { declareGrants } from "./grants.ts";
import { declareHealth } from "./health.ts";
import { declareKeys } from "./keys.ts";
import { declareLicenses } from "./licenses.ts";
import { declareMove } from "./move.ts";
import { declareOrders } from "./orders.ts";
import { declarePanel } from "./administrators.ts";
import { declareProviders } from "./providers.ts";
import { declareQuickstart } from "./quickstart.ts";
import { declareReports } from "./reports.ts";
import { declareRestore } from "./restore.ts";
import { declareServe } from "./serve.ts";
import { declareServices } from "./services.ts";
import { printError } from "./output.ts";
import { usageError } from "./usage.ts";
import { declareTransactions } from "./transactions.ts";
import { declareUsers } from "./users.ts";
import { declareVerify } from "./verify.ts";
import { declareVersion } from "./version.ts";
import { declareWebhooks } from "./webhooks.ts";

const REFUSED = 1;
const WRONG_USAGE = 2;

/** Runs one command line. Returns the exit code; undefined while a server runs. */
export async function run(argv: readonly string[]): Promise<number | undefined> {
  try {
    await createProgram().parseAsync(helpLast(argv), { from: "user" });
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USAGE;
    if (error instanceof ConfigError) {
      printError(`error: ${error.message}`);
      return WRONG_USAGE;
    }
    if (error instanceof CommandFailure) {
      printError(`error: ${error.message}`);
      return REFUSED;
    }
    printError(
      `error: a fault in this program, please report it with these lines:\n${stackOf(error)}`,
    );
    return REFUSED;
  }
}

/** `help admin user` prints the same as `admin user --help`. */
function helpLast(argv: readonly string[]): string[] {
  return argv[0] === "help" ? [...argv.slice(1), "--help"] : [...argv];
}

export function createProgram(): Command {
  const program = new Command("reseller")
    .description("A self-hosted reseller ordering service.")
    .exitOverride()
    .showHelpAfterError("(add --help to see how it is used)")
    .version(packageJson.version, "--version", "print the version")
    .configureHelp({ optionDescription: describeOption })
    .configureOutput({ outputError: (message, write) => write(showHidden(usageError(message))) })
    .helpCommand(false)
    // `backup` has options and subcommands with the same options.
    .enablePositionalOptions()
    .hook("preAction", (_, command) => {
      refuseSecretFlags(command);
      readValueFiles(command);
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
  declareWebhooks(admin);
  declareAlerts(admin);
  declareTransactions(admin);
  declareAudit(admin);
  declareReports(program);
  declarePanel(program);
  declareConfig(program);
  declareBackup(program);
  declareRestore(program);
  declareMove(program);
  declareVerify(program);
  declareDoctor(program);
  declareHealth(program);
  declareVersion(program);
  declareLicenses(program);
  return program;
}

function describeOption(this: void, option: Option): string {
  const description = new Help().optionDescription(option);
  return option.mandatory ? `${description} (required)` : description;
}
