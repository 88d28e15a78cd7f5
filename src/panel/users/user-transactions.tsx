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
import { chipsOfFields, PageHead } from "../../web/components/page-head.tsx";
import { List, Pager } from "../../web/components/lists.tsx";
import { showHidden } from "../../domain/values/text.ts";
import { Cents, Time, Typed } from "../../web/components/shown.tsx";
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
      compact
      isDated
      rows={lines}
      empty={empty}
      columns={[
        {
          heading: "When (UTC)",
          place: "third",
          cell: ({ createdAt }) => <Time at={createdAt} short />,
        },
        ...(isOfAll
          ? [
              {
                heading: "User",
                place: "second" as const,
                cell: ({ username = "" }: { username?: string }) => (
                  <a href={userPath(username)}>{username}</a>
                ),
              },
            ]
          : []),
        { heading: "Kind", place: "title", cell: ({ kind }) => kindText(kind) },
        {
          heading: "Amount USD",
          number: true,
          place: "end",
          cell: ({ amountMicros }) => <Cents micros={amountMicros} signed />,
        },
        {
          heading: "Balance after",
          number: true,
          place: "state",
          cell: ({ balanceAfterMicros }) => <Cents micros={balanceAfterMicros} />,
        },
        {
          heading: "Order, payment",
          place: "first",
          cell: Cause,
        },
        {
          heading: "By",
          title: ({ by }) => showHidden(by),
          cell: ({ by }) => <Typed text={by} />,
        },
        {
          heading: "Reference",
          wide: true,
          title: ({ reference }) => showHidden(reference ?? ""),
          cell: ({ reference }) => <Typed text={reference} />,
        },
        {
          heading: "Note",
          wide: true,
          grow: true,
          title: ({ note }) => showHidden(note ?? ""),
          cell: ({ note }) => <Typed text={note} />,
        },
        {
          heading: "Note to the user",
          wide: true,
          grow: true,
          title: ({ publicNote }) => showHidden(publicNote ?? ""),
          cell: ({ publicNote }) => <Typed text={publicNote} />,
        },
      ]}
    />
  );
}

/** The note of a payment's transaction. */
const OF_PAYMENT = /^payment ([a-z0-9]{24})$/;

/** Leads to the order or the payment that a transaction is for. */
function Cause({ kind, orderId, note }: TransactionRow) {
  if (orderId !== null) return <a href={`/orders/${orderId}`}>{orderId}</a>;
  const [, id] = (kind.startsWith("payment") && OF_PAYMENT.exec(note ?? "")) || [];
  return id === undefined ? <Typed text={null} /> : <a href={`/payments/${id}`}>payment</a>;
}

/** The kinds of transactions in words, for a filter. */
export const KINDS = TRANSFER_KINDS.map((kind) => [kind, kindText(kind)] as const);

/** The filters that are set. */
export const CHIPS = {
  user: "User",
  kind: kindText,
  order: "Order",
  from: "From",
  to: "To",
};

function kindText(kind: string): string {
  return kind.replace("_", " ");
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
        <PageHead
          title={
            <>
              Transactions of <a href={path}>{username}</a>
            </>
          }
        >
          <Filters
            action={`${path}/transactions`}
            filters={filters}
            chips={chipsOfFields(filters.values, CHIPS)}
          >
            <Choice name="kind" label="Kind" options={KINDS} any="all" />
            <Field name="order" label="Order" inputmode="numeric" />
            <Field name="from" label="From (UTC)" type="date" />
            <Field name="to" label="To (UTC)" type="date" />
          </Filters>
          <a class="button end" href={`${path}/transactions.csv?${filtered}`}>
            CSV
          </a>
        </PageHead>
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
