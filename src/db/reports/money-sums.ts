// Sums of transfers by kind, and of changes of costs, in the periods of order-counts.ts.

import type { TransferKind } from "../../domain/ledger/ledger.ts";
import type { Reader } from "../port/port.ts";
import { query } from "../port/query.ts";
import { boolean, number, textOf } from "../port/table-definition.ts";
import { PERIOD_MS } from "./order-counts.ts";
import { halvesOf, microsOf } from "./reports.ts";
import type { Range } from "./row-ranges.ts";

/** The sum of transfers of a kind, or of changes of costs, in a period. */
export interface MoneyChange {
  period: number;
  kind: TransferKind | "cost";
  isTest: boolean;
  micros: bigint;
}

const PERIOD = `created_at / ${PERIOD_MS}`;
// In a transfer of the test side, one account is the test side's cash or sales account. Their numbers are negative.
const IS_TEST_TRANSFER = "CASE WHEN debit_account < 0 OR credit_account < 0 THEN 1 ELSE 0 END";
const WITHIN = "seq > :after AND seq <= :upTo AND created_at >= :from";

const MONEY = query({
  parameters: { after: number, upTo: number, from: number },
  columns: {
    period: number,
    kind: textOf<TransferKind>(),
    isTest: boolean,
    thousands: number,
    rest: number,
  },
  text: `SELECT ${PERIOD} AS "period", kind AS "kind", ${IS_TEST_TRANSFER} AS "isTest", ${halvesOf("amount_micros")}
    FROM transfers WHERE ${WITHIN} GROUP BY ${PERIOD}, kind, ${IS_TEST_TRANSFER}`,
});

// The test side has no costs.
const COSTS = query({
  parameters: { after: number, upTo: number, from: number },
  columns: { period: number, thousands: number, rest: number },
  text: `SELECT ${PERIOD} AS "period", ${halvesOf("change_micros")}
    FROM order_costs WHERE ${WITHIN} GROUP BY ${PERIOD}`,
});

/** Sums transfers by kind and by the transfer's period. */
export function sumMoney(reader: Reader, range: Range): MoneyChange[] {
  return reader.all(MONEY, { ...range }).map(({ thousands, rest, ...change }) => ({
    ...change,
    micros: microsOf(thousands, rest),
  }));
}

/** Sums changes of costs by their period. */
export function sumCosts(reader: Reader, range: Range): MoneyChange[] {
  return reader.all(COSTS, { ...range }).map(({ period, thousands, rest }) => ({
    period,
    kind: "cost",
    isTest: false,
    micros: microsOf(thousands, rest),
  }));
}
