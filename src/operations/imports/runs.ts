// The run of an import: its beginning, which reserves the numbers of its rows, and its end. Only one runs at a time, in a
// server or a command: it renews its time while it works. docs/specification/imports.md#moving-in.

import {
  beginPanelImport,
  endPanelImport,
  findPanelImport,
  highestOrderNumber,
  highestOrderNumberNow,
  renewPanelImport,
} from "../../db/imports/imports.ts";
import { reserveNumbers } from "../../db/ledger/number-floors.ts";
import type { Tx } from "../../db/port/port.ts";
import { IMPORT_LEASE_MS } from "../../domain/imports/runs.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { Refusal, refusal } from "../../domain/values/error-table.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";

export interface BeginImport {
  /** The id of this run, which no other run has. */
  run: string;
  /** The highest numbers of orders and services in the import. */
  orders: number;
  services: number;
  /** Whether no other process uses the database, so that no other import can be running. */
  isAlone: boolean;
  actor: Actor;
}

/**
 * Reserves the numbers of the import's orders and services: new ones get higher numbers. If orders were placed here
 * since an earlier import, the range stays as it is. Refuses: moving_in_running, moving_in_late.
 */
export function beginImport(tx: Tx, command: BeginImport, { now }: Context): null {
  const { run, orders, services } = command;
  const before = findPanelImport(tx);
  const isOther = before !== undefined && before.runId !== null && before.runId !== run;
  const left = isOther && !command.isAlone ? before.runUntil! - now : 0;
  // A time that is further away was set by another clock.
  if (left > 0 && left <= IMPORT_LEASE_MS) {
    throw new Refusal("moving_in_running", { seconds: Math.ceil(left / 1000) });
  }
  const through = before?.ordersThrough ?? 0;
  const isLate = (highest: number) => orders > through && highest > through;
  if (isLate(highestOrderNumber(tx))) throw refusal("moving_in_late");
  // This statement must come before every other write.
  reserveNumbers(tx, { orders, services });
  // On PostgreSQL an order may have been placed meanwhile. The transaction is rolled back.
  if (isLate(highestOrderNumberNow(tx))) throw refusal("moving_in_late");
  beginPanelImport(tx, { runId: run, runUntil: now + IMPORT_LEASE_MS }, orders, now);
  return null;
}

export interface RenewImport {
  run: string;
}

/** Keeps the import running. Returns false if it is not: another has begun since. */
export function renewImport(tx: Tx, { run }: RenewImport, { now }: Context): boolean {
  if (findPanelImport(tx)?.runId !== run) return false;
  renewPanelImport(tx, now + IMPORT_LEASE_MS);
  return true;
}

/** Records that the import stopped before its end, so that another may begin. */
export function stopImport(tx: Tx, { run }: RenewImport): null {
  if (findPanelImport(tx)?.runId === run) endPanelImport(tx, null);
  return null;
}

export interface FinishImport extends RenewImport {
  /** What was imported, for the audit log. */
  users: number;
  services: number;
  keys: number;
  pastOrders: number;
  openOrders: number;
  actor: Actor;
}

export function finishImport(
  tx: Tx,
  { actor, run, ...counts }: FinishImport,
  context: Context,
): null {
  // If another import has begun, it is the one that runs to the end.
  if (findPanelImport(tx)?.runId === run) endPanelImport(tx, context.now);
  if (Object.values(counts).every((count) => count === 0)) return null;
  audit(tx, context, {
    actor,
    action: "panel.import",
    subject: "another panel",
    account: null,
    before: null,
    after: { ...counts },
  });
  return null;
}
