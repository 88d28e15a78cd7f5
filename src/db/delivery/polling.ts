// Polling: the orders that are due, and how late the polls are. Late reports: orders/late-reports.ts.

import type { OrderStatus } from "../../domain/orders/order-statuses.ts";
import type { Reader, Tx } from "../port/port.ts";
import { fields, query, select, statement } from "../port/query.ts";
import { nullable, number, text } from "../port/table-definition.ts";
import { orders } from "../tables/orders.ts";

/** The fields of an order that decide its next poll. */
export interface DueOrder {
  orderId: number;
  status: OrderStatus;
  /** Null only if the order is not polled; likewise `changedAt`. */
  providerOrder: string | null;
  changedAt: number | null;
}

/** SQL for the time at which the first poll is due: in the future if none is overdue, NULL if none is scheduled. */
export const OLDEST_DUE_POLL =
  "SELECT min(next_poll_at) FROM orders WHERE next_poll_at IS NOT NULL";

const IS_DUE = "provider_id = :providerId AND next_poll_at IS NOT NULL AND next_poll_at <= :now";

const DUE = query({
  parameters: { providerId: number, now: number, limit: number },
  columns: fields(orders, "orderId", "status", "providerOrder", "changedAt"),
  text: `SELECT ${select(orders, "orderId", "status", "providerOrder", "changedAt")} FROM orders
    WHERE ${IS_DUE} ORDER BY next_poll_at, order_id LIMIT :limit`,
});

const COUNT_DUE = query({
  parameters: { providerId: number, now: number, limit: number },
  columns: { due: number },
  text: `SELECT count(*) AS "due" FROM (SELECT order_id FROM orders WHERE ${IS_DUE} LIMIT :limit) AS due`,
});

const OLDEST_DUE = query({
  parameters: { providerId: number },
  columns: { dueAt: nullable(number) },
  text: `SELECT (${OLDEST_DUE_POLL} AND provider_id = :providerId) AS "dueAt"`,
});

const CLAMP_SCHEDULE = statement({
  parameters: { latest: number },
  writes: [orders],
  text: `UPDATE orders SET next_poll_at = :latest
    WHERE next_poll_at > :latest AND status = 'PROCESSING'`,
});

const BY_PROVIDER_ORDER = query({
  parameters: { providerId: number, providerOrder: text, except: number },
  columns: fields(orders, "orderId"),
  restrictedBy: ["providerOrder"],
  text: `SELECT ${select(orders, "orderId")} FROM orders
    WHERE provider_id = :providerId AND provider_order = :providerOrder AND provider_order IS NOT NULL
      AND order_id <> :except
    ORDER BY order_id DESC LIMIT 1`,
});

/** A provider's orders whose poll is due, most overdue first. */
export function listDuePolls(
  reader: Reader,
  providerId: number,
  now: number,
  limit: number,
): DueOrder[] {
  return reader.all(DUE, { providerId, now, limit });
}

/** Counts the due polls, up to `limit`. */
export function countDuePolls(
  reader: Reader,
  providerId: number,
  now: number,
  limit: number,
): number {
  return reader.one(COUNT_DUE, { providerId, now, limit })!.due;
}

/** Returns when a provider's first poll is due: see OLDEST_DUE_POLL. */
export function oldestDuePoll(reader: Reader, providerId: number): number | null {
  return reader.one(OLDEST_DUE, { providerId })!.dueAt;
}

/** Finds another order (not `except`) with this number at the same provider. Returns its order number. */
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

/** Moves polls of PROCESSING orders that are scheduled after `latest` back to `latest`. */
export function clampPollSchedule(tx: Tx, latest: number): void {
  tx.run(CLAMP_SCHEDULE, { latest });
}
