// The invoices, as a list and as CSV.

/** @jsxImportSource preact */

import {
  type InvoiceFilter,
  type InvoiceSums,
  listInvoicesBelow,
  readInvoiceSettings,
  sumInvoices,
} from "../../db/ledger/invoices.ts";
import { findUser } from "../../db/users/users.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import { invoiceNumber } from "../../domain/ledger/invoices.ts";
import { csvResponse } from "../../http/server/csv.ts";
import { invoiceCells, INVOICES_HEADER } from "../../reports/invoices-csv.ts";
import type { Call } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import type { View } from "../../web/server/results.ts";
import { Field, Filters } from "../../web/components/fields.tsx";
import { chipsOfFields, PageHead } from "../../web/components/page-head.tsx";
import { List, Pager } from "../../web/components/lists.tsx";
import { Badge, Cents, Money, Time, Typed } from "../../web/components/shown.tsx";
import { userPath } from "../users/shown-user.ts";
import { InvoiceSettingsForm } from "./invoice-settings.tsx";
import { counted } from "../../domain/values/text.ts";
import { monthText } from "../../domain/values/calendar.ts";

const PAGE = 100;
/** Rows of one step of the CSV, which takes some milliseconds. */
const CSV_STEP = 500;

export function invoicePath(invoice: { prefix: string; number: number }): string {
  return `/invoices/${encodeURIComponent(invoiceNumber(invoice))}`;
}

/** Reads the filters; null if one is wrong. */
async function filterOf(call: Call): Promise<InvoiceFilter | null> {
  const { filters } = call;
  const username = filters.optionalUsername("user");
  const window = filters.window();
  if (filters.errors.size > 0) return null;
  if (username === null) return { account: null, window };
  const user = await call.read((reader) => findUser(reader, username) ?? null);
  if (user === null) filters.addError("user", "User not found");
  return user && { account: user.account, window };
}

export async function invoicesPage(call: Call, panel: Panel): Promise<View> {
  const { filters } = call;
  const filter = await filterOf(call);
  const { settings, rows, next } = await call.read((reader) => ({
    settings: readInvoiceSettings(reader),
    ...(filter
      ? listInvoicesBelow(reader, filter, filters.below(), PAGE)
      : { rows: [], next: null }),
  }));
  const sums = filter && (await panel.slowStore.read((reader) => sumInvoices(reader, filter)));
  const filtered = new URLSearchParams(filters.values);
  filtered.delete("below");
  const isOff = settings.mode === "off";
  return {
    title: "Invoices",
    body: (
      <>
        <PageHead title="Invoices">
          <Filters
            action="/invoices"
            filters={filters}
            chips={chipsOfFields(filters.values, { user: "User", from: "From", to: "To" })}
          >
            <Field name="user" label="User" />
            <Field name="from" label="From (UTC)" type="date" />
            <Field name="to" label="To (UTC)" type="date" />
          </Filters>
          <a class="button end" href={`/invoices.csv?${filtered}`}>
            CSV
          </a>
        </PageHead>
        <p class="hint">
          {isOff
            ? "No invoices are issued."
            : `An invoice is issued for ${settings.mode === "credit" ? "each credit" : "the credits of each month"} of a reseller.`}
        </p>
        {mayAct(call.visitor.administrator.role, "owner") && (
          <InvoiceSettingsForm settings={settings} />
        )}
        {sums && <Sums {...sums} />}
        <List
          isDated
          caption="Invoices and corrections, newest first"
          rows={rows}
          empty="No invoices."
          columns={[
            {
              heading: "Number",
              place: "title",
              cell: (row) => <a href={invoicePath(row)}>{invoiceNumber(row)}</a>,
            },
            {
              heading: "Issued (UTC)",
              place: "second",
              cell: ({ issuedAt }) => <Time at={issuedAt} />,
            },
            {
              heading: "Kind",
              place: "state",
              cell: ({ kind }) => (
                <Badge state={kind} tone={kind === "correction" ? "busy" : "quiet"} />
              ),
            },
            {
              heading: "User",
              place: "first",
              cell: ({ username }) =>
                username === null ? "–" : <a href={userPath(username)}>{username}</a>,
            },
            { heading: "Buyer", cell: ({ buyerName }) => <Typed text={buyerName} /> },
            {
              heading: "Month",
              cell: ({ month }) => (month === null ? "–" : monthText(month)),
            },
            {
              heading: "Tax USD",
              number: true,
              wide: true,
              cell: ({ taxMicros }) => <Cents micros={taxMicros} />,
            },
            {
              heading: "Total USD",
              number: true,
              place: "end",
              cell: ({ totalMicros }) => <Cents micros={totalMicros} />,
            },
          ]}
        />
        <Pager call={call} next={next} />
      </>
    ),
  };
}

/** What all documents of the filters amount to, on all pages of the list. */
function Sums({ documents, totalMicros, taxMicros }: InvoiceSums) {
  if (documents === 0) return null;
  return (
    <p>
      {`${counted(documents, "document")}, in all `}
      <Money micros={totalMicros} /> USD, of which <Money micros={taxMicros} /> USD are tax.
    </p>
  );
}

export async function invoicesCsv(call: Call, panel: Panel): Promise<View | Response> {
  const filter = await filterOf(call);
  if (!filter) return invoicesPage(call, panel);
  const read = async (below: number) => {
    const { rows, next } = await panel.slowStore.read((reader) =>
      listInvoicesBelow(reader, filter, below, CSV_STEP),
    );
    return { rows: rows.map(invoiceCells), next };
  };
  const begin = Number.MAX_SAFE_INTEGER;
  return csvResponse("invoices.csv", INVOICES_HEADER, begin, read, (error) =>
    panel.log.error({ error: String(error) }, "the CSV file of invoices was cut off"),
  );
}
