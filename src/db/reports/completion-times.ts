// How long orders of each service took until they were completed, by steps of transitions, each at a constant cost.

import { SANDBOX_PROVIDER } from "../../domain/orders/sandbox.ts";
import type { Reader } from "../port/port.ts";
import { query } from "../port/query.ts";
import { number } from "../port/table-definition.ts";

const NEWEST = query({
  columns: { seq: number },
  text: `SELECT coalesce(max(seq), 0) AS "seq" FROM order_events`,
});

/** Returns the number of the newest transition; 0: there is none. */
export function newestTransition(reader: Reader): number {
  return reader.one(NEWEST)!.seq;
}

const COMPLETED = query({
  parameters: { above: number, upTo: number, from: number, sandbox: number },
  columns: { service: number, tookMs: number },
  text: `SELECT services.number AS "service", order_events.created_at - orders.created_at AS "tookMs"
    FROM order_events
    JOIN orders ON orders.order_id = order_events.order_id
    JOIN services ON services.id = orders.service_id
    WHERE order_events.seq > :above AND order_events.seq <= :upTo
      AND order_events.to_status = 'COMPLETED' AND order_events.created_at >= :from
      AND (orders.provider_id IS NULL OR orders.provider_id <> :sandbox)`,
});

/**
 * Returns the number of the service, and the time from the order to its completion, of the orders that these
 * transitions completed. Leaves out test orders, and orders completed before `from`.
 */
export function readCompleted(
  reader: Reader,
  { above, upTo }: { above: number; upTo: number },
  from: number,
): { service: number; tookMs: number }[] {
  return reader.all(COMPLETED, { above, upTo, from, sandbox: SANDBOX_PROVIDER });
}
