// The balance with its transactions, newest first, as a page and as CSV.

/** @jsxImportSource preact */

import {
  listTransactionsBelow,
  type TransactionQuery,
  type TransactionRow,
} from "../../db/ledger/transactions.ts";
import { TRANSFER_KINDS } from "../../domain/ledger/ledger.ts";
import { csvOf } from "../../http/server/transactions-csv.ts";
import { Choice, Field, Filters } from "../../web/components/fields.tsx";
import { List, Pager } from "../../web/components/lists.tsx";
import { PageHead } from "../../web/components/page-head.tsx";
import { Typed } from "../../web/components/shown.tsx";
import type { View } from "../../web/server/results.ts";
import { dayWindow } from "../parts/day-window.ts";
import { Time } from "../parts/shown.tsx";
import type { Call } from "../server/call.ts";
import type { Portal } from "../server/portal.ts";
import type { Visitor } from "../server/visitor.ts";
import { AddFunds, LastPayments, readLastPayments } from "../payments/payments.tsx";
import { LastInvoices, readLastInvoices } from "./invoices.tsx";
import { Statements } from "./month.tsx";

const PAGE_SIZE = 50;

export async function balancePage(call: Call, { now }: Portal): Promise<View> {
  const { visitor, filters } = call;
  const { t, formats } = visitor;
  const query = queryOf(call);
  const { rows, next } = query
    ? await call.read((reader) => listTransactionsBelow(reader, query, filters.below(), PAGE_SIZE))
    : { rows: [], next: null };
  const payments = await readLastPayments(call);
  const invoices = await readLastInvoices(call);
  const filtered = new URLSearchParams(filters.values);
  filtered.delete("below");
  return {
    title: t("balance.title"),
    body: (
      <>
        <PageHead title={t("balance.title")}>
          <a href={`/balance.csv?${filtered}`}>{t("site.csv")}</a>
          <a href="#statements">{t("statement.list")}</a>
        </PageHead>
        <p class="figure">
          <strong>{formats.money(visitor.reseller.balanceMicros)}</strong>
        </p>
        <p class="actions">
          <AddFunds visitor={visitor} />
        </p>
        <LastPayments visitor={visitor} rows={payments} />
        <Filters action="/balance" filters={filters}>
          <Choice
            name="kind"
            label={t("balance.kind")}
            any={t("orders.all")}
            options={TRANSFER_KINDS.map((kind) => [kind, t(`transfer.${kind}`)] as const)}
          />
          <Field name="from" label={t("balance.from")} type="date" />
          <Field name="to" label={t("balance.to")} type="date" />
        </Filters>
        <Transactions visitor={visitor} rows={rows} />
        <Pager call={call} next={next} />
        <LastInvoices visitor={visitor} rows={invoices} />
        <Statements visitor={visitor} now={now()} />
      </>
    ),
  };
}

/** Returns the transactions of the page as CSV, with the columns of the API. */
export async function transactionsCsv(call: Call, portal: Portal): Promise<View | Response> {
  const query = queryOf(call);
  if (!query) return balancePage(call, portal);
  return csvOf(portal.store, query, Number.MAX_SAFE_INTEGER, (error) =>
    portal.log.error({ error: String(error) }, "the CSV file of transactions was cut off"),
  );
}

/** Reads the filters. Returns null if one is wrong. */
function queryOf(call: Call): TransactionQuery | null {
  const { filters, visitor } = call;
  const query = {
    account: visitor.account,
    kind: filters.optionalChoice("kind", TRANSFER_KINDS),
    orderId: null,
    window: dayWindow(call),
  };
  return filters.errors.size > 0 ? null : query;
}

function Transactions({ visitor, rows }: { visitor: Visitor; rows: readonly TransactionRow[] }) {
  const { t, formats } = visitor;
  return (
    <List
      caption={t("balance.transactions")}
      rows={rows}
      empty={t("balance.empty")}
      compact
      columns={[
        {
          heading: t("balance.when"),
          cell: ({ createdAt }) => <Time at={createdAt} visitor={visitor} />,
          place: "first",
        },
        { heading: t("balance.kind"), cell: ({ kind }) => t(`transfer.${kind}`), place: "title" },
        {
          heading: t("balance.order"),
          cell: ({ orderId }) =>
            orderId === null ? (
              <span class="none">–</span>
            ) : (
              <a href={`/orders/${orderId}`}>{orderId}</a>
            ),
          place: "second",
          named: true,
        },
        {
          heading: t("balance.note"),
          cell: ({ publicNote }) => <Typed text={publicNote} />,
          title: ({ publicNote }) => publicNote ?? "",
          grow: true,
          place: "third",
        },
        {
          heading: t("balance.amount"),
          number: true,
          cell: ({ amountMicros }) => formats.signed(amountMicros),
          place: "end",
        },
        {
          heading: t("balance.after"),
          number: true,
          cell: ({ balanceAfterMicros }) => formats.cents(balanceAfterMicros),
          wide: true,
        },
      ]}
    />
  );
}
