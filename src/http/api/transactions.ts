// GET /transactions: the caller's transactions, one page as JSON or all of them as CSV.
// docs/specification/endpoints.md#get-transactions.

import { after, type Awaitable, type ReadStore } from "../../db/port/port.ts";
import { listTransactionsBelow, type TransactionRow } from "../../db/ledger/transactions.ts";
import { jsonAmount } from "../../domain/ledger/money.ts";
import type { Call } from "../server/endpoint.ts";
import { type InternalErrorDeps, noteInternalError } from "../server/request-context.ts";
import { kindFilter, orderFilter, queryOf } from "../read/query.ts";
import { cursorFilter, formatCursor, limitFilter } from "../read/paging.ts";
import { windowFilter } from "../read/time-windows.ts";
import { wantsCsv } from "../server/csv.ts";
import { csvOf } from "./transactions-csv.ts";

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
  if (wantsCsv(request)) {
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
