// Totals of days, of the rows up to a position: what is above it is added up at each report. A row is counted by its
// number, not by its time, so that one with an earlier time (the clock was set back) is counted like any other.

import type { Reader, Tx } from "./port.ts";
import { query, statement } from "./query.ts";
import {
  type Amounts,
  DAY_MS,
  keyOf,
  microsOf,
  REPORT_SOURCES,
  type ReportKey,
  type ReportPosition,
  type ReportSource,
  SOURCES,
} from "./reports.ts";
import { number, text, textOf } from "./table-definition.ts";
import { dailyTotals, totalsPosition } from "./tables.ts";

export const TOTAL_KINDS = ["service", "reseller", "provider"] as const;
export type TotalKind = (typeof TOTAL_KINDS)[number];

/** There is one row. */
const ID = 1;

export interface Position {
  counted: ReportPosition;
  /** Up to where rows may be counted next. */
  goal: ReportPosition;
  /** No transaction before this one may be open any more; 0: not stamped yet. See operations/daily-totals.ts. */
  goalTransaction: number;
}

/** Sums that were read in two halves each. */
const halves = (
  column: string,
  name: string,
) => `CAST(sum(${column} / 1000000000) AS BIGINT) AS "${name}Thousands",
  CAST(sum(${column} % 1000000000) AS BIGINT) AS "${name}Rest"`;

// With the position in one statement, and so of one moment.
const totalsQuery = (key: string) =>
  query({
    takes: { kind: textOf<TotalKind>(), first: number, last: number },
    gives: {
      isPosition: number,
      key: text,
      orders: number,
      revenueThousands: number,
      revenueRest: number,
      refundsThousands: number,
      refundsRest: number,
      costThousands: number,
      costRest: number,
    },
    text: `SELECT 0 AS "isPosition", CAST(${key} AS TEXT) AS "key", CAST(sum(orders) AS BIGINT) AS "orders",
        ${halves("revenue_micros", "revenue")}, ${halves("refunds_micros", "refunds")}, ${halves("cost_micros", "cost")}
      FROM daily_totals WHERE kind = :kind AND day BETWEEN :first AND :last GROUP BY ${key}
      UNION ALL SELECT 1, '', orders, transfers, costs, 0, 0, 0, 0 FROM totals_position`,
  });

const BY_DAY = totalsQuery("day");
const BY_KEY = totalsQuery("key");

/** PostgreSQL's transactions: the oldest that is open, and this one's number. */
const TRANSACTIONS = query({
  gives: { oldest: number, own: number },
  text: {
    sqlite: `SELECT 0 AS "oldest", 0 AS "own"`,
    postgres: `SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT) AS "oldest",
      CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT) AS "own"`,
  },
});

/** The totals of days, both included, by their keys as ReportPart has them; and up to which rows they go. */
export function readTotals(
  reader: Reader,
  by: ReportKey,
  days: { first: number; last: number },
): { counted: ReportPosition; totals: Map<string, Amounts> } {
  // All providers of a day are all of its orders, and they are few.
  const found = reader.all(by === "day" ? BY_DAY : BY_KEY, {
    kind: by === "day" ? "provider" : by,
    ...days,
  });
  const totals = new Map<string, Amounts>();
  let counted: ReportPosition = { orders: 0, transfers: 0, order_costs: 0 };
  for (const row of found) {
    if (row.isPosition === 1) {
      const { orders, revenueThousands: transfers, revenueRest: costs } = row;
      counted = { orders, transfers, order_costs: costs };
      continue;
    }
    totals.set(row.key, {
      orders: row.orders,
      revenueMicros: microsOf(row.revenueThousands, row.revenueRest),
      refundsMicros: microsOf(row.refundsThousands, row.refundsRest),
      costMicros: microsOf(row.costThousands, row.costRest),
    });
  }
  return { counted, totals };
}

export function readPosition(reader: Reader): Position {
  const row = reader.row(totalsPosition.byKey, ID)!;
  const { orders, transfers, costs, goalOrders, goalTransfers, goalCosts } = row;
  return {
    counted: { orders, transfers, order_costs: costs },
    goal: { orders: goalOrders, transfers: goalTransfers, order_costs: goalCosts },
    goalTransaction: row.goalTransaction,
  };
}

// As a statement it has its transaction to itself: no other command of its batch changes what it counts.
const LOCK_POSITION = statement({
  writes: [],
  text: {
    sqlite: "UPDATE totals_position SET id = id WHERE id = 0",
    postgres: "SELECT 1 FROM totals_position WHERE id = 1 FOR UPDATE",
  },
});

/** One transaction counts at a time, and none changes the provider of an order meanwhile (a trigger waits for it). */
export function lockPosition(tx: Tx): void {
  tx.run(LOCK_POSITION);
}

/** SQLite has one writer: 0 and 0. */
export function readTransactions(tx: Tx): { oldest: number; own: number } {
  return tx.one(TRANSACTIONS)!;
}

export function writePosition(tx: Tx, { counted, goal, goalTransaction }: Position): void {
  tx.update(
    totalsPosition,
    { id: ID },
    {
      orders: counted.orders,
      transfers: counted.transfers,
      costs: counted.order_costs,
      goalOrders: goal.orders,
      goalTransfers: goal.transfers,
      goalCosts: goal.order_costs,
      goalTransaction,
    },
  );
}

/** The sums of a source's rows are one of the amounts of a total. */
const AMOUNTS: Record<ReportSource, (sum: string) => string> = {
  orders: (sum) => `count(*), ${sum}, 0, 0`,
  transfers: (sum) => `0, 0, ${sum}, 0`,
  order_costs: (sum) => `0, 0, 0, ${sum}`,
};

// Set-based: many keys have few rows each, and the writer belongs to orders.
const addStatement = (kind: TotalKind, source: ReportSource) => {
  const { rows, number: column, amount, at } = SOURCES[source];
  const key = keyOf(kind, at);
  const grown = (name: string) => `${name} = total.${name} + excluded.${name}`;
  return statement({
    takes: { after: number, upTo: number },
    writes: [dailyTotals],
    text: `INSERT INTO daily_totals AS total (kind, day, key, orders, revenue_micros, refunds_micros, cost_micros)
      SELECT '${kind}', ${at} / ${DAY_MS}, ${key}, ${AMOUNTS[source](`CAST(sum(${amount}) AS BIGINT)`)}
      FROM ${rows} AND ${column} > :after AND ${column} <= :upTo GROUP BY ${at} / ${DAY_MS}, ${key}
      ON CONFLICT (kind, day, key) DO UPDATE SET ${["orders", "revenue_micros", "refunds_micros", "cost_micros"].map(grown).join(", ")}`,
  });
};

const ADD = TOTAL_KINDS.flatMap((kind) =>
  REPORT_SOURCES.map((source) => ({ source, add: addStatement(kind, source) })),
);

/** Adds what rows above one position and up to another come to, to their days. */
export function addToTotals(tx: Tx, after: ReportPosition, upTo: ReportPosition): void {
  for (const { source, add } of ADD) {
    if (upTo[source] > after[source]) tx.run(add, { after: after[source], upTo: upTo[source] });
  }
}
