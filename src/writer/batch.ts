// Group commit: a batch of commands in one transaction, answered only after its COMMIT.
// A command that is refused or throws is undone alone; its neighbours go on.

import {
  type Connection,
  isDatabaseError,
  isFatalError,
  isTransientError,
  savepoint,
  transact,
  type Tx,
} from "../db/connection.ts";
import { Refusal } from "../domain/errors.ts";
import { runCommand } from "../operations/commands.ts";
import { contextOf } from "../operations/context.ts";
import type { Reply, Request } from "./messages.ts";

/** The database cannot be trusted: whoever holds it must stop. */
export class FatalError extends Error {
  override name = "FatalError";
}

/** Throws FatalError only. When the commit fails, every command of the batch is answered with that. */
export function runBatch(connection: Connection, batch: readonly Request[], now: number): Reply[] {
  const runOne = (tx: Tx, { name, input, ids }: Request): Reply => {
    const context = contextOf(now, ids);
    try {
      return { done: savepoint(tx, () => runCommand(tx, name, input as never, context) as object) };
    } catch (error) {
      if (error instanceof Refusal) return { refused: error.code, details: error.details };
      // The transaction is gone or cannot be committed: nothing of this batch is kept.
      if (isDatabaseError(error) || !tx.sqlite.inTransaction) throw error;
      return { failed: textOf(error) };
    }
  };
  try {
    return transact(connection, (tx) => batch.map((request) => runOne(tx, request)));
  } catch (error) {
    if (isFatalError(error)) throw new FatalError(textOf(error));
    const reply: Reply = isTransientError(error)
      ? { refused: "service_unavailable", details: null }
      : { failed: textOf(error) };
    return batch.map(() => reply);
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
