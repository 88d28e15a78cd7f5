// The orders of the sandbox as it needs them to report on them.

import { SANDBOX_PROVIDER, type SandboxOrder } from "../domain/sandbox.ts";
import type { Reader } from "./port.ts";
import { byDialect, fields, isOneOf, query, select } from "./query.ts";
import { number, texts } from "./table-definition.ts";
import { orders } from "./tables.ts";

// An order was placed when it became PROCESSING: at once, after a wait, or settled by the operator.
const PROCESSING = query({
  takes: { providerOrders: texts },
  gives: { ...fields(orders, "providerOrder", "link", "quantity"), placedAt: number },
  text: byDialect(
    (dialect) => `SELECT ${select(orders, "providerOrder", "link", "quantity")}, coalesce(
        (SELECT min(order_events.created_at) FROM order_events
          WHERE order_events.order_id = orders.order_id AND to_status = 'PROCESSING'),
        orders.created_at) AS "placedAt"
      FROM orders
      WHERE provider_id = ${SANDBOX_PROVIDER} AND provider_order IS NOT NULL AND status = 'PROCESSING'
        AND ${isOneOf("provider_order", ":providerOrders", dialect)}`,
  ),
});

/** Those that are PROCESSING. */
export function listSandboxOrders(
  reader: Reader,
  providerOrders: readonly string[],
): SandboxOrder[] {
  return reader
    .all(PROCESSING, { providerOrders: [...providerOrders] })
    .map((order) => ({ ...order, providerOrder: order.providerOrder! }));
}
