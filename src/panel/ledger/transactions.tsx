// The transactions of all users, as a list and as CSV.

/** @jsxImportSource preact */

import {
  type AllTransactionsQuery,
  listAllTransactionsBelow,
  spansOfWindow,
} from "../../db/ledger/all-transactions.ts";
import { findUser } from "../../db/users/users.ts";
import { TRANSFER_KINDS } from "../../domain/ledger/ledger.ts";
import { ORDER_NUMBER } from "../../domain/values/kinds.ts";
import { csvResponse } from "../../http/server/csv.ts";
import { ALL_TRANSACTIONS_HEADER, allTransactionsCells } from "../../reports/transactions-csv.ts";
import { withAuthors } from "../administrators/authors.ts";
import type { Call } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import type { View } from "../../web/server/results.ts";
import { Choice, Field, Filters } from "../../web/components/fields.tsx";
import { Pager } from "../../web/components/lists.tsx";
import { chipsOfFields, PageHead } from "../../web/components/page-head.tsx";
import { CHIPS, KINDS, Transactions } from "../users/user-transactions.tsx";

const PAGE = 100;
/** Rows of one step of the CSV, which takes some milliseconds. */
const CSV_STEP = 1000;

/** Reads the filters; null if one is wrong. */
async function queryOf(call: Call): Promise<AllTransactionsQuery | null> {
  const { filters } = call;
  const username = filters.optionalUsername("user");
  const kind = filters.optionalChoice("kind", TRANSFER_KINDS);
  const orderId = filters.optional("order", ORDER_NUMBER, 1);
  const window = filters.window();
  if (filters.errors.size > 0) return null;
  if (username === null) return { user: null, kind, orderId, window };
  const user = await call.read((reader) => findUser(reader, username) ?? null);
  if (user === null) filters.addError("user", "User not found");
  return user && { user, kind, orderId, window };
}

export async function transactionsPage(call: Call): Promise<View> {
  const { filters } = call;
  const query = await queryOf(call);
  const { rows, next } = query
    ? await call.read((reader) => {
        const spans = spansOfWindow(reader, query.window);
        const page = listAllTransactionsBelow(reader, query, spans, filters.below(), PAGE);
        return { ...page, rows: withAuthors(reader, page.rows) };
      })
    : { rows: [], next: null };
  const filtered = new URLSearchParams(filters.values);
  filtered.delete("below");
  return {
    title: "Transactions",
    body: (
      <>
        <PageHead title="Transactions">
          <Filters
            action="/transactions"
            filters={filters}
            chips={chipsOfFields(filters.values, CHIPS)}
          >
            <Field name="user" label="User" />
            <Choice name="kind" label="Kind" options={KINDS} any="all" />
            <Field name="order" label="Order" inputmode="numeric" />
            <Field name="from" label="From (UTC)" type="date" />
            <Field name="to" label="To (UTC)" type="date" />
          </Filters>
          <a class="button end" href={`/transactions.csv?${filtered}`}>
            CSV
          </a>
        </PageHead>
        <Transactions
          lines={rows}
          empty={next === null ? "No such transactions." : "None among these: look at older ones."}
        />
        <Pager call={call} next={next} />
      </>
    ),
  };
}

export async function transactionsCsv(call: Call, panel: Panel): Promise<View | Response> {
  const query = await queryOf(call);
  if (!query) return transactionsPage(call);
  const spans = await panel.slowStore.read((reader) => spansOfWindow(reader, query.window));
  const read = async (below: number) => {
    const { rows, next } = await panel.slowStore.read((reader) =>
      listAllTransactionsBelow(reader, query, spans, below, CSV_STEP),
    );
    return { rows: rows.map(allTransactionsCells), next };
  };
  const begin = Number.MAX_SAFE_INTEGER;
  return csvResponse("transactions.csv", ALL_TRANSACTIONS_HEADER, begin, read, (error) =>
    panel.log.error({ error: String(error) }, "the CSV file of transactions was cut off"),
  );
}
