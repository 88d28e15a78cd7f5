// Erases personal data from a user's rows, in pieces, so that no order waits long for it. The columns with such data
// are listed here and in triggers of migrations/. Add a new one to both.

import { OPEN_ORDER_CONDITION } from "../orders/order-statuses.ts";
import type { OrderStatus } from "../../domain/orders/order-statuses.ts";
import { ERASED } from "../../domain/users/erasures.ts";
import { erasedExtra } from "../../domain/orders/order-fields.ts";
import { CALLER_MEMBERS } from "../../domain/orders/order-members.ts";
import type { Reader, Tx } from "../port/port.ts";
import { fields, query, select, statement } from "../port/query.ts";
import { number, numbers, text } from "../port/table-definition.ts";
import { audit } from "../tables/administrators.ts";
import { idempotency } from "../tables/database.ts";
import { attempts, unrecognizedNumbers } from "../tables/delivery.ts";
import { transferDetails, transfers } from "../tables/ledger.ts";
import { paymentAttachments, payments } from "../tables/payments.ts";
import { OPEN_REQUEST_CONDITION, orderEvents, orderRequests, orders } from "../tables/orders.ts";
import { webhookAttempts, webhookDeliveries, webhookEvents } from "../tables/webhooks.ts";

const OPEN_ORDERS = query({
  parameters: { account: number },
  columns: { orders: number },
  text: `SELECT count(*) AS "orders" FROM orders
    WHERE reseller_account = :account AND ${OPEN_ORDER_CONDITION}`,
});

const OPEN_REQUESTS = query({
  parameters: { account: number },
  columns: { requests: number },
  text: `SELECT count(*) AS "requests" FROM order_requests WHERE reseller_account = :account AND ${OPEN_REQUEST_CONDITION}`,
});

const ORDERS = query({
  parameters: { account: number, status: text, after: number, limit: number },
  columns: fields(orders, "orderId", "extra"),
  text: `SELECT ${select(orders, "orderId", "extra")} FROM orders
    WHERE reseller_account = :account AND status = :status AND order_id > :after
    ORDER BY order_id LIMIT :limit`,
});

// A CHECK requires a reference or a public note, so the note becomes a fixed text.
const NO_DETAILS = `reference = NULL, public_note = '${ERASED}'`;

const NO_CALLER_TEXTS = orders.columns
  .filter(({ field }) => CALLER_MEMBERS.some((member) => member.field === field))
  .map(({ name }) => `${name} = NULL`)
  .join(", ");

const ERASE_FROM_ORDERS = [
  statement({
    parameters: { orderIds: numbers },
    writes: [orders],
    text: `UPDATE orders SET link = '${ERASED}', ${NO_CALLER_TEXTS} WHERE order_id IN (:orderIds)`,
  }),
  statement({
    parameters: { orderIds: numbers },
    writes: [orderEvents],
    text: "UPDATE order_events SET note = NULL WHERE order_id IN (:orderIds) AND note IS NOT NULL",
  }),
  statement({
    parameters: { orderIds: numbers },
    writes: [attempts],
    text: `UPDATE attempts SET cause = NULL
      WHERE order_id IN (:orderIds) AND cause IS NOT NULL AND outcome <> 'sending'`,
  }),
  statement({
    parameters: { orderIds: numbers },
    writes: [transfers],
    text: "UPDATE transfers SET note = NULL WHERE order_id IN (:orderIds) AND note IS NOT NULL",
  }),
  statement({
    parameters: { orderIds: numbers },
    writes: [transferDetails],
    text: `UPDATE transfer_details SET ${NO_DETAILS}
      WHERE seq IN (SELECT seq FROM transfers WHERE order_id IN (:orderIds))`,
  }),
  statement({
    parameters: { orderIds: numbers },
    writes: [orderRequests],
    text: "UPDATE order_requests SET note = NULL WHERE order_id IN (:orderIds) AND note IS NOT NULL",
  }),
  // What providers answered about order numbers that they did not recognize.
  statement({
    parameters: { orderIds: numbers },
    writes: [unrecognizedNumbers],
    text: "DELETE FROM unrecognized_numbers WHERE order_id IN (:orderIds)",
  }),
];

const EXTRA = statement({
  parameters: { orderIds: numbers, extra: text },
  writes: [orders],
  text: "UPDATE orders SET extra = :extra WHERE order_id IN (:orderIds)",
});

// Numbers of the transfers whose notes are erased, found by the index of each kind. A user has few of them.
const OF_ACCOUNT = `
  SELECT seq FROM transfers WHERE credit_account = :account AND credit_account > 2 AND kind IN ('adjustment', 'recharge', 'payment', 'payment_bonus')
  UNION ALL
  SELECT seq FROM transfers WHERE debit_account = :account AND debit_account > 2 AND kind = 'adjustment'
  UNION ALL
  SELECT seq FROM transfers WHERE debit_account = :account AND debit_account > 2 AND kind = 'payment_reversal'`;

const TRANSFERS = statement({
  parameters: { account: number },
  writes: [transfers],
  text: `UPDATE transfers SET note = NULL WHERE note IS NOT NULL AND seq IN (${OF_ACCOUNT})`,
});

const DETAILS = statement({
  parameters: { account: number },
  writes: [transferDetails],
  text: `UPDATE transfer_details SET ${NO_DETAILS} WHERE seq IN (${OF_ACCOUNT})`,
});

const AUDIT = query({
  parameters: { account: number, after: number, limit: number },
  columns: fields(audit),
  text: `SELECT ${select(audit)} FROM audit
    WHERE account = :account AND seq > :after ORDER BY seq LIMIT :limit`,
});

const AUDIT_OF_CHILDREN = query({
  parameters: { account: number, after: number, limit: number },
  columns: fields(audit),
  text: `SELECT ${select(audit)} FROM audit
    WHERE account IN (SELECT account FROM users WHERE parent_account = :account) AND action = 'user.create'
      AND seq > :after ORDER BY seq LIMIT :limit`,
});

const IDEMPOTENCY = statement({
  parameters: { account: number, limit: number },
  writes: [idempotency],
  text: `DELETE FROM idempotency WHERE seq IN (
    SELECT seq FROM idempotency WHERE reseller_account = :account LIMIT :limit)`,
});

// Deliveries that are being sent now are deleted later, when they expire.
const DELIVERIES = query({
  parameters: { account: number, limit: number },
  columns: fields(webhookDeliveries, "deliveryId", "eventId"),
  text: `SELECT ${select(webhookDeliveries, "deliveryId", "eventId")} FROM webhook_deliveries
    WHERE webhook_id IN (SELECT webhook_id FROM webhooks WHERE reseller_account = :account)
      AND state <> 'sending' ORDER BY delivery_id LIMIT :limit`,
});

const DELETE_ATTEMPTS = statement({
  parameters: { deliveryIds: numbers },
  writes: [webhookAttempts],
  text: "DELETE FROM webhook_attempts WHERE delivery_id IN (:deliveryIds)",
});

const DELETE_DELIVERIES = statement({
  parameters: { deliveryIds: numbers },
  writes: [webhookDeliveries],
  text: "DELETE FROM webhook_deliveries WHERE delivery_id IN (:deliveryIds)",
});

const DELETE_EVENTS = statement({
  parameters: { eventIds: numbers },
  writes: [webhookEvents],
  text: `DELETE FROM webhook_events WHERE event_id IN (:eventIds) AND NOT EXISTS (
    SELECT 1 FROM webhook_deliveries WHERE webhook_deliveries.event_id = webhook_events.event_id)`,
});

/** Counts PENDING and PROCESSING orders. */
export function countOpenOrders(reader: Reader, account: number): number {
  return reader.one(OPEN_ORDERS, { account })!.orders;
}

/** Counts open requests to cancel or refill an order, to which the provider's answer has not been recorded yet. */
export function countOpenRequests(reader: Reader, account: number): number {
  return reader.one(OPEN_REQUESTS, { account })!.requests;
}

/** A piece of an account's rows: those after `after`, at most `limit`. */
interface Piece {
  account: number;
  after: number;
  limit: number;
}

/** The number of rows erased from a piece, and the `after` of the next piece; null: nothing is left. */
export interface Erased {
  rows: number;
  next: number | null;
}

const END: Erased = { rows: 0, next: null };

/**
 * Erases links, texts, references and notes of orders with this status, and causes of their attempts. The status must
 * be final.
 */
export function eraseOrders(tx: Tx, piece: Piece, status: OrderStatus): Erased {
  const found = tx.all(ORDERS, { ...piece, status });
  if (found.length === 0) return END;
  const orderIds = found.map(({ orderId }) => orderId);
  for (const each of ERASE_FROM_ORDERS) tx.run(each, { orderIds });
  const typed = found.flatMap(({ orderId, extra }) =>
    extra === null ? [] : [{ orderId, extra: erasedExtra(extra) }],
  );
  // One statement for all orders with the same remaining values: there are few different ones.
  for (const [extra, alike] of Map.groupBy(typed, (order) => order.extra)) {
    tx.run(EXTRA, { extra, orderIds: alike.map(({ orderId }) => orderId) });
  }
  return { rows: orderIds.length, next: orderIds.at(-1)! };
}

/** Erases notes and references of recharges and adjustments. */
export function eraseTransferNotes(tx: Tx, account: number): Erased {
  const rows = tx.run(TRANSFERS, { account });
  return { rows: rows + tx.run(DETAILS, { account }), next: null };
}

const PAYMENTS = statement({
  parameters: { account: number },
  writes: [payments],
  text: `UPDATE payments SET member_id = NULL, customer_reference = NULL, reason = NULL, cause = NULL, url = NULL
    WHERE account = :account AND (member_id IS NOT NULL OR customer_reference IS NOT NULL OR reason IS NOT NULL OR cause IS NOT NULL OR url IS NOT NULL)`,
});

const ATTACHMENTS = statement({
  parameters: { account: number },
  writes: [paymentAttachments],
  text: `DELETE FROM payment_attachments
    WHERE payment_id IN (SELECT payment_id FROM payments WHERE account = :account)`,
});

/** Erases who asked for payments, what was typed about them, and their files. A reseller has few of them. */
export function erasePayments(tx: Tx, account: number): Erased {
  const rows = tx.run(PAYMENTS, { account });
  return { rows: rows + tx.run(ATTACHMENTS, { account }), next: null };
}

/** Lists audit entries of the account, or with `ofChildren` those of the creation of its child users. */
export function listAuditRows(reader: Reader, piece: Piece, ofChildren: boolean) {
  return reader.all(ofChildren ? AUDIT_OF_CHILDREN : AUDIT, { ...piece });
}

/** Erases stored requests and their responses. The user's keys are inactive, so no request can be sent again. */
export function eraseIdempotencyRecords(tx: Tx, { account, limit }: Piece): Erased {
  const rows = tx.run(IDEMPOTENCY, { account, limit });
  return { rows, next: rows === limit ? 0 : null };
}

/** Erases events with their bodies, deliveries and attempts. */
export function eraseWebhookEvents(tx: Tx, { account, limit }: Piece): Erased {
  const found = tx.all(DELIVERIES, { account, limit });
  if (found.length === 0) return END;
  const deliveryIds = found.map(({ deliveryId }) => deliveryId);
  const eventIds = [...new Set(found.map(({ eventId }) => eventId))];
  tx.run(DELETE_ATTEMPTS, { deliveryIds });
  tx.run(DELETE_DELIVERIES, { deliveryIds });
  tx.run(DELETE_EVENTS, { eventIds });
  return { rows: found.length, next: 0 };
}
