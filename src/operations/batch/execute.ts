// Makes the ids of a command, and runs a command without the writer thread, as the command line does.
// Separate from commands.ts, so that the writer thread does not load the library that makes ids.

import { type Awaitable, type Store, transact, type Tx } from "../../db/port/port.ts";
import { createId, createSeed } from "../../db/port/ids.ts";
import {
  type CommandInput,
  type CommandName,
  type CommandOutput,
  countIds,
  runCommand,
} from "./commands.ts";
import { createContext } from "./context.ts";

/** Returns fresh ids for one command, in the order in which it takes them. */
export function createCommandIds<Name extends CommandName>(
  name: Name,
  input: CommandInput<Name>,
): string[] {
  return Array.from({ length: countIds(name, input) }, createId);
}

/** Runs a command in a transaction of its own, at the time `now`. */
export function execute<Name extends CommandName>(
  store: Store,
  name: Name,
  input: CommandInput<Name>,
  now: number,
): Awaitable<CommandOutput<Name>> {
  // Before the transaction, so that a large import does not hold the write lock while its ids are made.
  const ids = createCommandIds(name, input);
  const seed = createSeed();
  const run = (tx: Tx): unknown => runCommand(tx, name, input, createContext(now, ids, seed));
  return transact(store, run as (tx: Tx) => object) as Awaitable<CommandOutput<Name>>;
}
