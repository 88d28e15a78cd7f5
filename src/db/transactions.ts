// A user's transactions: its side of the ledger, newest first, in pages that cost the same at any size.

import { and, between, desc, eq, getTableColumns, sql } from "drizzle-orm";
import type { TransferKind } from "../domain/ledger.ts";
import { type Connection, exactly, prepared } from "./sqlite/connection.ts";
import { readInSnapshot } from "./sqlite/snapshot.ts";
import { mergeNewest, type Page } from "./pages.ts";
import { transfers } from "./schema.ts";
import type { TimeWindow } from "./port.ts";

export interface TransactionQuery {
  account: number;
  kind: TransferKind | null;
  /** The number of an order. */
  orderId: number | null;
  window: TimeWindow;
}

/** A transfer as the user on one side of it sees it. */
export interface TransactionRow {
  seq: number;
  kind: TransferKind;
  /** Positive for a credit, negative for a debit. */
  amountMicros: number;
  balanceAfterMicros: bigint;
  orderId: number | null;
  /** The operator's note. */
  note: string | null;
  createdAt: number;
}

/** The kinds of credits; debits are for an order or an adjustment. */
const CREDITS = ["recharge", "partial_refund", "refund", "adjustment"] as const;

const queries = prepared((orm) => {
  const { debitAccount, creditAccount, kind, seq } = transfers;
  const account = sql.placeholder("account");
  const within = between(seq, sql.placeholder("first"), sql.placeholder("last"));
  // `> 2` holds for every user; it lets SQLite use the partial indexes of users' transfers.
  const debits = and(eq(debitAccount, account), sql`${debitAccount} > 2`, within);
  const credits = and(eq(creditAccount, account), sql`${creditAccount} > 2`, within);
  const numbers = (where: typeof debits) =>
    orm
      .select({ seq })
      .from(transfers)
      .where(where)
      .orderBy(desc(seq))
      .limit(sql.placeholder("limit"))
      .prepare();
  const selectRows = () =>
    orm
      .select({
        ...getTableColumns(transfers),
        balanceAfterMicros: exactly(transfers.balanceAfterMicros),
      })
      .from(transfers);
  return {
    debits: numbers(debits),
    orderDebits: numbers(and(debits, sql`${kind} = 'order'`)),
    adjustmentDebits: numbers(and(debits, sql`${kind} = 'adjustment'`)),
    credits: numbers(and(credits, eq(kind, sql.placeholder("kind")))),
    rows: selectRows()
      .where(sql`${seq} in (select value from json_each(${sql.placeholder("numbers")}))`)
      .orderBy(desc(seq))
      .prepare(),
    ofOrder: selectRows()
      .where(eq(transfers.orderId, sql.placeholder("orderId")))
      .orderBy(desc(seq))
      .prepare(),
  };
});

/** The newest transactions below number `below`, at most `limit`. */
export function listTransactionsBelow(
  connection: Connection,
  query: TransactionQuery,
  below: number,
  limit: number,
): Page<TransactionRow> {
  return readInSnapshot(connection, () => {
    if (query.orderId !== null) return ofOrder(connection, query, query.orderId, below, limit);
    const numbers = newestBelow(connection, query, below, limit + 1);
    const shown = numbers.slice(0, limit);
    const rows = queries(connection).rows.all({ numbers: JSON.stringify(shown) });
    return {
      rows: rows.map((row) => transactionOf(row, query.account)),
      next: numbers.length > limit ? shown.at(-1)! : null,
    };
  });
}

/** An order has at most three transfers: they are filtered here. */
function ofOrder(
  connection: Connection,
  { account, kind, window: { from, to } }: TransactionQuery,
  orderId: number,
  below: number,
  limit: number,
): Page<TransactionRow> {
  const found = queries(connection)
    .ofOrder.all({ orderId })
    .filter((row) => row.debitAccount === account || row.creditAccount === account)
    .filter((row) => (kind === null || row.kind === kind) && row.seq < below)
    .filter((row) => row.createdAt >= (from ?? -Infinity) && row.createdAt <= (to ?? Infinity))
    .map((row) => transactionOf(row, account));
  return {
    rows: found.slice(0, limit),
    next: found.length > limit ? found[limit - 1]!.seq : null,
  };
}

function newestBelow(
  connection: Connection,
  { account, kind, window }: TransactionQuery,
  below: number,
  limit: number,
): number[] {
  const numbers: number[] = [];
  for (const { first, last } of connection.store.reader.spans("transfers", 0, window)) {
    if (first >= below) continue;
    const left = limit - numbers.length;
    const bounds = { account, first, last: Math.min(last, below - 1), limit: left };
    const lists = listsOf(connection, kind, bounds).map((list) => list.map(({ seq }) => seq));
    numbers.push(...mergeNewest(lists, left));
    if (numbers.length >= limit) break;
  }
  return numbers;
}

interface Bounds {
  account: number;
  first: number;
  last: number;
  limit: number;
}

function listsOf(connection: Connection, kind: TransferKind | null, bounds: Bounds) {
  const { debits, orderDebits, adjustmentDebits, credits } = queries(connection);
  switch (kind) {
    case null:
      return [
        debits.all({ ...bounds }),
        ...CREDITS.map((credit) => credits.all({ ...bounds, kind: credit })),
      ];
    case "order":
      return [orderDebits.all({ ...bounds })];
    case "adjustment":
      return [adjustmentDebits.all({ ...bounds }), credits.all({ ...bounds, kind })];
    case "recharge":
    case "partial_refund":
    case "refund":
      return [credits.all({ ...bounds, kind })];
  }
}

function transactionOf(row: typeof transfers.$inferSelect, account: number): TransactionRow {
  const { seq, kind, amountMicros, balanceAfterMicros, orderId, note, createdAt } = row;
  return {
    seq,
    kind,
    amountMicros: row.creditAccount === account ? amountMicros : -amountMicros,
    balanceAfterMicros,
    orderId,
    // A note of the system actor may quote the provider, which is for the operator only.
    note: row.operator === null ? null : note,
    createdAt,
  };
}
