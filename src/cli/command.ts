// Declaring a command of this program: --data, --database and --json on each, an example in its help,
// exit 2 for wrong usage, 1 for a refusal or a failure.

import { Command } from "commander";
import { databaseOptions } from "../config/flags.ts";
import { BackupError } from "../storage/backup.ts";
import {
  type Awaitable,
  FatalError,
  OutcomeUnknownError,
  type Store,
  TransientError,
} from "../db/port.ts";
import { databaseOpenErrorOf } from "../db/postgres/open-error.ts";
import { openForCommand as openPostgres } from "../db/postgres/open-for-command.ts";
import { openErrorOf } from "../storage/open-error.ts";
import { closeForCommand, openForCommand } from "../storage/open.ts";
import { Refusal } from "../domain/refusals.ts";
import {
  type CommandInput,
  type CommandName,
  type CommandOutput,
  type UnsignedInput,
} from "../operations/commands.ts";
import { execute } from "../operations/execute.ts";
import { type DatabaseName, databaseOf } from "./database-name.ts";
import { sentenceOf } from "./errors.ts";
import { operator } from "./operator.ts";
import { printError } from "./output.ts";
import { authorName } from "./values.ts";

const SIGNED_GROUPS = new Set(["admin", "panel"]);

export interface CommonOptions {
  data: string;
  /** Of PostgreSQL; null: the database in `data`. Holds a password: never printed. */
  database: string | null;
  json?: true;
  /** The name of --as. */
  as?: string;
}

/** A failure, with one sentence for the operator, and a code for programs. Exit 1. */
export class CommandFailure extends Error {
  override name = "CommandFailure";

  constructor(
    message: string,
    readonly code = "failed",
  ) {
    super(message);
  }
}

/** Declares `usage` (name and arguments) below `parent`. */
export function declare(
  parent: Command,
  usage: string,
  description: string,
  example: string,
): Command {
  const command = parent.command(usage).description(description);
  for (const option of databaseOptions()) command.addOption(option);
  if (isSigned(parent)) {
    command.option("--as <name>", "for scripts: a name beside yours in the audit log", authorName);
  }
  return command
    .option("--json", "print the result as one JSON document")
    .addHelpText("after", `\nExample:\n  ${example}`);
}

/** Whether the commands of a group have an author in the audit log. */
function isSigned(group: Command): boolean {
  return SIGNED_GROUPS.has(group.name()) || (group.parent !== null && isSigned(group.parent));
}

/** Declares a command that only has subcommands. */
export function declareGroup(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description).helpCommand(false);
}

/** The database for one run of the command line: reads on the store, writes by named commands. */
export interface Session {
  store: Store;
  /** Adds the operator as the author of the change. */
  execute: <Name extends CommandName>(
    name: Name,
    input: UnsignedInput<Name>,
  ) => Awaitable<CommandOutput<Name>>;
}

/** Opens the database for `body` and closes it. Throws refusals and database errors as CommandFailure. */
export async function withDatabase<T>(
  options: CommonOptions,
  body: (session: Session) => Awaitable<T>,
): Promise<T> {
  const database = databaseOf(options);
  try {
    const { store, close } = await open(database, options);
    try {
      return await body(sessionOn(store, options.as));
    } finally {
      await close();
    }
  } catch (error) {
    throw asFailure(error, database);
  }
}

async function open(
  database: DatabaseName,
  { json }: CommonOptions,
): Promise<{ store: Store; close: () => Awaitable<void> }> {
  if (database.address !== null) {
    const store = await openPostgres(database.address, {
      // With --json stderr holds one document at most.
      onAcknowledging: (acknowledges) =>
        acknowledges || json || printError(waitsForStandby(database)),
    });
    return { store, close: () => store.close() };
  }
  const connection = openForCommand(database.data);
  return { store: connection.store, close: () => closeForCommand(connection) };
}

function waitsForStandby({ shown }: DatabaseName): string {
  return `${shown} waits for a synchronous standby to have the change: it is made once one is there; what ends this command does not undo it`;
}

function sessionOn(store: Store, as: string | undefined): Session {
  return {
    store,
    execute: (name, input) => execute(store, name, signed(input, as), Date.now()),
  };
}

/** A command's input with the operator as the author of the change. */
export function signed<Name extends CommandName>(
  input: UnsignedInput<Name>,
  as?: string,
): CommandInput<Name> {
  return { ...input, actor: operator(as) } as unknown as CommandInput<Name>;
}

/** An error as a sentence for the operator; an internal error is returned as it is. */
export function asFailure(error: unknown, database: DatabaseName): unknown {
  const { address, shown } = database;
  if (error instanceof Refusal) {
    return new CommandFailure(`${sentenceOf(error)} (${shown})`, error.code);
  }
  if (error instanceof BackupError) return new CommandFailure(error.message);
  if (error instanceof OutcomeUnknownError) {
    return new CommandFailure(
      `the connection to ${shown} was lost while the change was committed: look whether it was made before you make it again`,
      "outcome_unknown",
    );
  }
  const cause = causeOf(error);
  const openError =
    databaseOpenErrorOf(cause, shown) ?? (address === null ? openErrorOf(cause, shown) : undefined);
  if (openError) return new CommandFailure(openError.message, "database_error");
  if (!(error instanceof TransientError)) return error;
  return new CommandFailure(
    `${shown} is busy or away: nothing was changed, try again`,
    "service_unavailable",
  );
}

/** What an engine met, below what the port makes of it. */
function causeOf(error: unknown): unknown {
  const isWrapped = error instanceof TransientError || error instanceof FatalError;
  return isWrapped ? (error.cause ?? error) : error;
}

/** The text of an internal error. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
