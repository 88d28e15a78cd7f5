// Reads test orders and their refills, for the reports of the sandbox.

import {
  SANDBOX_PROVIDER,
  type SandboxOrder,
  type SandboxRefill,
} from "../../domain/orders/sandbox.ts";
import type { Reader } from "../port/port.ts";
import { byDialect, fields, isOneOf, query, select } from "../port/query.ts";
import { boolean, number, numbers, texts } from "../port/table-definition.ts";
import { orderRequests, orders } from "../tables/orders.ts";

// An order counts as placed when it became PROCESSING: at once, after a wait, or when the operator settled it.
const PROCESSING = query({
  parameters: { providerOrders: texts },
  columns: {
    ...fields(orders, "providerOrder", "link", "quantity"),
    placedAt: number,
    isCancelled: boolean,
  },
  text: byDialect(
    (dialect) => `SELECT ${select(orders, "providerOrder", "link", "quantity")}, coalesce(
        (SELECT min(order_events.created_at) FROM order_events
          WHERE order_events.order_id = orders.order_id AND to_status = 'PROCESSING'),
        orders.created_at) AS "placedAt",
        CASE WHEN EXISTS (SELECT 1 FROM order_requests
          WHERE order_requests.order_id = orders.order_id AND kind = 'cancel' AND state = 'accepted')
        THEN 1 ELSE 0 END AS "isCancelled"
      FROM orders
      WHERE provider_id = ${SANDBOX_PROVIDER} AND provider_order IS NOT NULL AND status = 'PROCESSING'
        AND ${isOneOf("provider_order", ":providerOrders", dialect)}`,
  ),
});

/** Lists the test orders with these provider numbers that are PROCESSING. */
export function listSandboxOrders(
  reader: Reader,
  providerOrders: readonly string[],
): SandboxOrder[] {
  return reader
    .all(PROCESSING, { providerOrders: [...providerOrders] })
    .map((order) => ({ ...order, providerOrder: order.providerOrder! }));
}

const REFILLS = query({
  parameters: { requestIds: numbers },
  columns: { ...fields(orderRequests, "providerRefill", "sentAt"), ...fields(orders, "link") },
  text: byDialect(
    (dialect) => `SELECT ${select(orderRequests, "providerRefill", "sentAt")}, link
      FROM order_requests JOIN orders ON orders.order_id = order_requests.order_id
      WHERE order_requests.provider_id = ${SANDBOX_PROVIDER} AND provider_refill IS NOT NULL
        AND ${isOneOf("request_id", ":requestIds", dialect)}`,
  ),
});

/** Lists the refills with these numbers. A refill's number in the sandbox is the number of its request. */
export function listSandboxRefills(reader: Reader, refills: readonly string[]): SandboxRefill[] {
  return reader.all(REFILLS, { requestIds: refills.map(Number) }).map((request) => ({
    refill: request.providerRefill!,
    link: request.link,
    acceptedAt: request.sentAt!,
  }));
}
