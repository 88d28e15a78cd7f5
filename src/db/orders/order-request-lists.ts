// The operator's view of requests for orders: a list with order and user, newest first, and counts.

import type { RequestKind } from "../../domain/orders/order-requests.ts";
import { SANDBOX_PROVIDER } from "../../domain/orders/sandbox.ts";
import {
  OPEN_REQUEST_CONDITION,
  type OrderRequest,
  orderRequests,
  orders,
} from "../tables/orders.ts";
import type { Reader, TimeWindow } from "../port/port.ts";
import { fields, listByConditions, query, select } from "../port/query.ts";
import { number, text } from "../port/table-definition.ts";

/** A request with its order's service and status, and its user's name. */
export interface ListedRequest extends OrderRequest {
  serviceName: string;
  status: string;
  username: string;
}

export interface RequestFilter {
  /** Only open requests. */
  open?: boolean | undefined;
  kind?: RequestKind | undefined;
  orderId?: number | undefined;
  /** Requests with this number or a higher one are left out. */
  below?: number | undefined;
  /** True: only requests for test orders. Otherwise: only for live orders. */
  test?: boolean | undefined;
  /** When the request was made. */
  window?: TimeWindow | undefined;
}

const LIST = listByConditions(
  { ...fields(orderRequests), ...fields(orders, "serviceName", "status"), username: text },
  (where) => `SELECT ${select(orderRequests)}, service_name AS "serviceName", status, username
    FROM order_requests
    JOIN orders ON orders.order_id = order_requests.order_id
    JOIN users ON users.account = order_requests.reseller_account
    ${where} ORDER BY order_requests.request_id DESC LIMIT :limit`,
);

/** Returns at most `limit` requests, newest first. */
export function listOrderRequests(
  reader: Reader,
  { open, kind, orderId, below, test, window }: RequestFilter,
  limit: number,
): ListedRequest[] {
  const provider = "coalesce(order_requests.provider_id, -1)";
  const conditions = [`${provider} ${test ? "=" : "<>"} ${SANDBOX_PROVIDER}`];
  if (open) conditions.push(OPEN_REQUEST_CONDITION);
  const given = {
    kind,
    orderId,
    below,
    from: window?.from ?? undefined,
    to: window?.to ?? undefined,
  };
  if (kind !== undefined) conditions.push("order_requests.kind = :kind");
  if (orderId !== undefined) conditions.push("order_requests.order_id = :orderId");
  if (below !== undefined) conditions.push("order_requests.request_id < :below");
  if (given.from !== undefined) conditions.push("order_requests.created_at >= :from");
  if (given.to !== undefined) conditions.push("order_requests.created_at <= :to");
  const kinds = { kind: text, orderId: number, below: number, from: number, to: number };
  const parameters = Object.entries(kinds).filter(
    ([name]) => given[name as keyof typeof given] !== undefined,
  );
  const list = LIST(conditions, { limit: number, ...Object.fromEntries(parameters) });
  return reader.all(list, { ...given, limit }) as ListedRequest[];
}

/** Counts of open requests by what they wait for, without requests for test orders. */
export interface RequestFigures {
  /** Requests for manual services, which wait for the operator's decision. */
  toDecide: number;
  /** Requests whose outcome at the provider is unknown, which wait for the operator. */
  unknown: number;
  /** Requests that wait for the provider's answer. */
  atProvider: number;
}

const FIGURES = query({
  columns: { toDecide: number, unknown: number, atProvider: number },
  text: `SELECT
      count(*) FILTER (WHERE provider_id IS NULL AND state = 'requested') AS "toDecide",
      count(*) FILTER (WHERE unknown = 1) AS "unknown",
      count(*) FILTER (WHERE provider_id IS NOT NULL AND unknown = 0) AS "atProvider"
    FROM order_requests
    WHERE ${OPEN_REQUEST_CONDITION} AND coalesce(provider_id, -1) <> ${SANDBOX_PROVIDER}`,
});

export function countOpenRequests(reader: Reader): RequestFigures {
  return reader.one(FIGURES)!;
}
