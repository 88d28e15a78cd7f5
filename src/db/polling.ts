// Which placed orders are to be looked at, what was reported too late, and how far behind the looking is.

import { asc, desc, eq, sql } from "drizzle-orm";
import type { OrderStatus } from "../domain/orders.ts";
import { type Connection, prepared, type Tx } from "./connection.ts";
import { lateReports, orders } from "./schema.ts";

/** What the next poll of an order is decided by. */
export interface DueOrder {
  orderId: number;
  status: OrderStatus;
  /** Set, and so is changedAt, of each order that is polled. */
  providerOrder: string | null;
  changedAt: number | null;
}

export interface LateReport {
  orderId: number;
  reported: OrderStatus;
  /** What the order was here by then. */
  status: OrderStatus;
  createdAt: number;
}

/** When the poll that has waited longest was due; in the future when none is late, NULL without one. */
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
    hurry: orm
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

/** The orders of a provider whose time has come, longest overdue first. */
export function listDuePolls(
  connection: Connection,
  providerId: number,
  now: number,
  limit: number,
): DueOrder[] {
  return queries(connection).due.all({ providerId, now, limit });
}

/** How many are due, counted no further than `limit`. */
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

/** Another order of that provider with that number, if there is one. */
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

/** Orders of a provider of which a change was reported after their end. */
export function countLate(connection: Connection, providerId: number): number {
  return queries(connection).lateCount.get({ providerId })?.late ?? 0;
}

export function updateNextPoll(tx: Tx, orderId: number, nextPollAt: number | null): void {
  queries(tx).setNext.run({ orderId, nextPollAt });
}

export function updatePolled(tx: Tx, orderId: number, polledAt: number): void {
  queries(tx).setPolled.run({ orderId, polledAt });
}

/** No open order is looked at later than `latest`. */
export function clampPollSchedule(tx: Tx, latest: number): void {
  queries(tx).hurry.run({ latest });
}

/** Listed once for each status that is reported. */
export function insertLateReport(tx: Tx, report: LateReport): void {
  queries(tx).insertLate.run({ ...report });
}
