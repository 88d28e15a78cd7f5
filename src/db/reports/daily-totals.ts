// Totals of days, for the rows up to a position. Each report adds the rows after it. Rows are counted by number, not by
// time, so that a row with an earlier time (the clock was set back) is counted like any other. Unlike the counts of
// reports/running-count.ts, totals are stored: a recount at each start would read every order there ever was, not one
// month. A report of a month without them would add up a million rows in 3.4 to 5 s. On PostgreSQL a row is counted once
// no transaction is open that could still commit a lower number.

import type { Reader, Tx } from "../port/port.ts";
import { query, statement } from "../port/query.ts";
import { addMoney } from "./money-totals.ts";
import {
  type Amounts,
  halvesOf,
  keyOf,
  microsOf,
  REPORT_SOURCES,
  type ReportKey,
  type ReportPosition,
  type ReportSource,
  SOURCES,
} from "./reports.ts";
import { DAY_MS, HOUR_MS } from "../../domain/values/spans.ts";
import { number, text, textOf } from "../port/table-definition.ts";
import { dailyTotals, hourlySpend, totalsPosition } from "../tables/reports.ts";

export const TOTAL_KINDS = ["service", "reseller", "provider"] as const;
export type TotalKind = (typeof TOTAL_KINDS)[number];

/** The id of the table's only row. */
const ID = 1;

export interface Position {
  counted: ReportPosition;
  /** The position up to which rows may be counted next. */
  goal: ReportPosition;
  /**
   * The number of the transaction that set the goal. Rows up to the goal may be counted once no earlier transaction is
   * open. 0: not set yet. See operations/reports/daily-totals.ts.
   */
  goalTransaction: number;
}

const halves = (column: string, name: string) =>
  halvesOf(column, [`${name}Thousands`, `${name}Rest`]);

// Reads the position in the same statement, so that both are of the same moment. The position's row has its three
// numbers in `orders`, `revenueThousands` and `revenueRest`.
const totalsQuery = (key: string) =>
  query({
    parameters: { kind: textOf<TotalKind>(), first: number, last: number },
    columns: {
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

/** PostgreSQL's transaction numbers: the oldest open one, and this one. */
const TRANSACTIONS = query({
  columns: { oldest: number, own: number },
  text: {
    sqlite: `SELECT 0 AS "oldest", 0 AS "own"`,
    postgres: `SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT) AS "oldest",
      CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT) AS "own"`,
  },
});

/** Reads the totals of the days from `first` to `last`, by the keys of ReportPart, and the position they cover. */
export function readTotals(
  reader: Reader,
  by: ReportKey,
  days: { first: number; last: number },
): { counted: ReportPosition; totals: Map<string, Amounts> } {
  // The sum over all providers covers all orders of a day, and providers are few.
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

// A command that runs a `statement` (db/port/query.ts) gets a transaction of its own, so no other command of a batch
// changes what it counts.
const LOCK_POSITION = statement({
  writes: [],
  text: {
    sqlite: "UPDATE totals_position SET id = id WHERE id = 0",
    postgres: "SELECT 1 FROM totals_position WHERE id = 1 FOR UPDATE",
  },
});

/** Locks the position: only one transaction counts, and none changes an order's provider (a trigger takes the lock). */
export function lockPosition(tx: Tx): void {
  tx.run(LOCK_POSITION);
}

/** Reads TRANSACTIONS. Both are 0 on SQLite, which has one writer. */
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

/** SQL for the columns of a total, by source. The source's sum is in one of them; the other columns are 0. */
const AMOUNTS: Record<ReportSource, (sum: string) => string> = {
  orders: (sum) => `count(*), ${sum}, 0, 0`,
  transfers: (sum) => `0, 0, ${sum}, 0`,
  order_costs: (sum) => `0, 0, 0, ${sum}`,
};

// One statement for all keys, because there are many keys with few rows, and the writer must stay free for orders.
const addStatement = (kind: TotalKind, source: ReportSource) => {
  const { rows, number: column, amount, at } = SOURCES[source];
  const key = keyOf(kind, at);
  const grown = (name: string) => `${name} = total.${name} + excluded.${name}`;
  return statement({
    parameters: { after: number, upTo: number },
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

/** Hours for which the spend of resellers is kept. */
const HOURS_KEPT = 48;

const addSpendStatement = (source: "orders" | "transfers") => {
  const { rows, number: column, amount, at } = SOURCES[source];
  const sum = `CAST(sum(${amount}) AS BIGINT)`;
  return statement({
    parameters: { after: number, upTo: number, from: number },
    writes: [hourlySpend],
    text: `INSERT INTO hourly_spend AS total (hour, account, charged_micros, refunded_micros)
      SELECT ${at} / ${HOUR_MS}, orders.reseller_account, ${source === "orders" ? `${sum}, 0` : `0, ${sum}`}
      FROM ${rows} AND ${column} > :after AND ${column} <= :upTo AND ${at} >= :from
      GROUP BY ${at} / ${HOUR_MS}, orders.reseller_account
      ON CONFLICT (hour, account) DO UPDATE SET charged_micros = total.charged_micros + excluded.charged_micros,
        refunded_micros = total.refunded_micros + excluded.refunded_micros`,
  });
};

const ADD_SPEND = {
  orders: addSpendStatement("orders"),
  transfers: addSpendStatement("transfers"),
};

const FORGET_SPEND = statement({
  parameters: { before: number },
  writes: [hourlySpend],
  text: "DELETE FROM hourly_spend WHERE hour < :before",
});

/** Adds the rows after one position, up to another, to the totals of their days and the spend of their hours. */
export function addToTotals(
  tx: Tx,
  after: ReportPosition,
  upTo: ReportPosition,
  now: number,
): void {
  const firstHour = Math.floor(now / HOUR_MS) - HOURS_KEPT;
  tx.run(FORGET_SPEND, { before: firstHour });
  for (const source of ["orders", "transfers"] as const) {
    if (upTo[source] <= after[source]) continue;
    const range = { after: after[source], upTo: upTo[source] };
    tx.run(ADD_SPEND[source], { ...range, from: firstHour * HOUR_MS });
  }
  if (upTo.transfers > after.transfers) addMoney(tx, after.transfers, upTo.transfers);
  for (const { source, add } of ADD) {
    if (upTo[source] > after[source]) tx.run(add, { after: after[source], upTo: upTo[source] });
  }
}
