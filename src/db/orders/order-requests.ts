// Requests for orders: by id, by order, and those that are due. The operator's list is in order-request-lists.ts.

import { DELIVERED_STATUSES } from "../../domain/orders/order-statuses.ts";
import { statusList } from "./order-statuses.ts";
import { REQUESTS_LISTED, type RequestKind } from "../../domain/orders/order-requests.ts";
import { SANDBOX_PROVIDER } from "../../domain/orders/sandbox.ts";
import { isOrderNumber } from "../../domain/orders/orders.ts";
import { isCuid } from "../../domain/values/text.ts";
import type { Reader, Tx } from "../port/port.ts";
import { byDialect, fields, isOneOf, query, select, statement } from "../port/query.ts";
import { boolean, nullable, number, numbers } from "../port/table-definition.ts";
import {
  type NewOrderRequest,
  OPEN_REQUEST_CONDITION,
  type OrderRequest,
  orderRequests,
} from "../tables/orders.ts";

const ENDED = query({
  parameters: { orderId: number },
  columns: { endedAt: nullable(number) },
  restrictedBy: ["orderId"],
  text: `SELECT max(created_at) AS "endedAt" FROM order_events
    WHERE order_id = :orderId AND to_status IN ${statusList(DELIVERED_STATUSES)}`,
});

const LAST_REFILL = query({
  parameters: { orderId: number },
  columns: { lastRefillAt: nullable(number) },
  restrictedBy: ["orderId"],
  text: `SELECT max(created_at) AS "lastRefillAt" FROM order_requests
    WHERE order_id = :orderId AND kind = 'refill'`,
});

const OF_ORDER = query({
  parameters: { orderId: number, limit: number },
  columns: fields(orderRequests),
  text: `SELECT ${select(orderRequests)} FROM order_requests
    WHERE order_id = :orderId ORDER BY request_id DESC LIMIT :limit`,
});

const BY_NUMBERS = query({
  parameters: { requestIds: numbers },
  columns: fields(orderRequests, "requestId", "resellerAccount", "kind", "state"),
  text: byDialect(
    (dialect) => `SELECT ${select(orderRequests, "requestId", "resellerAccount", "kind", "state")}
      FROM order_requests WHERE ${isOneOf("request_id", ":requestIds", dialect)}`,
  ),
});

// The condition on next_at repeats that of the index order_requests_due.
const dueIn = (state: "requested" | "accepted") =>
  query({
    parameters: { providerId: number, now: number, limit: number },
    columns: fields(orderRequests, "requestId", "providerRefill", "sentAt"),
    text: `SELECT ${select(orderRequests, "requestId", "providerRefill", "sentAt")} FROM order_requests
      WHERE provider_id = :providerId AND next_at IS NOT NULL AND next_at <= :now AND state = '${state}'
      ORDER BY next_at, request_id LIMIT :limit`,
  });
const DUE_SENDS = dueIn("requested");
const DUE_POLLS = dueIn("accepted");

const SENDING = query({
  columns: { ...fields(orderRequests, "requestId", "server"), isServerLive: boolean },
  text: `SELECT ${select(orderRequests, "requestId", "server")},
      EXISTS (SELECT 1 FROM servers WHERE servers.id = order_requests.server) AS "isServerLive"
    FROM order_requests WHERE ${OPEN_REQUEST_CONDITION} AND state = 'sent' AND unknown = 0 ORDER BY request_id`,
});

const PERHAPS_SENT = query({
  columns: fields(orderRequests, "requestId"),
  text: `SELECT ${select(orderRequests, "requestId")} FROM order_requests
    WHERE ${OPEN_REQUEST_CONDITION} AND (state = 'requested' OR (state = 'sent' AND unknown = 0))
      AND provider_id IS NOT NULL AND provider_id <> ${SANDBOX_PROVIDER} ORDER BY request_id`,
});

const clampIn = (state: "requested" | "accepted") =>
  statement({
    parameters: { latest: number },
    writes: [orderRequests],
    text: `UPDATE order_requests SET next_at = :latest
      WHERE next_at IS NOT NULL AND next_at > :latest AND state = '${state}'`,
  });
const CLAMP_SENDS = clampIn("requested");
const CLAMP_POLLS = clampIn("accepted");

/** Finds a request by its number or its id. */
export function findOrderRequest(reader: Reader, id: string): OrderRequest | undefined {
  if (isOrderNumber(id)) return reader.row(orderRequests.byKey, Number(id));
  return isCuid(id) ? reader.row(orderRequests.byId, id) : undefined;
}

/** Returns the request with that number, which must exist. */
export function getOrderRequest(reader: Reader, requestId: number): OrderRequest {
  const request = reader.row(orderRequests.byKey, requestId);
  if (!request) throw new Error(`there is no request ${requestId}`);
  return request;
}

/** Finds the order's open request of a kind. There is at most one. */
export function findOpenRequest(
  reader: Reader,
  orderId: number,
  kind: RequestKind,
): OrderRequest | undefined {
  return reader.row(orderRequests.byOpen, orderId, kind);
}

/** Reads when the order was delivered (`endedAt`), and when its last refill was requested. */
export function readRefillTimes(reader: Reader, orderId: number) {
  const { endedAt } = reader.one(ENDED, { orderId })!;
  const { lastRefillAt } = reader.one(LAST_REFILL, { orderId })!;
  return { endedAt, lastRefillAt };
}

/** The requests for an order, newest first, at most REQUESTS_LISTED. */
export function listRequestsOfOrder(reader: Reader, orderId: number): OrderRequest[] {
  return reader.all(OF_ORDER, { orderId, limit: REQUESTS_LISTED });
}

/** Requests by their numbers. Missing ones are left out. */
export function listRequestStates(reader: Reader, requestIds: readonly number[]) {
  const found = reader.all(BY_NUMBERS, { requestIds: [...requestIds] });
  return new Map(found.map((request) => [request.requestId, request]));
}

/** The numbers of the requests to send to a provider, most overdue first. */
export function listDueRequests(
  reader: Reader,
  providerId: number,
  now: number,
  limit: number,
): number[] {
  return reader.all(DUE_SENDS, { providerId, now, limit }).map(({ requestId }) => requestId);
}

/** Lists accepted refills whose next poll is due, most overdue first. */
export function listDueRefills(reader: Reader, providerId: number, now: number, limit: number) {
  return reader.all(DUE_POLLS, { providerId, now, limit });
}

/** Lists requests that are being sent and have no outcome yet. */
export function listSendingRequests(reader: Reader) {
  return reader.all(SENDING);
}

/**
 * Lists open requests that, in a restored database, may have been sent to a provider after the backup was made. Leaves
 * out those for test orders.
 */
export function listPerhapsSent(reader: Reader): number[] {
  return reader.all(PERHAPS_SENT).map(({ requestId }) => requestId);
}

/** Inserts a request. A UNIQUE index refuses a second open request of the same kind for an order. */
export function insertOrderRequest(tx: Tx, request: NewOrderRequest): OrderRequest {
  return tx.insert(orderRequests, request);
}

/** Updates a request. A trigger refuses to send it a second time, or to change it after its end. */
export function updateOrderRequest(
  tx: Tx,
  request: OrderRequest,
  changes: Partial<OrderRequest>,
): OrderRequest {
  return tx.update(orderRequests, request, changes);
}

/** Moves sends and polls that are scheduled after these times back to them. */
export function clampRequestSchedule(tx: Tx, latestSend: number, latestPoll: number): void {
  tx.run(CLAMP_SENDS, { latest: latestSend });
  tx.run(CLAMP_POLLS, { latest: latestPoll });
}
