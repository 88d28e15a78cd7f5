// Checks the invariants of costs, and of the totals that reports use.

import { parseDecimal } from "../../domain/providers/rate-decimals.ts";
import { microsOf } from "../../domain/delivery/costs.ts";
import { SANDBOX_PROVIDER } from "../../domain/orders/sandbox.ts";
import type { TotalKind } from "../reports/daily-totals.ts";
import { LIVE_TRANSFER } from "../ledger/all-transactions.ts";
import { FLOW, SOURCE } from "../reports/money-totals.ts";
import { fields, query, select } from "../port/query.ts";
import { type ReportSource, SOURCES } from "../reports/reports.ts";
import { DAY_MS } from "../../domain/values/spans.ts";
import { number } from "../port/table-definition.ts";
import { orderCosts } from "../tables/delivery.ts";
import { type Check, inPieces } from "./verify.ts";

const PIECE = 2000;

/** SQL for the rows of a source that the totals cover, with the amounts that each row adds. */
const amountsIn = (source: ReportSource, key: string, amounts: string) => {
  const { rows, number: column, at } = SOURCES[source];
  const position = source === "order_costs" ? "costs" : source;
  return `SELECT ${at} / ${DAY_MS} AS day, ${key} AS key, ${amounts} FROM ${rows}
    AND ${column} <= (SELECT ${position} FROM totals_position)`;
};

/** SQL for the sum of a column, in two halves: sum() fails when an intermediate sum exceeds 64 bits. */
const sumInHalves = (column: string) =>
  `sum(${column} / 1000000000) * 1000000000 + sum(${column} % 1000000000) AS ${column}`;

/** SQL for the totals of each day that differ from the sums of their rows. */
const totalsOf = (kind: TotalKind, key: string) => `
  SELECT kind || ' ' || key || ' of day ' || day AS subject,
    'the totals lack orders ' || orders || ', revenue ' || revenue || ', refunds ' || refunds || ', cost ' || cost || ' micros' AS problem
  FROM (
    SELECT '${kind}' AS kind, day, key, sum(orders) AS orders, ${sumInHalves("revenue")},
      ${sumInHalves("refunds")}, ${sumInHalves("cost")}
    FROM (
      ${amountsIn("orders", key, "1 AS orders, charge_micros AS revenue, 0 AS refunds, 0 AS cost")}
      UNION ALL ${amountsIn("transfers", key, "0, 0, amount_micros, 0")}
      UNION ALL ${amountsIn("order_costs", key, "0, 0, 0, change_micros")}
      UNION ALL SELECT day, key, -orders, -revenue_micros, -refunds_micros, -cost_micros
        FROM daily_totals WHERE kind = '${kind}'
    ) AS parts GROUP BY day, key
  ) AS sums WHERE orders <> 0 OR revenue <> 0 OR refunds <> 0 OR cost <> 0`;

/** Each query returns a row (subject, problem) for each violation of its rule. */
export const COST_QUERIES: Record<string, string> = {
  "the costs of an order form one sequence": `
    SELECT 'order ' || order_id AS subject,
      'cost entry ' || number || ' is ' || cost_micros || ' micros, but the entry before it is ' || coalesce(before, 0) || ' and its change is ' || change_micros AS problem
    FROM (
      SELECT order_id, number, cost_micros, change_micros,
        lag(cost_micros) OVER (PARTITION BY order_id ORDER BY number) AS before,
        row_number() OVER (PARTITION BY order_id ORDER BY number) AS place
      FROM order_costs
    ) AS costs WHERE number <> place OR cost_micros - change_micros <> coalesce(before, 0)`,
  "orders with a cost have a provider": `
    SELECT 'order ' || order_id AS subject, 'has a cost, but its placement is ' || placement AS problem
    FROM order_costs JOIN orders USING (order_id)
    WHERE number = 1 AND (placement <> 'placed' OR provider_id = ${SANDBOX_PROVIDER})`,
  "totals by service": totalsOf("service", "orders.service_id"),
  "totals by reseller": totalsOf("reseller", "CAST(orders.reseller_account AS TEXT)"),
  "totals by provider": totalsOf("provider", "coalesce(CAST(orders.provider_id AS TEXT), '')"),
  "totals of money": `
    SELECT 'day ' || day || ', ' || flow || ' ' || kind || ' ' || source AS subject,
      'the totals lack transfers ' || transfers || ', amount ' || amount || ' micros' AS problem
    FROM (
      SELECT day, flow, kind, source, sum(transfers) AS transfers, ${sumInHalves("amount")}
      FROM (
        SELECT created_at / ${DAY_MS} AS day, ${FLOW} AS flow, kind, ${SOURCE} AS source, 1 AS transfers,
          amount_micros AS amount
        FROM transfers WHERE ${LIVE_TRANSFER} AND seq <= (SELECT transfers FROM totals_position)
        UNION ALL SELECT day, flow, kind, source, -transfers, -amount_micros FROM money_totals
      ) AS parts GROUP BY day, flow, kind, source
    ) AS sums WHERE transfers <> 0 OR amount <> 0`,
};

const COSTS = query({
  parameters: { after: number, limit: number },
  columns: fields(orderCosts, "seq", "orderId", "basis", "amount", "rateToUsd", "costMicros"),
  text: `SELECT ${select(orderCosts, "seq", "orderId", "basis", "amount", "rateToUsd", "costMicros")}
    FROM order_costs WHERE seq > :after ORDER BY seq LIMIT :limit`,
});

/** Recomputes micros from the provider's amount and its rate to USD. */
export const COST_SCAN: Check = {
  name: "costs follow from what was charged",
  async run(store, findings) {
    const read = (after: number) =>
      store.read((reader) => reader.all(COSTS, { after, limit: PIECE }));
    for await (const cost of inPieces(read, ({ seq }) => seq)) {
      const { basis, amount, rateToUsd } = cost;
      const micros = basis === "foreign" ? 0 : microsOf(parseDecimal(amount)!, rateToUsd);
      if (micros === cost.costMicros) continue;
      findings.add(
        `order ${cost.orderId}`,
        `its cost is ${cost.costMicros} micros, but ${amount} at ${rateToUsd} is ${micros}`,
      );
    }
  },
};
