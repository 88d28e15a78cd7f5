// Requests for orders as the operator sees them: listed with order and user, newest first, and counted.

import type { RequestKind } from "../domain/order-requests.ts";
import { SANDBOX_PROVIDER } from "../domain/sandbox.ts";
import { IS_OPEN, type OrderRequest } from "./order-requests.ts";
import type { Reader } from "./port.ts";
import { fields, listByConditions, query, select } from "./query.ts";
import { number, text } from "./table-definition.ts";
import { orderRequests, orders } from "./tables.ts";

/** With its order's service and status, and the name of its user. */
export interface ListedRequest extends OrderRequest {
  serviceName: string;
  status: string;
  username: string;
}

export interface RequestFilter {
  /** Only those that are open. */
  open?: boolean | undefined;
  kind?: RequestKind | undefined;
  orderId?: number | undefined;
  /** Only those with a lower number. */
  below?: number | undefined;
  /** Only those for test orders; otherwise none of them. */
  test?: boolean | undefined;
}

const LIST = listByConditions(
  { ...fields(orderRequests), ...fields(orders, "serviceName", "status"), username: text },
  (where) => `SELECT ${select(orderRequests)}, service_name AS "serviceName", status, username
    FROM order_requests
    JOIN orders ON orders.order_id = order_requests.order_id
    JOIN users ON users.account = order_requests.reseller_account
    ${where} ORDER BY order_requests.request_id DESC LIMIT :limit`,
);

/** `limit` of them, the newest first. */
export function listOrderRequests(
  reader: Reader,
  { open, kind, orderId, below, test }: RequestFilter,
  limit: number,
): ListedRequest[] {
  const side = "coalesce(order_requests.provider_id, -1)";
  const conditions = [`${side} ${test ? "=" : "<>"} ${SANDBOX_PROVIDER}`];
  if (open) conditions.push(IS_OPEN);
  const given = { kind, orderId, below };
  if (kind !== undefined) conditions.push("order_requests.kind = :kind");
  if (orderId !== undefined) conditions.push("order_requests.order_id = :orderId");
  if (below !== undefined) conditions.push("order_requests.request_id < :below");
  const kinds = { kind: text, orderId: number, below: number };
  const takes = Object.entries(kinds).filter(
    ([name]) => given[name as keyof typeof given] !== undefined,
  );
  const list = LIST(conditions, { limit: number, ...Object.fromEntries(takes) });
  return reader.all(list, { ...given, limit }) as ListedRequest[];
}

/** Open requests by what they wait for; none for test orders. */
export interface RequestFigures {
  /** For the operator: of services delivered by hand. */
  toDecide: number;
  /** For the operator: it is not known what became of them at the provider. */
  unknown: number;
  /** For the provider. */
  atProvider: number;
}

const FIGURES = query({
  gives: { toDecide: number, unknown: number, atProvider: number },
  text: `SELECT
      count(*) FILTER (WHERE provider_id IS NULL AND state = 'requested') AS "toDecide",
      count(*) FILTER (WHERE unknown = 1) AS "unknown",
      count(*) FILTER (WHERE provider_id IS NOT NULL AND unknown = 0) AS "atProvider"
    FROM order_requests
    WHERE ${IS_OPEN} AND coalesce(provider_id, -1) <> ${SANDBOX_PROVIDER}`,
});

export function countOpenRequests(reader: Reader): RequestFigures {
  return reader.one(FIGURES)!;
}
