// Declares the commands of this program: --data, --database and --json on each, an example in its help. Turns
// refusals and database errors into failures of the command. Exit codes: exit-codes.ts.

import { Command } from "commander";
import { databaseOptions } from "../../config/flags.ts";
import { BackupError } from "../../storage/backup/backup-error.ts";
import {
  type Awaitable,
  FatalError,
  OutcomeUnknownError,
  type Store,
  TransientError,
} from "../../db/port/port.ts";
import { databaseOpenErrorOf } from "../../db/postgres/connection/open-error.ts";
import { openErrorOf } from "../../storage/file/open-error.ts";
import { closeForCommand, openBesideOrAlone, openForCommand } from "../../storage/file/open.ts";
import { Refusal, sentenceOf } from "../../domain/values/error-table.ts";
import {
  type CommandInput,
  type CommandName,
  type CommandOutput,
  type UnsignedInput,
} from "../../operations/batch/commands.ts";
import { type DatabaseName, databaseOf } from "./database-name.ts";
import { operator } from "./operator.ts";
import { printError } from "../output/output.ts";
import { authorName } from "./values.ts";

const SIGNED_GROUPS = new Set(["admin", "panel"]);

export interface CommonOptions {
  data: string;
  /** Address of a PostgreSQL database, or null for the database in `data`. Contains a password: never print it. */
  database: string | null;
  json?: true;
  /** The name given by --as. */
  as?: string;
}

/** A failure with one sentence for the operator and a code for programs. Exit 1. */
export class CommandFailure extends Error {
  override name = "CommandFailure";

  constructor(
    message: string,
    readonly code = "failed",
    /** The errors of single rows, one sentence each. */
    readonly rows: readonly string[] = [],
  ) {
    super(message);
  }
}

/** Declares the command `usage` (name and arguments) below `parent`. */
export function declare(
  parent: Command,
  usage: string,
  description: string,
  example: string,
): Command {
  const command = parent.command(usage).description(description);
  for (const option of databaseOptions()) command.addOption(option);
  if (isSigned(parent)) {
    command.option("--as <name>", "for scripts: an additional name in the audit log", authorName);
  }
  return command
    .option("--json", "print the result as one JSON document")
    .addHelpText("after", `\nExample:\n  ${example}`);
}

/** Marks a command that needs no server: it reads a settings file only if one is named. */
export function withoutSettingsFile(command: Command): Command {
  command.setOptionValueWithSource("envFile", null, "default");
  return command;
}

/** Returns whether the audit log names an author for the commands of a group. */
function isSigned(group: Command): boolean {
  return SIGNED_GROUPS.has(group.name()) || (group.parent !== null && isSigned(group.parent));
}

/** Declares a command that only has subcommands. */
export function declareGroup(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description).helpCommand(false);
}

/** Access to the database for one command line: reads on the store, writes by named commands. */
export interface Session {
  store: Store;
  /** The current time in milliseconds since 1970, by this machine's clock, or PostgreSQL's. */
  now: () => number;
  /** Whether a server uses the database now. */
  hasServer: boolean;
  /** Whether no other process can use it. */
  isAlone: boolean;
  /** Executes a command with the operator as the author of the change. */
  execute: <Name extends CommandName>(
    name: Name,
    input: UnsignedInput<Name>,
  ) => Awaitable<CommandOutput<Name>>;
}

/**
 * Opens the database for `body` and closes it. Throws refusals and database errors as CommandFailure. `keepsServersOut`:
 * on SQLite no server can start beside the command. It runs beside one that is running.
 */
export async function withDatabase<T>(
  options: CommonOptions,
  body: (session: Session) => Awaitable<T>,
  keepsServersOut = false,
): Promise<T> {
  const database = databaseOf(options);
  try {
    const { close, ...opened } = await open(database, options, keepsServersOut);
    try {
      return await body(sessionOn(opened, options.as));
    } finally {
      await close();
    }
  } catch (error) {
    throw asFailure(error, database);
  }
}

type Opened = Pick<Session, "store" | "now" | "hasServer" | "isAlone">;

async function open(
  database: DatabaseName,
  { json }: CommonOptions,
  keepsServersOut: boolean,
): Promise<Opened & { close: () => Awaitable<void> }> {
  if (database.address !== null) {
    const postgres = await import("../../db/postgres/connection/open-for-command.ts");
    const opened = await postgres.openForCommand(database.address, {
      // With --json, stderr must hold at most one document.
      onAcknowledging: (acknowledges) =>
        acknowledges || json || printError(waitsForStandby(database)),
    });
    const { listRunningServers } = await import("../../db/postgres/connection/sessions.ts");
    const servers = keepsServersOut ? await opened.store.read(listRunningServers) : [];
    return {
      ...opened,
      hasServer: servers.length > 0,
      isAlone: false,
      close: () => opened.store.close(),
    };
  }
  const connection = keepsServersOut
    ? openBesideOrAlone(database.data)
    : { ...openForCommand(database.data), release: () => {} };
  const { store, release } = connection;
  const close = () => {
    closeForCommand(connection);
    release?.();
  };
  const isAlone = keepsServersOut && release !== null;
  return { store, now: Date.now, hasServer: release === null, isAlone, close };
}

function waitsForStandby({ shown }: DatabaseName): string {
  return `${shown} is waiting for a synchronous standby to confirm. The change is already local and will complete even if you stop this command`;
}

function sessionOn({ store, now, hasServer, isAlone }: Opened, as: string | undefined): Session {
  return {
    store,
    now,
    hasServer,
    isAlone,
    async execute(name, input) {
      const { execute } = await import("../../operations/batch/execute.ts");
      return execute(store, name, signed(input, as), now());
    },
  };
}

/** Returns a command's input with the operator as the author of the change. */
export function signed<Name extends CommandName>(
  input: UnsignedInput<Name>,
  as?: string,
): CommandInput<Name> {
  return { ...input, actor: operator(as) } as unknown as CommandInput<Name>;
}

/** Returns the error as a CommandFailure with a sentence for the operator. Internal errors are returned unchanged. */
export function asFailure(error: unknown, database: DatabaseName): unknown {
  const { address, shown } = database;
  if (error instanceof Refusal) {
    return new CommandFailure(`${sentenceOf(error)} (${shown})`, error.code);
  }
  if (error instanceof BackupError) return new CommandFailure(error.message);
  if (error instanceof OutcomeUnknownError) {
    return new CommandFailure(
      `the connection to ${shown} was lost during the commit: check whether the change was made before repeating it`,
      "outcome_unknown",
    );
  }
  const cause = causeOf(error);
  const openError =
    databaseOpenErrorOf(cause, shown) ?? (address === null ? openErrorOf(cause, shown) : undefined);
  if (openError) return new CommandFailure(openError.message, "database_error");
  if (!(error instanceof TransientError)) return error;
  return new CommandFailure(
    `${shown} is locked or unreachable. Nothing was changed; try again`,
    "service_unavailable",
  );
}

/** Returns the engine's own error behind an error of the port. */
function causeOf(error: unknown): unknown {
  const isWrapped = error instanceof TransientError || error instanceof FatalError;
  return isWrapped ? (error.cause ?? error) : error;
}

/** Returns the text of an internal error. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
