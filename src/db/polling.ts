// Polling: which orders are due, and how far polling is behind its schedule. Late reports: late-reports.ts.

import type { OrderStatus } from "../domain/orders.ts";
import type { Reader, Tx } from "./port.ts";
import { fields, query, select, statement } from "./query.ts";
import { nullable, number, text } from "./table-definition.ts";
import { orders } from "./tables.ts";

/** The fields of an order that decide its next poll. */
export interface DueOrder {
  orderId: number;
  status: OrderStatus;
  /** Not null in an order that is polled, as is changedAt. */
  providerOrder: string | null;
  changedAt: number | null;
}

/** When the most overdue poll was due; in the future when none is overdue, NULL without a scheduled poll. */
export const OLDEST_DUE_POLL =
  "SELECT min(next_check_at) FROM orders WHERE next_check_at IS NOT NULL";

const IS_DUE = "provider_id = :providerId AND next_check_at IS NOT NULL AND next_check_at <= :now";

const DUE = query({
  takes: { providerId: number, now: number, limit: number },
  gives: fields(orders, "orderId", "status", "providerOrder", "changedAt"),
  text: `SELECT ${select(orders, "orderId", "status", "providerOrder", "changedAt")} FROM orders
    WHERE ${IS_DUE} ORDER BY next_check_at, order_id LIMIT :limit`,
});

const COUNT_DUE = query({
  takes: { providerId: number, now: number, limit: number },
  gives: { due: number },
  text: `SELECT count(*) AS "due" FROM (SELECT order_id FROM orders WHERE ${IS_DUE} LIMIT :limit) AS due`,
});

const OLDEST_DUE = query({
  takes: { providerId: number },
  gives: { dueAt: nullable(number) },
  text: `SELECT (${OLDEST_DUE_POLL} AND provider_id = :providerId) AS "dueAt"`,
});

const CLAMP_SCHEDULE = statement({
  takes: { latest: number },
  writes: [orders],
  text: `UPDATE orders SET next_check_at = :latest
    WHERE next_check_at > :latest AND status = 'PROCESSING'`,
});

const BY_PROVIDER_ORDER = query({
  takes: { providerId: number, providerOrder: text, except: number },
  gives: fields(orders, "orderId"),
  within: ["providerOrder"],
  text: `SELECT ${select(orders, "orderId")} FROM orders
    WHERE provider_id = :providerId AND provider_order = :providerOrder AND provider_order IS NOT NULL
      AND order_id <> :except
    ORDER BY order_id DESC LIMIT 1`,
});

/** The orders of a provider whose poll is due, longest overdue first. */
export function listDuePolls(
  reader: Reader,
  providerId: number,
  now: number,
  limit: number,
): DueOrder[] {
  return reader.all(DUE, { providerId, now, limit });
}

/** How many polls are due, counted up to `limit`. */
export function countDuePolls(
  reader: Reader,
  providerId: number,
  now: number,
  limit: number,
): number {
  return reader.one(COUNT_DUE, { providerId, now, limit })!.due;
}

/** OLDEST_DUE_POLL of a provider's orders. */
export function oldestDuePoll(reader: Reader, providerId: number): number | null {
  return reader.one(OLDEST_DUE, { providerId })!.dueAt;
}

/** Another order with the same provider and number. */
export function findByProviderOrder(
  reader: Reader,
  providerId: number,
  providerOrder: string,
  except: number,
): number | undefined {
  return reader.one(BY_PROVIDER_ORDER, { providerId, providerOrder, except })?.orderId;
}

export function updateNextPoll(tx: Tx, orderId: number, nextPollAt: number | null): void {
  tx.update(orders, { orderId }, { nextPollAt });
}

export function updatePolled(tx: Tx, orderId: number, polledAt: number): void {
  tx.update(orders, { orderId }, { polledAt });
}

/** Sets polls of open orders that are scheduled after `latest` to `latest`. */
export function clampPollSchedule(tx: Tx, latest: number): void {
  tx.run(CLAMP_SCHEDULE, { latest });
}
