// Sums of orders that were imported from another panel, for a report that includes them. Other reports leave them out.

import type { Reader } from "../port/port.ts";
import { query } from "../port/query.ts";
import { number, text } from "../port/table-definition.ts";
import { DAY_MS } from "../../domain/values/spans.ts";
import { ENDED_STATUSES, refundIn } from "../../domain/orders/order-statuses.ts";
import { statusList } from "../orders/order-statuses.ts";
import {
  halvesOf,
  microsOf,
  type ReportKey,
  type ReportPart,
  type Times,
} from "../reports/reports.ts";
import { ORDERS_THROUGH } from "./imports.ts";

/** What an imported order can be reported by: the providers of the other panel are not ours. */
export type ImportedKey = Exclude<ReportKey, "provider">;

/** Statuses in which the other panel charged nothing in the end. */
const WITHOUT_CHARGE = statusList(ENDED_STATUSES.filter((each) => refundIn(each) === "everything"));

const IMPORTED = `orders.order_id <= ${ORDERS_THROUGH}`;

const keysOf = (by: ImportedKey, at: string) => ({
  past: {
    day: `CAST(${at} / ${DAY_MS} AS TEXT)`,
    service: "CAST(past_orders.service_number AS TEXT)",
    reseller: "CAST(past_orders.reseller_account AS TEXT)",
  }[by],
  open: {
    day: `CAST(${at} / ${DAY_MS} AS TEXT)`,
    service: "orders.service_id",
    reseller: "CAST(orders.reseller_account AS TEXT)",
  }[by],
});

const sumsBy = (by: ImportedKey) =>
  query({
    parameters: { from: number, to: number },
    columns: {
      key: text,
      orders: number,
      revenueThousands: number,
      revenueRest: number,
      refundsThousands: number,
      refundsRest: number,
      costThousands: number,
      costRest: number,
    },
    text: `SELECT "key", CAST(sum(orders) AS BIGINT) AS "orders",
        ${halvesOf("revenue", ["revenueThousands", "revenueRest"])},
        ${halvesOf("refunds", ["refundsThousands", "refundsRest"])},
        ${halvesOf("cost", ["costThousands", "costRest"])}
      FROM (
        SELECT ${keysOf(by, "past_orders.created_at").past} AS "key", 1 AS orders, charge_micros AS revenue,
          CASE WHEN status IN ${WITHOUT_CHARGE} THEN charge_micros ELSE 0 END AS refunds, 0 AS cost
        FROM past_orders WHERE past_orders.created_at BETWEEN :from AND :to
        UNION ALL
        SELECT ${keysOf(by, "orders.created_at").open}, 1, charge_micros, 0, 0
        FROM orders WHERE ${IMPORTED} AND orders.created_at BETWEEN :from AND :to
        UNION ALL
        SELECT ${keysOf(by, "transfers.created_at").open}, 0, 0, amount_micros, 0
        FROM transfers JOIN orders ON orders.order_id = coalesce(transfers.order_id, 0)
        WHERE ${IMPORTED} AND kind IN ('refund', 'partial_refund') AND transfers.created_at BETWEEN :from AND :to
        UNION ALL
        SELECT ${keysOf(by, "order_costs.created_at").open}, 0, 0, 0, change_micros
        FROM order_costs JOIN orders ON orders.order_id = order_costs.order_id
        WHERE ${IMPORTED} AND order_costs.created_at BETWEEN :from AND :to
      ) AS parts GROUP BY "key"`,
  });

const SUMS = { day: sumsBy("day"), service: sumsBy("service"), reseller: sumsBy("reseller") };

/** Sums all imported orders, past and open, within `times`. Reads all of them. */
export function sumImported(reader: Reader, by: ImportedKey, times: Times): ReportPart[] {
  return reader.all(SUMS[by], { ...times }).map((row) => ({
    key: row.key,
    orders: row.orders,
    revenueMicros: microsOf(row.revenueThousands, row.revenueRest),
    refundsMicros: microsOf(row.refundsThousands, row.refundsRest),
    costMicros: microsOf(row.costThousands, row.costRest),
  }));
}
