// GET /transactions: the caller's transactions, as a page of JSON or, all of them, as CSV.
// docs/specification.md#get-transactions.

import { after, type Awaitable, type ReadStore } from "../db/port.ts";
import { listTransactionsBelow, type TransactionRow } from "../db/transactions.ts";
import { jsonAmount } from "../domain/money.ts";
import type { Call } from "./endpoint.ts";
import { type InternalErrorDeps, noteInternalError } from "./request-context.ts";
import { kindFilter, orderFilter, queryOf } from "./query.ts";
import { cursorFilter, formatCursor, limitFilter } from "./paging.ts";
import { windowFilter } from "./time-windows.ts";
import { csvOf } from "./transactions-csv.ts";

const CSV_TYPE = /(^|,)\s*text\/csv\s*(;|,|$)/i;

export function getTransactions(
  deps: InternalErrorDeps & { store: ReadStore },
  { request, key, requestId }: Call,
): Awaitable<object> {
  const { store } = deps;
  const query = queryOf(request);
  const filters = {
    account: key.resellerAccount,
    kind: kindFilter(query),
    orderId: orderFilter(query),
    window: windowFilter(query),
  };
  const limit = limitFilter(query);
  const below = cursorFilter(query, "transactions");
  if (CSV_TYPE.test(request.headers.get("accept") ?? "")) {
    return csvOf(store, filters, below, (error) => noteInternalError(deps, requestId, error));
  }
  const page = store.read((reader) => listTransactionsBelow(reader, filters, below, limit));
  return after(page, ({ rows, next }) => ({
    status: "success",
    transactions: rows.map(transaction),
    nextCursor: next === null ? null : formatCursor("transactions", next),
  }));
}

function transaction(line: TransactionRow) {
  return {
    seq: line.seq,
    kind: line.kind,
    amount: jsonAmount(line.amountMicros),
    balanceAfter: jsonAmount(line.balanceAfterMicros),
    orderId: line.orderId,
    note: line.publicNote,
    createdAt: new Date(line.createdAt).toISOString(),
  };
}
