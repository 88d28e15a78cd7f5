// Finds the row numbers of a time window. Numbers come from sequences and transactions commit in any order, so times do
// not follow numbers. An index by time finds the lowest and the highest number of the window.

import type { TimedTable, Reader, Span, TimeWindow } from "../../port/port.ts";
import { query } from "../../port/query.ts";
import { nullable, number } from "../../port/table-definition.ts";

const window = { from: number, to: number };
const columns = { first: nullable(number), last: nullable(number) };

const ANY_ACCOUNT = "= ANY (ARRAY(SELECT account FROM users))";

const ordersIn = (account: string): string => `SELECT min(order_id) AS first, max(order_id) AS last
  FROM orders WHERE reseller_account ${account} AND created_at BETWEEN :from AND :to`;

// Searches both sides of a transfer. Each has an index by time, which PostgreSQL uses only for queries with created_at
// >= 0.
const transfersIn = (account: string): string => `SELECT min(seq) AS first, max(seq) AS last FROM (
    SELECT seq FROM transfers WHERE debit_account ${account} AND debit_account > 2
      AND created_at >= 0 AND created_at BETWEEN :from AND :to
    UNION ALL
    SELECT seq FROM transfers WHERE credit_account ${account} AND credit_account > 2
      AND created_at >= 0 AND created_at BETWEEN :from AND :to
  ) AS found`;

const forAccount = (textFor: (account: string) => string) =>
  query({ parameters: { ...window, account: number }, columns, text: textFor("= :account") });

const forAllAccounts = (textFor: (account: string) => string) =>
  query({ parameters: window, columns, text: textFor(ANY_ACCOUNT) });

const QUERIES = {
  orders: { forAccount: forAccount(ordersIn), forAllAccounts: forAllAccounts(ordersIn) },
  transfers: { forAccount: forAccount(transfersIn), forAllAccounts: forAllAccounts(transfersIn) },
} as const satisfies Record<TimedTable, unknown>;

/**
 * Returns at most one span, which may also contain rows of the account with other times. Reads every index entry of the
 * window.
 */
export function spansWithin(
  reader: Reader,
  table: TimedTable,
  account: number | null,
  { from, to }: TimeWindow,
): Span[] {
  if (from === null && to === null) return [{ first: 1, last: Number.MAX_SAFE_INTEGER }];
  const times = { from: from ?? 0, to: to ?? Number.MAX_SAFE_INTEGER };
  const found =
    account === null
      ? reader.one(QUERIES[table].forAllAccounts, times)!
      : reader.one(QUERIES[table].forAccount, { ...times, account })!;
  if (found.first === null || found.last === null) return [];
  return [{ first: found.first, last: found.last }];
}
