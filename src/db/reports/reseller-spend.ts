// What one reseller spent: charges less refunds, by the totals of days and the rows that are not counted yet.

import { DAY_MS } from "../../domain/values/spans.ts";
import type { Reader } from "../port/port.ts";
import { query } from "../port/query.ts";
import { bigint, nullable, number, numbers, text, texts } from "../port/table-definition.ts";
import { readTotals } from "./daily-totals.ts";
import { halvesOf, microsOf, SOURCES } from "./reports.ts";
import { utcDayOf } from "../../domain/values/calendar.ts";

// Looks days up one by one: a range of them would read the totals of every reseller.
const COUNTED = query({
  parameters: { keys: texts, days: numbers },
  columns: { key: text, orders: number, spentMicros: bigint },
  text: `SELECT key AS "key", CAST(sum(orders) AS BIGINT) AS "orders",
      CAST(CAST(sum(revenue_micros - refunds_micros) AS BIGINT) AS TEXT) AS "spentMicros"
    FROM daily_totals WHERE kind = 'reseller' AND day IN (:days) AND key IN (:keys) GROUP BY key`,
});

export interface AccountTotals {
  orders: number;
  /** Charges less refunds. */
  spentMicros: bigint;
}

const NOTHING: AccountTotals = { orders: 0, spentMicros: 0n };

/**
 * Returns the orders and the spend of each of these accounts in the last UTC days, today included, as far as they were
 * counted: about a minute late.
 */
export function readAccountTotals(
  reader: Reader,
  accounts: readonly number[],
  days: number,
  now: number,
): (account: number) => AccountTotals {
  const today = utcDayOf(now);
  const found = reader.all(COUNTED, {
    keys: accounts.map(String),
    days: Array.from({ length: days }, (_, back) => today - back),
  });
  const totals = new Map(found.map(({ key, ...each }) => [key, each]));
  return (account) => totals.get(String(account)) ?? NOTHING;
}

const BY_DAY = query({
  parameters: { key: text, days: numbers },
  columns: { day: number, micros: bigint },
  text: `SELECT day AS "day", CAST(revenue_micros - refunds_micros AS TEXT) AS "micros"
    FROM daily_totals WHERE kind = 'reseller' AND day IN (:days) AND key = :key`,
});

/** Returns what an account spent on each of the last UTC days, the oldest first, as far as it was counted. */
export function readSpendByDay(
  reader: Reader,
  account: number,
  days: number,
  now: number,
): { at: number; micros: bigint }[] {
  const today = utcDayOf(now);
  const wanted = Array.from({ length: days }, (_, back) => today - (days - 1 - back));
  const found = reader.all(BY_DAY, { key: String(account), days: wanted });
  const spend = new Map(found.map(({ day, micros }) => [day, micros]));
  return wanted.map((day) => ({ at: day * DAY_MS, micros: spend.get(day) ?? 0n }));
}

const uncounted = (source: "orders" | "transfers") => {
  const { rows, number: column, amount, at } = SOURCES[source];
  return query({
    parameters: { account: number, after: number, from: number, to: number },
    columns: { thousands: nullable(number), rest: nullable(number) },
    text: `SELECT ${halvesOf(amount)} FROM ${rows}
      AND orders.reseller_account = :account AND ${column} > :after AND ${at} BETWEEN :from AND :to`,
  });
};

const UNCOUNTED = { orders: uncounted("orders"), transfers: uncounted("transfers") };

/** Returns the charges less the refunds of a reseller in UTC days, both included. Negative: more was refunded. */
export function spendOf(
  reader: Reader,
  account: number,
  days: { first: number; last: number },
): bigint {
  const { counted, totals } = readTotals(reader, "reseller", days);
  const total = totals.get(String(account));
  const times = { from: days.first * DAY_MS, to: (days.last + 1) * DAY_MS - 1 };
  const uncountedOf = (source: keyof typeof UNCOUNTED) => {
    const values = { account, after: counted[source], ...times };
    const { thousands, rest } = reader.one(UNCOUNTED[source], values)!;
    return microsOf(thousands ?? 0, rest ?? 0);
  };
  const spent = (total?.revenueMicros ?? 0n) - (total?.refundsMicros ?? 0n);
  return spent + uncountedOf("orders") - uncountedOf("transfers");
}
