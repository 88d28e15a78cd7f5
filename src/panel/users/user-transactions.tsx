// A user's transactions, as a list and as CSV.

/** @jsxImportSource preact */

import { ORDER_NUMBER } from "../../domain/values/kinds.ts";
import {
  listTransactionsBelow,
  type TransactionQuery,
  type TransactionRow,
} from "../../db/ledger/transactions.ts";
import { TRANSFER_KINDS } from "../../domain/ledger/ledger.ts";
import { csvResponse } from "../../http/server/csv.ts";
import { transactionCells, TRANSACTIONS_HEADER } from "../../reports/transactions-csv.ts";
import { withAuthors } from "../administrators/authors.ts";
import type { Call } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import type { View } from "../../web/server/results.ts";
import { Choice, Field, Filters } from "../../web/components/fields.tsx";
import { List, Pager } from "../../web/components/lists.tsx";
import { Money, Time, Typed } from "../../web/components/shown.tsx";
import { requireShownUser, userPath } from "./shown-user.ts";

const PAGE = 100;
const CSV_STEP = 200;

/** The list of one user's transactions or, with usernames, of those of all users. */
export function Transactions({
  lines,
  empty = "Nothing was credited or charged yet.",
}: {
  lines: readonly (TransactionRow & { by: string; username?: string })[];
  empty?: string;
}) {
  const isOfAll = lines.some(({ username }) => username !== undefined);
  return (
    <List
      caption="Transactions, newest first"
      rows={lines}
      empty={empty}
      columns={[
        { heading: "When (UTC)", cell: ({ createdAt }) => <Time at={createdAt} /> },
        ...(isOfAll
          ? [
              {
                heading: "User",
                cell: ({ username = "" }: { username?: string }) => (
                  <a href={userPath(username)}>{username}</a>
                ),
              },
            ]
          : []),
        { heading: "Kind", cell: ({ kind }) => kind.replace("_", " ") },
        {
          heading: "Amount USD",
          number: true,
          cell: ({ amountMicros }) => <Money micros={amountMicros} signed />,
        },
        {
          heading: "Balance after",
          number: true,
          cell: ({ balanceAfterMicros }) => <Money micros={balanceAfterMicros} />,
        },
        {
          heading: "Order",
          cell: ({ orderId }) =>
            orderId === null ? "–" : <a href={`/orders/${orderId}`}>{orderId}</a>,
        },
        {
          heading: "By",
          cell: ({ by }) => <Typed text={by} />,
        },
        { heading: "Reference", cell: ({ reference }) => <Typed text={reference} /> },
        { heading: "Note", cell: ({ note }) => <Typed text={note} /> },
        { heading: "Note to the user", cell: ({ publicNote }) => <Typed text={publicNote} /> },
      ]}
    />
  );
}

/** Reads the filters. `query` is null if one is wrong. */
async function queryOf(call: Call): Promise<{ username: string; query: TransactionQuery | null }> {
  const { filters } = call;
  const { account, username } = await call.read((reader) =>
    requireShownUser(reader, call.params["user"]!),
  );
  const query = {
    account,
    kind: filters.optionalChoice("kind", TRANSFER_KINDS),
    orderId: filters.optional("order", ORDER_NUMBER, 1),
    window: filters.window(),
  };
  return { username, query: filters.errors.size > 0 ? null : query };
}

export async function transactionsPage(call: Call): Promise<View> {
  const { filters } = call;
  const { username, query } = await queryOf(call);
  const { rows, next } = query
    ? await call.read((reader) => {
        const page = listTransactionsBelow(reader, query, filters.below(), PAGE);
        return { ...page, rows: withAuthors(reader, page.rows) };
      })
    : { rows: [], next: null };
  const path = userPath(username);
  const filtered = new URLSearchParams(filters.values);
  filtered.delete("below");
  return {
    title: `Transactions of ${username}`,
    body: (
      <>
        <h1>
          Transactions of <a href={path}>{username}</a>
        </h1>
        <Filters action={`${path}/transactions`} filters={filters}>
          <Choice name="kind" label="Kind" options={TRANSFER_KINDS} any="all" />
          <Field name="order" label="Order" inputmode="numeric" />
          <Field name="from" label="From" type="date" />
          <Field name="to" label="To" type="date" />
        </Filters>
        <p>
          <a href={`${path}/transactions.csv?${filtered}`}>Download as CSV</a>
        </p>
        <Transactions lines={rows} />
        <Pager call={call} next={next} />
      </>
    ),
  };
}

export async function transactionsCsv(call: Call, panel: Panel): Promise<View | Response> {
  const { query } = await queryOf(call);
  if (!query) return transactionsPage(call);
  const read = async (below: number) => {
    const { rows, next } = await call.read((reader) =>
      listTransactionsBelow(reader, query, below, CSV_STEP),
    );
    return { rows: rows.map(transactionCells), next };
  };
  const begin = Number.MAX_SAFE_INTEGER;
  return csvResponse("transactions.csv", TRANSACTIONS_HEADER, begin, read, (error) =>
    panel.log.error({ error: String(error) }, "the CSV file of transactions was cut off"),
  );
}
