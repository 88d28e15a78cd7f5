// How a command of this program is declared: --data and --json on each, an example in its help,
// exit 2 for wrong usage, 1 for a refusal or a failure.

import { Command } from "commander";
import { settingOption } from "../config/settings.ts";
import { BackupError } from "../storage/backup.ts";
import type { Connection } from "../db/connection.ts";
import { openErrorOf } from "../storage/open-error.ts";
import { closeForCommand, databasePath, openForCommand } from "../storage/open.ts";
import { Refusal } from "../domain/errors.ts";
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
  json?: true;
}

/** A failure with its one sentence for the operator. Exit 1. */
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
  return parent
    .command(usage)
    .description(description)
    .addOption(settingOption("data"))
    .option("--json", "print the result as one JSON document")
    .addHelpText("after", `\nExample:\n  ${example}`);
}

/** Declares a command that only holds others. */
export function declareGroup(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description).helpCommand(false);
}

/** The database as one command sees it: reads on the connection, writes by named commands. */
export interface Session {
  connection: Connection;
  /** Every command is signed with the operator's name. */
  execute: <Name extends CommandName>(
    name: Name,
    input: UnsignedInput<Name>,
  ) => CommandOutput<Name>;
}

/** Opens the database for `body` and closes it; refusals and failures come out as CommandFailure. */
export function withDatabase<T>(options: CommonOptions, body: (session: Session) => T): T {
  let connection: Connection | undefined;
  try {
    const open = (connection = openForCommand(options.data));
    return body({
      connection: open,
      execute: (name, input) => execute(open, name, signed(input), Date.now()),
    });
  } catch (error) {
    throw asFailure(error, databasePath(options.data));
  } finally {
    if (connection) closeForCommand(connection);
  }
}

/** A command as the operator gives it. */
export function signed<Name extends CommandName>(input: UnsignedInput<Name>): CommandInput<Name> {
  return { ...input, actor: operator() } as unknown as CommandInput<Name>;
}

/** What an error means to the operator; errors of ours stay as they are. */
export function asFailure(error: unknown, path: string): unknown {
  if (error instanceof Refusal) return new CommandFailure(`${sentenceOf(error)} (${path})`);
  if (error instanceof BackupError) return new CommandFailure(error.message);
  const trouble = openErrorOf(error, path);
  return trouble ? new CommandFailure(trouble.message) : error;
}

/** A fault of ours, for whoever mends it. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
