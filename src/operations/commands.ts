// Every command by name, and how a batch of them is run in one transaction (group commit). HTTP, the command line and
// the writer know commands by these names only.

import { type Connection, savepoint, transact, type Tx } from "../db/sqlite/connection.ts";
import { isDatabaseError, isFatalError, isTransientError } from "../db/sqlite/errors.ts";
import { Refusal, type RefusalCode } from "../domain/refusals.ts";
import { type Context, contextOf } from "./context.ts";
import { expireIdempotencyRecords, recordResponse } from "./idempotency.ts";
import { createKey, endExpiredKeys, recordKeyUsage, rotateKey, setKeyActive } from "./keys.ts";
import { transitionOrder, placeOrder, placeOrderOnce, progressOrder } from "./orders.ts";
import {
  markInterruptedUnknown,
  finishAttempt,
  clampSchedules,
  startAttempt,
} from "./deliveries.ts";
import { createProvider, noteProviderSuccess, syncCatalogue } from "./providers.ts";
import { probe } from "./probe.ts";
import { placeOrders, placeOrdersOnce } from "./order-batches.ts";
import { recharge, rechargeOnce } from "./recharges.ts";
import { recordReports, takeDuePolls } from "./polling.ts";
import { carryOver } from "./restore.ts";
import { settleOrder } from "./settlement.ts";
import {
  createService,
  grantService,
  importServices,
  revokeService,
  setServiceActive,
  updateService,
} from "./services.ts";
import { addUptime } from "./uptime.ts";
import { createUser, creditUser, debitUser } from "./users.ts";

const commands = {
  createUser,
  creditUser,
  debitUser,
  createKey,
  setKeyActive,
  rotateKey,
  recordKeyUsage,
  createService,
  updateService,
  setServiceActive,
  importServices,
  grantService,
  revokeService,
  placeOrder,
  placeOrders,
  placeOrdersOnce,
  transitionOrder,
  progressOrder,
  startAttempt,
  finishAttempt,
  markInterruptedUnknown,
  settleOrder,
  takeDuePolls,
  recordReports,
  clampSchedules,
  createProvider,
  noteProviderSuccess,
  syncCatalogue,
  recharge,
  placeOrderOnce,
  rechargeOnce,
  recordResponse,
  expireIdempotencyRecords,
  carryOver,
  addUptime,
  endExpiredKeys,
  probe,
};

export type CommandName = keyof typeof commands;
export type CommandInput<Name extends CommandName> = Parameters<(typeof commands)[Name]>[1];
export type CommandOutput<Name extends CommandName> = ReturnType<(typeof commands)[Name]>;

/** A value after JSON.stringify and JSON.parse; `never` for a bigint, on which JSON.stringify throws. */
type Json<T> = T extends bigint ? never : T extends object ? { [Key in keyof T]: Json<T[Key]> } : T;

/** The commands whose output survives JSON: it is serialized after their COMMIT, when it is too late to throw. */
export type SubmittableName = {
  [Name in CommandName]: CommandOutput<Name> extends Json<CommandOutput<Name>> ? Name : never;
}[CommandName];

/** The input of a command without its actor. */
export type UnsignedInput<Name extends CommandName> = Omit<CommandInput<Name>, "actor">;

type Operation = (tx: Tx, input: unknown, context: Context) => unknown;

/** Runs a command inside a transaction that is open. Input and output are plain data. */
export function runCommand<Name extends CommandName>(
  tx: Tx,
  name: Name,
  input: CommandInput<Name>,
  context: Context,
): CommandOutput<Name> {
  return (commands[name] as Operation)(tx, input, context) as CommandOutput<Name>;
}

/** One command of a batch. */
export interface Request {
  name: CommandName;
  input: unknown;
  /** For the rows that the command creates (command-ids.ts). */
  ids: string[];
}

/** The result of one command. `refused`: by a rule. `failed`: an internal error, with its text for the log. */
export type Reply =
  { done: unknown } | { refused: RefusalCode; details: unknown } | { failed: string };

/** The database or its disk cannot be trusted any more: the process must end. */
export class FatalError extends Error {
  override name = "FatalError";
}

/**
 * Runs a batch in one transaction and returns a reply for each command, in order, after the COMMIT. A command that is
 * refused or throws is rolled back alone. If the COMMIT fails, every command gets that as its reply.
 * Throws FatalError only.
 */
export function runBatch(connection: Connection, batch: readonly Request[], now: number): Reply[] {
  const runOne = (tx: Tx, { name, input, ids }: Request): Reply => {
    const context = contextOf(now, ids);
    try {
      return { done: savepoint(tx, () => runCommand(tx, name, input as never, context) as object) };
    } catch (error) {
      if (error instanceof Refusal) return { refused: error.code, details: error.details };
      // The transaction was rolled back or cannot be committed: no command of this batch takes effect.
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
