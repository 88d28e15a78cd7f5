// Group commit: a batch of commands in one transaction, answered only after its COMMIT.
// A command that is refused or throws is undone alone; its neighbours go on.

import { type Connection, savepoint, transact, type Tx } from "../db/connection.ts";
import { Refusal } from "../domain/errors.ts";
import { contextAt, runCommand } from "../operations/commands.ts";
import type { Reply, Request } from "./messages.ts";

/** SQLite's word for a disk or file that cannot be trusted any more. */
const FATAL = /^SQLITE_(IOERR|CORRUPT|NOTADB)/;
/** Nothing was written and a later try may succeed: no room, or another process holds the database. */
const PASSING = /^SQLITE_(FULL|BUSY|LOCKED)/;

/** The database cannot be trusted: whoever holds it must stop. */
export class FatalError extends Error {
  override name = "FatalError";
}

/** Throws FatalError only. When the commit fails, every command of the batch is answered with that. */
export function runBatch(connection: Connection, batch: readonly Request[], now: number): Reply[] {
  const context = contextAt(now);
  const runOne = (tx: Tx, { name, input }: Request): Reply => {
    try {
      return { done: savepoint(tx, () => runCommand(tx, name, input as never, context) as object) };
    } catch (error) {
      if (error instanceof Refusal) return { refused: error.code, details: error.details };
      // The transaction is gone or cannot be committed: nothing of this batch is kept.
      if (isDatabaseTrouble(error) || !tx.sqlite.inTransaction) throw error;
      return { failed: textOf(error) };
    }
  };
  try {
    return transact(connection, (tx) => batch.map((request) => runOne(tx, request)));
  } catch (error) {
    if (FATAL.test(codeOf(error))) throw new FatalError(textOf(error));
    const reply: Reply = PASSING.test(codeOf(error))
      ? { refused: "unavailable", details: null }
      : { failed: textOf(error) };
    return batch.map(() => reply);
  }
}

function isDatabaseTrouble(error: unknown): boolean {
  return FATAL.test(codeOf(error)) || PASSING.test(codeOf(error));
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
