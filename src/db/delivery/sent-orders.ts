// Submissions to one provider that arrived or may have arrived, for the search for unknown orders.

import type { AttemptOutcome } from "../../domain/delivery/deliveries.ts";
import type { OrderStatus } from "../../domain/orders/order-statuses.ts";
import type { PriceUnit } from "../../domain/catalogue/services.ts";
import type { Placement } from "../../domain/delivery/deliveries.ts";
import type { Reader } from "../port/port.ts";
import { query } from "../port/query.ts";
import {
  boolean,
  nullable,
  number,
  numbers,
  text,
  textOf,
  texts,
} from "../port/table-definition.ts";

/** An order with the attempt that arrived or may have arrived. */
export interface SentOrder {
  attemptId: number;
  providerId: number;
  orderId: number;
  outcome: AttemptOutcome;
  cause: string | null;
  startedAt: number;
  finishedAt: number | null;
  providerService: string;
  providerOrder: string | null;
  quantity: number;
  per: PriceUnit;
  extra: string | null;
  status: OrderStatus;
  placement: Placement;
  createdAt: number;
}

const COLUMNS = {
  attemptId: number,
  providerId: number,
  orderId: number,
  outcome: textOf<AttemptOutcome>(),
  cause: nullable(text),
  startedAt: number,
  finishedAt: nullable(number),
  providerService: text,
  providerOrder: nullable(text),
  quantity: number,
  per: textOf<PriceUnit>(),
  extra: nullable(text),
  status: textOf<OrderStatus>(),
  placement: textOf<Placement>(),
  createdAt: number,
};

const SELECTED = `attempts.attempt_id AS "attemptId", attempts.provider_id AS "providerId", attempts.order_id AS "orderId", attempts.outcome AS "outcome",
    attempts.cause AS "cause", attempts.started_at AS "startedAt", attempts.finished_at AS "finishedAt",
    attempts.provider_service AS "providerService", orders.provider_order AS "providerOrder",
    orders.quantity AS "quantity", orders.per AS "per", orders.extra AS "extra", orders.status AS "status",
    orders.placement AS "placement", orders.created_at AS "createdAt"`;

// Placement and status are literals, so that the partial index can be used. CROSS JOIN keeps SQLite from reading all
// attempts first.
const UNKNOWN = query({
  parameters: { providerId: number, limit: number },
  columns: COLUMNS,
  text: `SELECT ${SELECTED} FROM orders CROSS JOIN attempts
    WHERE orders.placement = 'unknown' AND orders.status = 'PENDING' AND orders.provider_id = :providerId
      AND attempts.order_id = orders.order_id AND attempts.outcome = 'unknown'
    ORDER BY attempts.attempt_id LIMIT :limit`,
});

const SENT = query({
  parameters: { providerIds: numbers, first: number, last: number },
  columns: COLUMNS,
  text: `SELECT ${SELECTED} FROM attempts CROSS JOIN orders
    WHERE attempts.attempt_id BETWEEN :first AND :last AND attempts.provider_id IN (:providerIds)
      AND attempts.outcome IN ('accepted', 'unknown', 'sending') AND orders.order_id = attempts.order_id
    ORDER BY attempts.attempt_id`,
});

const NUMBERED = query({
  parameters: { providerIds: numbers, providerOrders: texts },
  columns: { providerOrder: text, orderId: number, isSettled: boolean },
  text: `SELECT provider_order AS "providerOrder", order_id AS "orderId",
      EXISTS (SELECT 1 FROM attempts WHERE attempts.order_id = orders.order_id AND outcome = 'unknown') AS "isSettled"
    FROM orders
    WHERE provider_id IN (:providerIds) AND provider_order IN (:providerOrders) AND provider_order IS NOT NULL`,
});

/** The unknown orders of a provider, the first sent first, at most `limit`. */
export function listUnknownOrders(reader: Reader, providerId: number, limit: number): SentOrder[] {
  return reader.all(UNKNOWN, { providerId, limit });
}

/** Orders whose attempts at the providers have numbers from `first` to `last` and arrived or may have arrived. */
export function listSentOrders(
  reader: Reader,
  providerIds: readonly number[],
  first: number,
  last: number,
): SentOrder[] {
  return reader.all(SENT, { providerIds, first, last });
}

/** Finds the orders of some providers that have these numbers there. `isSettled`: the operator gave the number. */
export function listOrdersNumbered(
  reader: Reader,
  providerIds: readonly number[],
  providerOrders: readonly string[],
): { providerOrder: string; orderId: number; isSettled: boolean }[] {
  if (providerOrders.length === 0) return [];
  return reader.all(NUMBERED, { providerIds, providerOrders });
}
