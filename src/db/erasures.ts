// Takes personal data out of the rows of a user, in pieces, so that no order waits long for it. Which columns those are is
// said here and in the triggers of migrations/sqlite/0019_catalogue.sql and 0021_money.sql: a new column with such data is
// added to both.

import type { OrderStatus } from "../domain/orders.ts";
import { ERASED } from "../domain/erasures.ts";
import { erasedExtra } from "../domain/order-fields.ts";
import { IS_OPEN } from "./order-requests.ts";
import type { Reader, Tx } from "./port.ts";
import { fields, query, select, statement } from "./query.ts";
import { number, numbers, text } from "./table-definition.ts";
import {
  attempts,
  audit,
  idempotency,
  orderEvents,
  orderRequests,
  orders,
  transferDetails,
  transfers,
  unrecognizedNumbers,
  webhookAttempts,
  webhookDeliveries,
  webhookEvents,
} from "./tables.ts";

const OPEN_ORDERS = query({
  takes: { account: number },
  gives: { orders: number },
  text: `SELECT count(*) AS "orders" FROM orders
    WHERE reseller_account = :account AND status IN ('PENDING', 'PROCESSING')`,
});

const OPEN_REQUESTS = query({
  takes: { account: number },
  gives: { requests: number },
  text: `SELECT count(*) AS "requests" FROM order_requests WHERE reseller_account = :account AND ${IS_OPEN}`,
});

const ORDERS = query({
  takes: { account: number, status: text, after: number, limit: number },
  gives: fields(orders, "orderId", "extra"),
  text: `SELECT ${select(orders, "orderId", "extra")} FROM orders
    WHERE reseller_account = :account AND status = :status AND order_id > :after
    ORDER BY order_id LIMIT :limit`,
});

// One of the two is always there.
const NO_DETAILS = `reference = NULL, public_note = '${ERASED}'`;

const OF_ORDERS = [
  statement({
    takes: { orderIds: numbers },
    writes: [orders],
    text: `UPDATE orders SET link = '${ERASED}', reference = NULL WHERE order_id IN (:orderIds)`,
  }),
  statement({
    takes: { orderIds: numbers },
    writes: [orderEvents],
    text: "UPDATE order_events SET note = NULL WHERE order_id IN (:orderIds) AND note IS NOT NULL",
  }),
  statement({
    takes: { orderIds: numbers },
    writes: [attempts],
    text: `UPDATE placement_attempts SET cause = NULL
      WHERE order_id IN (:orderIds) AND cause IS NOT NULL AND outcome <> 'sending'`,
  }),
  statement({
    takes: { orderIds: numbers },
    writes: [transfers],
    text: "UPDATE transfers SET note = NULL WHERE order_id IN (:orderIds) AND note IS NOT NULL",
  }),
  statement({
    takes: { orderIds: numbers },
    writes: [transferDetails],
    text: `UPDATE transfer_details SET ${NO_DETAILS}
      WHERE seq IN (SELECT seq FROM transfers WHERE order_id IN (:orderIds))`,
  }),
  statement({
    takes: { orderIds: numbers },
    writes: [orderRequests],
    text: "UPDATE order_requests SET note = NULL WHERE order_id IN (:orderIds) AND note IS NOT NULL",
  }),
  // What the provider said of an order that has ended since.
  statement({
    takes: { orderIds: numbers },
    writes: [unrecognizedNumbers],
    text: "DELETE FROM unrecognized_numbers WHERE order_id IN (:orderIds)",
  }),
];

const EXTRA = statement({
  takes: { orderIds: numbers, extra: text },
  writes: [orders],
  text: "UPDATE orders SET extra = :extra WHERE order_id IN (:orderIds)",
});

// By the index of each kind: the operator makes few of them.
const OF_ACCOUNT = `
  SELECT seq FROM transfers WHERE credit_account = :account AND credit_account > 2 AND kind IN ('adjustment', 'recharge')
  UNION ALL
  SELECT seq FROM transfers WHERE debit_account = :account AND debit_account > 2 AND kind = 'adjustment'`;

const TRANSFERS = statement({
  takes: { account: number },
  writes: [transfers],
  text: `UPDATE transfers SET note = NULL WHERE note IS NOT NULL AND seq IN (${OF_ACCOUNT})`,
});

const DETAILS = statement({
  takes: { account: number },
  writes: [transferDetails],
  text: `UPDATE transfer_details SET ${NO_DETAILS} WHERE seq IN (${OF_ACCOUNT})`,
});

const AUDIT = query({
  takes: { account: number, after: number, limit: number },
  gives: fields(audit),
  text: `SELECT ${select(audit)} FROM audit
    WHERE account = :account AND seq > :after ORDER BY seq LIMIT :limit`,
});

const AUDIT_OF_CHILDREN = query({
  takes: { account: number, after: number, limit: number },
  gives: fields(audit),
  text: `SELECT ${select(audit)} FROM audit
    WHERE account IN (SELECT account FROM users WHERE parent_account = :account) AND action = 'user.create'
      AND seq > :after ORDER BY seq LIMIT :limit`,
});

const IDEMPOTENCY = statement({
  takes: { account: number, limit: number },
  writes: [idempotency],
  text: `DELETE FROM idempotency WHERE seq IN (
    SELECT seq FROM idempotency WHERE reseller_account = :account LIMIT :limit)`,
});

// What is being sent right now is deleted with what is old.
const DELIVERIES = query({
  takes: { account: number, limit: number },
  gives: fields(webhookDeliveries, "deliveryId", "eventId"),
  text: `SELECT ${select(webhookDeliveries, "deliveryId", "eventId")} FROM webhook_deliveries
    WHERE webhook_id IN (SELECT webhook_id FROM webhooks WHERE reseller_account = :account)
      AND state <> 'sending' ORDER BY delivery_id LIMIT :limit`,
});

const ATTEMPTS = statement({
  takes: { deliveryIds: numbers },
  writes: [webhookAttempts],
  text: "DELETE FROM webhook_attempts WHERE delivery_id IN (:deliveryIds)",
});

const SENT = statement({
  takes: { deliveryIds: numbers },
  writes: [webhookDeliveries],
  text: "DELETE FROM webhook_deliveries WHERE delivery_id IN (:deliveryIds)",
});

const EVENTS = statement({
  takes: { eventIds: numbers },
  writes: [webhookEvents],
  text: `DELETE FROM webhook_events WHERE event_id IN (:eventIds) AND NOT EXISTS (
    SELECT 1 FROM webhook_deliveries WHERE webhook_deliveries.event_id = webhook_events.event_id)`,
});

/** PENDING and PROCESSING ones. */
export function countOpenOrders(reader: Reader, account: number): number {
  return reader.one(OPEN_ORDERS, { account })!.orders;
}

/** To cancel or refill one: what its provider answers is yet to be noted. */
export function countOpenRequests(reader: Reader, account: number): number {
  return reader.one(OPEN_REQUESTS, { account })!.requests;
}

/** A piece of the rows of an account: where it begins, and how many at most. */
interface Piece {
  account: number;
  after: number;
  limit: number;
}

/** What of it was erased, and where the next piece begins; null: there is no more. */
export interface Erased {
  rows: number;
  next: number | null;
}

const END: Erased = { rows: 0, next: null };

/** Links, texts, references and notes of the orders of a status, which must be final, and causes of their attempts. */
export function eraseOrders(tx: Tx, piece: Piece, status: OrderStatus): Erased {
  const found = tx.all(ORDERS, { ...piece, status });
  if (found.length === 0) return END;
  const orderIds = found.map(({ orderId }) => orderId);
  for (const each of OF_ORDERS) tx.run(each, { orderIds });
  const typed = found.flatMap(({ orderId, extra }) =>
    extra === null ? [] : [{ orderId, extra: erasedExtra(extra) }],
  );
  // Few differ: orders of one service and quantity have the same left.
  for (const [extra, alike] of Map.groupBy(typed, (order) => order.extra)) {
    tx.run(EXTRA, { extra, orderIds: alike.map(({ orderId }) => orderId) });
  }
  return { rows: orderIds.length, next: orderIds.at(-1)! };
}

/** Notes and references of credits and debits. */
export function eraseTransferNotes(tx: Tx, account: number): Erased {
  const rows = tx.run(TRANSFERS, { account });
  return { rows: rows + tx.run(DETAILS, { account }), next: null };
}

export type AuditRow = ReturnType<typeof listAuditRows>[number];

/** Entries of the account, or of the making of its child users. */
export function listAuditRows(reader: Reader, piece: Piece, ofChildren: boolean) {
  return reader.all(ofChildren ? AUDIT_OF_CHILDREN : AUDIT, { ...piece });
}

/** Stored requests with what was answered: its keys are off, so that none can be sent again. */
export function eraseIdempotencyRecords(tx: Tx, { account, limit }: Piece): Erased {
  const rows = tx.run(IDEMPOTENCY, { account, limit });
  return { rows, next: rows === limit ? 0 : null };
}

/** Events with their bodies, and what came of sending them. */
export function eraseWebhookEvents(tx: Tx, { account, limit }: Piece): Erased {
  const found = tx.all(DELIVERIES, { account, limit });
  if (found.length === 0) return END;
  const deliveryIds = found.map(({ deliveryId }) => deliveryId);
  const eventIds = [...new Set(found.map(({ eventId }) => eventId))];
  tx.run(ATTEMPTS, { deliveryIds });
  tx.run(SENT, { deliveryIds });
  tx.run(EVENTS, { eventIds });
  return { rows: found.length, next: 0 };
}
