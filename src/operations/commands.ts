// Every command there is, by name. HTTP, the command line and the writer know commands by these names only.

import type { Tx } from "../db/connection.ts";
import type { Context } from "./context.ts";
import { expireIdempotencyRecords, recordResponse } from "./idempotency.ts";
import { createKey, endExpiredKeys, recordKeyUsage, rotateKey, setKeyActive } from "./keys.ts";
import { transitionOrder, placeOrder, placeOrderOnce, progressOrder } from "./orders.ts";
import {
  markInterruptedUnknown,
  finishAttempt,
  clampSchedules,
  settleOrder,
  startAttempt,
} from "./deliveries.ts";
import { createProvider, noteProviderSuccess, syncCatalogue } from "./providers.ts";
import { probe } from "./probe.ts";
import { placeOrders, placeOrdersOnce } from "./order-batches.ts";
import { recharge, rechargeOnce } from "./recharges.ts";
import { recordReports, takeDuePolls } from "./polling.ts";
import { carryOver } from "./restore.ts";
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

/** What becomes of a value on its way through JSON text. Nothing becomes of a bigint: JSON.stringify throws. */
type Json<T> = T extends bigint ? never : T extends object ? { [Key in keyof T]: Json<T[Key]> } : T;

/** The commands whose output can cross to another thread, which it does after their COMMIT: too late to throw. */
export type SubmittableName = {
  [Name in CommandName]: CommandOutput<Name> extends Json<CommandOutput<Name>> ? Name : never;
}[CommandName];

/** What a command holds besides whoever asked for it. */
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
