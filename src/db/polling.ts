// Polling: which orders are due, late reports, and how far polling is behind its schedule.

import { asc, desc, eq, sql } from "drizzle-orm";
import type { OrderStatus } from "../domain/orders.ts";
import { type Connection, prepared, type Tx } from "./sqlite/connection.ts";
import { lateReports, orders } from "./schema.ts";

/** The fields of an order that decide its next poll. */
export interface DueOrder {
  orderId: number;
  status: OrderStatus;
  /** Not null in an order that is polled, as is changedAt. */
  providerOrder: string | null;
  changedAt: number | null;
}

export interface LateReport {
  orderId: number;
  reported: OrderStatus;
  /** Our status of the order at that time. */
  status: OrderStatus;
  createdAt: number;
}

/** When the most overdue poll was due; in the future when none is overdue, NULL without a scheduled poll. */
export const OLDEST_DUE_POLL =
  "SELECT min(next_check_at) FROM orders WHERE next_check_at IS NOT NULL";

const queries = prepared((orm, sqlite) => {
  const isDue = sql`${orders.providerId} = ${sql.placeholder("providerId")}
    AND ${orders.nextPollAt} IS NOT NULL AND ${orders.nextPollAt} <= ${sql.placeholder("now")}`;
  return {
    due: orm
      .select({
        orderId: orders.orderId,
        status: orders.status,
        providerOrder: orders.providerOrder,
        changedAt: orders.changedAt,
      })
      .from(orders)
      .where(isDue)
      .orderBy(asc(orders.nextPollAt))
      .limit(sql.placeholder("limit"))
      .prepare(),
    countDue: orm
      .select({ due: sql<number>`count(*)` })
      .from(
        orm
          .select({ orderId: orders.orderId })
          .from(orders)
          .where(isDue)
          .limit(sql.placeholder("limit"))
          .as("due"),
      )
      .prepare(),
    oldestDue: sqlite.query<{ dueAt: number | null }, [number]>(
      `SELECT (${OLDEST_DUE_POLL} AND provider_id = ?) AS dueAt`,
    ),
    setNext: orm
      .update(orders)
      .set({ nextPollAt: sql`${sql.placeholder("nextPollAt")}` })
      .where(eq(orders.orderId, sql.placeholder("orderId")))
      .prepare(),
    setPolled: orm
      .update(orders)
      .set({ polledAt: sql`${sql.placeholder("polledAt")}` })
      .where(eq(orders.orderId, sql.placeholder("orderId")))
      .prepare(),
    clampSchedule: orm
      .update(orders)
      .set({ nextPollAt: sql`${sql.placeholder("latest")}` })
      .where(
        sql`${orders.nextPollAt} > ${sql.placeholder("latest")} AND ${orders.status} = 'PROCESSING'`,
      )
      .prepare(),
    insertLate: orm
      .insert(lateReports)
      .values({
        orderId: sql.placeholder("orderId"),
        reported: sql.placeholder("reported"),
        status: sql.placeholder("status"),
        createdAt: sql.placeholder("createdAt"),
      })
      .onConflictDoNothing()
      .prepare(),
    late: orm
      .select()
      .from(lateReports)
      .where(eq(lateReports.orderId, sql.placeholder("orderId")))
      .orderBy(asc(lateReports.createdAt))
      .prepare(),
    lateCount: orm
      .select({ late: sql<number>`count(DISTINCT ${lateReports.orderId})` })
      .from(lateReports)
      .innerJoin(orders, eq(orders.orderId, lateReports.orderId))
      .where(eq(orders.providerId, sql.placeholder("providerId")))
      .prepare(),
    byProviderOrder: orm
      .select({ orderId: orders.orderId })
      .from(orders)
      .where(
        sql`${orders.providerId} = ${sql.placeholder("providerId")}
          AND ${orders.providerOrder} = ${sql.placeholder("providerOrder")}
          AND ${orders.providerOrder} IS NOT NULL AND ${orders.orderId} <> ${sql.placeholder("except")}`,
      )
      .orderBy(desc(orders.orderId))
      .limit(1)
      .prepare(),
  };
});

/** The orders of a provider whose poll is due, longest overdue first. */
export function listDuePolls(
  connection: Connection,
  providerId: number,
  now: number,
  limit: number,
): DueOrder[] {
  return queries(connection).due.all({ providerId, now, limit });
}

/** How many polls are due, counted up to `limit`. */
export function countDuePolls(
  connection: Connection,
  providerId: number,
  now: number,
  limit: number,
): number {
  return queries(connection).countDue.get({ providerId, now, limit })?.due ?? 0;
}

/** OLDEST_DUE_POLL of a provider's orders. */
export function oldestDuePoll(connection: Connection, providerId: number): number | null {
  return queries(connection).oldestDue.get(providerId)?.dueAt ?? null;
}

/** Another order with the same provider and number. */
export function findByProviderOrder(
  connection: Connection,
  providerId: number,
  providerOrder: string,
  except: number,
): number | undefined {
  return queries(connection).byProviderOrder.get({ providerId, providerOrder, except })?.orderId;
}

export function listLateReports(connection: Connection, orderId: number): LateReport[] {
  return queries(connection).late.all({ orderId });
}

/** The orders of a provider with a late report. */
export function countLate(connection: Connection, providerId: number): number {
  return queries(connection).lateCount.get({ providerId })?.late ?? 0;
}

export function updateNextPoll(tx: Tx, orderId: number, nextPollAt: number | null): void {
  queries(tx).setNext.run({ orderId, nextPollAt });
}

export function updatePolled(tx: Tx, orderId: number, polledAt: number): void {
  queries(tx).setPolled.run({ orderId, polledAt });
}

/** Sets polls of open orders that are scheduled after `latest` to `latest`. */
export function clampPollSchedule(tx: Tx, latest: number): void {
  queries(tx).clampSchedule.run({ latest });
}

/** Stored once for each order and reported status. */
export function insertLateReport(tx: Tx, report: LateReport): void {
  queries(tx).insertLate.run({ ...report });
}
