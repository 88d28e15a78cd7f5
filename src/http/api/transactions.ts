// GET /balance, and GET /transactions: one page as JSON or all of them as CSV.
// docs/specification/endpoints.md#get-balance, #get-transactions.

import { after, type Awaitable, type ReadStore } from "../../db/port/port.ts";
import { listTransactionsBelow, type TransactionRow } from "../../db/ledger/transactions.ts";
import { balanceOf } from "../../db/users/users.ts";
import { jsonAmount } from "../../domain/ledger/money.ts";
import type { Call } from "../server/endpoint.ts";
import { type InternalErrorDeps, noteInternalError } from "../server/request-context.ts";
import { kindFilter, orderFilter, queryOf } from "../read/query.ts";
import { cursorFilter, formatCursor, limitFilter } from "../read/paging.ts";
import { windowFilter } from "../read/time-windows.ts";
import { wantsCsv } from "../server/csv.ts";
import { csvOf } from "../server/transactions-csv.ts";
import {
  getBalance as describeBalance,
  listTransactions,
} from "../../api-docs/endpoints/balance.ts";
import { ORDER, type Route } from "../server/api-route.ts";

function getBalance({ store }: { store: ReadStore }, { key }: Call): Awaitable<object> {
  return store.read((reader) => {
    const balance = jsonAmount(balanceOf(reader, key.resellerAccount));
    return { status: "success", balance, currency: "USD" };
  });
}

function getTransactions(
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

export const routes: readonly Route<InternalErrorDeps & { store: ReadStore }>[] = [
  ["GET", "/api/v1/balance", ORDER, getBalance, describeBalance],
  ["GET", "/api/v1/transactions", ORDER, getTransactions, listTransactions],
];
