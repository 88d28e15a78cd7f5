// Transactions of all users for the operator, newest first, in pages. Each transfer of the live side has one user, so it
// is one transaction. Test accounts are left out. With a filter, a bounded number of transfers is examined, and `next` is
// where the following page continues.

import type { TransferKind } from "../../domain/ledger/ledger.ts";
import { givenNames, listByFilters } from "../port/filtered-lists.ts";
import { isTimed, type Page, timesOf } from "../port/pages.ts";
import type { Reader, Span, TimeWindow } from "../port/port.ts";
import { fields, select } from "../port/query.ts";
import { number, text } from "../port/table-definition.ts";
import { stepBelow } from "../reports/row-ranges.ts";
import { transferDetails, transfers } from "../tables/ledger.ts";
import {
  listTransactionsBelow,
  transactionOf,
  TRANSFER_FIELDS,
  type TransactionRow,
} from "./transactions.ts";

/** A transaction with its user. */
export interface UserTransaction extends TransactionRow {
  username: string;
}

export interface AllTransactionsQuery {
  /** Null: all users. */
  user: { account: number; username: string } | null;
  kind: TransferKind | null;
  orderId: number | null;
  window: TimeWindow;
}

/** Limit for transfers examined for a page with filters. */
const EXAMINED_LIMIT = 10_000;

/** SQL for the user on one side of a transfer. Cash and sales have lower numbers. */
export const USER_OF_TRANSFER =
  "CASE WHEN debit_account > 2 THEN debit_account ELSE credit_account END";
/** SQL for transfers without a test account: the cash and sales accounts of the test side have negative numbers. */
export const LIVE_TRANSFER = "debit_account > 0 AND credit_account > 0";

const LIST = listByFilters({
  columns: {
    ...fields(transfers, ...TRANSFER_FIELDS),
    ...fields(transferDetails, "reference", "publicNote"),
    username: text,
  },
  parameters: {
    first: number,
    last: number,
    limit: number,
    kind: text,
    orderId: number,
    from: number,
    to: number,
  },
  conditions: {
    kind: "transfers.kind = :kind",
    orderId: "transfers.order_id = :orderId",
    window: "transfers.created_at BETWEEN :from AND :to",
  },
  text: (
    and,
  ) => `SELECT ${select(transfers, ...TRANSFER_FIELDS)}, ${select(transferDetails, "reference", "publicNote")},
      users.username AS "username"
    FROM transfers JOIN users ON users.account = ${USER_OF_TRANSFER}
      LEFT JOIN transfer_details ON transfer_details.seq = transfers.seq
    WHERE transfers.seq BETWEEN :first AND :last AND ${LIVE_TRANSFER}${and}
    ORDER BY transfers.seq DESC LIMIT :limit`,
});

/** Returns ranges of transfer numbers that contain a window's transactions, newest first. An export calls it once. */
export function spansOfWindow(reader: Reader, window: TimeWindow): Span[] {
  return reader.spans("transfers", null, window);
}

/**
 * Lists the newest transactions within the spans with numbers lower than `below`. A page may have fewer than `limit`
 * although more follow: only a null `next` means the end of the list.
 */
export function listAllTransactionsBelow(
  reader: Reader,
  { user, kind, orderId, window }: AllTransactionsQuery,
  spans: readonly Span[],
  below: number,
  limit: number,
): Page<UserTransaction> {
  if (user !== null) {
    const filter = { account: user.account, kind, orderId, window };
    const { rows, next } = listTransactionsBelow(reader, filter, below, limit);
    return { rows: rows.map((row) => ({ ...row, username: user.username })), next };
  }
  const span = spans.find(({ first }) => first < below);
  if (!span) return { rows: [], next: null };
  const last = Math.min(span.last, below - 1);
  const filter = { kind, orderId, window: isTimed(window) ? true : null };
  const given = givenNames(filter, ["kind", "orderId", "window"]);
  const first = Math.max(span.first, examinedFrom(reader, last, given, limit));
  const found = reader.all(LIST(given), {
    ...timesOf(window),
    kind: kind ?? "",
    orderId: orderId ?? 0,
    first,
    last,
    limit: limit + 1,
  });
  const rows = found.slice(0, limit).map(({ username, ...row }) => {
    const { debitAccount, creditAccount } = row;
    return { ...transactionOf(row, Math.max(debitAccount, creditAccount)), username };
  });
  if (found.length > limit) return { rows, next: rows.at(-1)!.seq };
  const hasMore = first > span.first || span !== spans.at(-1);
  return { rows, next: hasMore ? first : null };
}

/**
 * Returns the first number that a page reads. For one order the page reads from the first, because an index finds its
 * few transfers.
 */
function examinedFrom(
  reader: Reader,
  last: number,
  given: readonly string[],
  limit: number,
): number {
  if (given.includes("orderId")) return 1;
  const rows = given.length > 0 ? EXAMINED_LIMIT : limit + 1;
  return stepBelow(reader, "transfers", last, rows) + 1;
}
