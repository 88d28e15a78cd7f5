// A command run by the process that gives it, without the writer thread: what the command line does.
// Apart from commands.ts, so that the writer thread does not load the library that makes ids.

import { type Connection, transact, type Tx } from "../db/sqlite/connection.ts";
import { createCommandIds } from "./command-ids.ts";
import { type CommandInput, type CommandName, type CommandOutput, runCommand } from "./commands.ts";
import { contextOf } from "./context.ts";

/** Runs a command in a transaction of its own, at the time `now`. */
export function execute<Name extends CommandName>(
  connection: Connection,
  name: Name,
  input: CommandInput<Name>,
  now: number,
): CommandOutput<Name> {
  // Before the transaction, so that a large import does not hold the write lock while its ids are made.
  const context = contextOf(now, createCommandIds(name, input));
  const run = (tx: Tx): unknown => runCommand(tx, name, input, context);
  return transact(connection, run) as CommandOutput<Name>;
}

/** Runs a command inside a transaction that is open, at the time `now`. */
export function executeIn<Name extends CommandName>(
  tx: Tx,
  name: Name,
  input: CommandInput<Name>,
  now: number,
): CommandOutput<Name> {
  return runCommand(tx, name, input, contextOf(now, createCommandIds(name, input)));
}
