// Declaring a command of this program: --data, --database and --json on each, an example in its help,
// exit 2 for wrong usage, 1 for a refusal or a failure.

import { Command } from "commander";
import { databaseOptions, SETTINGS } from "../config/settings.ts";
import { BackupError } from "../storage/backup.ts";
import {
  type Awaitable,
  FatalError,
  OutcomeUnknownError,
  type Store,
  TransientError,
} from "../db/port.ts";
import { parseAddress } from "../db/postgres/address.ts";
import { requireSchema } from "../db/postgres/migrate.ts";
import { databaseOpenErrorOf } from "../db/postgres/open-error.ts";
import { createPostgresStore } from "../db/postgres/store.ts";
import { openErrorOf } from "../storage/open-error.ts";
import { closeForCommand, databasePath, openForCommand } from "../storage/open.ts";
import { Refusal } from "../domain/refusals.ts";
import {
  type CommandInput,
  type CommandName,
  type CommandOutput,
  type UnsignedInput,
} from "../operations/commands.ts";
import { execute } from "../operations/execute.ts";
import { sentenceOf } from "./errors.ts";
import { operator } from "./operator.ts";

export interface CommonOptions {
  data: string;
  /** Of PostgreSQL; null: the database in `data`. Holds a password: never printed. */
  database: string | null;
  json?: true;
}

/** A failure, with one sentence for the operator. Exit 1. */
export class CommandFailure extends Error {
  override name = "CommandFailure";
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
  return command
    .option("--json", "print the result as one JSON document")
    .addHelpText("after", `\nExample:\n  ${example}`);
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
  const { data, database } = options;
  try {
    return await (database === null ? withFiles(data, body) : withPostgres(database, body));
  } catch (error) {
    throw asFailure(error, databaseName(options));
  }
}

type SessionBody<T> = (session: Session) => Awaitable<T>;

async function withFiles<T>(data: string, body: SessionBody<T>): Promise<T> {
  const connection = openForCommand(data);
  try {
    return await body(sessionOn(connection.store));
  } finally {
    closeForCommand(connection);
  }
}

async function withPostgres<T>(database: string, body: SessionBody<T>): Promise<T> {
  const address = parseAddress(database);
  await requireSchema(address);
  const store = createPostgresStore(address, { name: "reseller command", lanes: 1 });
  try {
    return await body(sessionOn(store));
  } finally {
    await store.close();
  }
}

/** The database, for people: the path of its file, or its address without user and password. */
export function databaseName({ data, database }: CommonOptions): string {
  return database === null ? databasePath(data) : SETTINGS.database.format(database);
}

/** Refuses --database for a command that works on files alone. `instead`: what does it on PostgreSQL. */
export function refusePostgres({ database }: CommonOptions, instead: string): void {
  if (database !== null) {
    throw new CommandFailure(`this is for a database in --data, not for PostgreSQL: ${instead}`);
  }
}

function sessionOn(store: Store): Session {
  return {
    store,
    execute: (name, input) => execute(store, name, signed(input), Date.now()),
  };
}

/** A command's input with the operator as the author of the change. */
export function signed<Name extends CommandName>(input: UnsignedInput<Name>): CommandInput<Name> {
  return { ...input, actor: operator() } as unknown as CommandInput<Name>;
}

/** An error as a sentence for the operator; an internal error is returned as it is. */
export function asFailure(error: unknown, path: string): unknown {
  if (error instanceof Refusal) return new CommandFailure(`${sentenceOf(error)} (${path})`);
  if (error instanceof BackupError) return new CommandFailure(error.message);
  if (error instanceof OutcomeUnknownError) {
    return new CommandFailure(
      `the connection to ${path} was lost in the middle of the change: look whether it was made before you repeat it`,
    );
  }
  const cause = causeOf(error);
  const openError = openErrorOf(cause, path) ?? databaseOpenErrorOf(cause, path);
  if (openError) return new CommandFailure(openError.message);
  if (!(error instanceof TransientError)) return error;
  return new CommandFailure(`${path} is busy or away: nothing was changed, try again`);
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
