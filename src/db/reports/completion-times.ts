// How long orders of each service took until they were completed, by the newest transitions: the cost is the same however
// many orders there are.

import { SANDBOX_PROVIDER } from "../../domain/orders/sandbox.ts";
import type { Reader } from "../port/port.ts";
import { query } from "../port/query.ts";
import { number } from "../port/table-definition.ts";

/** Number of newest transitions that are read. Services without a completed order among them have no time. */
const TRANSITIONS_READ = 1_000;

const MEDIANS = query({
  parameters: { read: number, from: number, least: number, sandbox: number },
  columns: { service: number, milliseconds: number },
  text: `WITH newest AS (
      SELECT order_id, created_at FROM order_events
      WHERE seq > (SELECT coalesce(max(seq), 0) FROM order_events) - :read
        AND to_status = 'COMPLETED' AND created_at >= :from
    ), times AS (
      SELECT orders.service_id AS service_id, newest.created_at - orders.created_at AS took
      FROM newest JOIN orders ON orders.order_id = newest.order_id
      WHERE orders.provider_id IS NULL OR orders.provider_id <> :sandbox
    ), ranked AS (
      SELECT service_id, took, row_number() OVER (PARTITION BY service_id ORDER BY took) AS place,
        count(*) OVER (PARTITION BY service_id) AS times
      FROM times
    )
    SELECT services.number AS "service", ranked.took AS "milliseconds"
    FROM ranked JOIN services ON services.id = ranked.service_id
    WHERE ranked.times >= :least AND ranked.place = (ranked.times + 1) / 2`,
});

/**
 * Returns the median time from the order to its completion by the number of the service. Leaves out test orders, orders
 * completed before `from`, and services with fewer than `least` completed orders.
 */
export function readCompletionTimes(
  reader: Reader,
  from: number,
  least: number,
): Map<number, number> {
  const given = { read: TRANSITIONS_READ, from, least, sandbox: SANDBOX_PROVIDER };
  const found = reader.all(MEDIANS, given);
  return new Map(found.map(({ service, milliseconds }) => [service, milliseconds]));
}
