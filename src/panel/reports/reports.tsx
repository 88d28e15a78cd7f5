// Reports: orders, revenue, refunds, net, cost and margin, by day, service, reseller or provider.

/** @jsxImportSource preact */

import type { TimeWindow } from "../../db/port/port.ts";
import { REPORT_HEADER, reportCells } from "../../reports/report-csv.ts";
import { REPORT_KEYS, type ReportKey } from "../../db/reports/reports.ts";
import { counted } from "../../domain/values/text.ts";
import { csvResponse } from "../../http/server/csv.ts";
import {
  readReport,
  readUncounted,
  readUnknown,
  type ReportRow,
  totalOf,
} from "../../reports/reports.ts";
import type { Call } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import type { View } from "../../web/server/results.ts";
import { Chart } from "../../web/components/chart.tsx";
import { Choice, Field, Filters } from "../../web/components/fields.tsx";
import type { Form } from "../../web/server/form.ts";
import { chipsOfFields, PageHead, Tabs } from "../../web/components/page-head.tsx";
import { List } from "../../web/components/lists.tsx";
import { Cents, moneyText, Typed } from "../../web/components/shown.tsx";
import { DAY_MS } from "../../domain/values/spans.ts";

/** Number of days in a report without dates, today included, as on the command line. */
const DAYS = 30;
const CHART_DAYS = 92;

export async function reportsPage(call: Call, panel: Panel): Promise<View> {
  const { filters } = call;
  const { by, window } = reportOf(filters, panel.now());
  const rows = filters.errors.size > 0 ? [] : await readReport(panel.slowStore, by, window);
  const uncounted = await readUncounted(panel.slowStore);
  const unknown = await readUnknown(panel.slowStore, window);
  const query = new URLSearchParams({ by, from: dateOf(window.from!), to: dateOf(window.to!) });
  return {
    title: "Reports",
    body: (
      <>
        <PageHead title="Reports">
          <small>
            {dateOf(window.from!)} to {dateOf(window.to!)}
          </small>
          <Filters
            action="/reports"
            filters={filters}
            chips={chipsOfFields(filters.values, { from: "From", to: "To" })}
          >
            <Choice name="by" label="By" options={REPORT_KEYS} value={by} />
            <Field name="from" label="From (UTC)" type="date" value={dateOf(window.from!)} />
            <Field name="to" label="To (UTC)" type="date" value={dateOf(window.to!)} />
          </Filters>
          <span class="inline end">
            <a class="button" href={`/reports.csv?${query}`}>
              CSV
            </a>
          </span>
        </PageHead>
        <Tabs
          label="By"
          tabs={REPORT_KEYS.map((key) => ({
            text: `By ${key}`,
            href: `/reports?${new URLSearchParams({ ...Object.fromEntries(filters.values), by: key })}`,
            isChosen: key === by,
          }))}
        >
          <span class="end" />
          <a href="/reports/money">Money</a>
          <a href="/transactions">Transactions</a>
          <a href="/invoices">Invoices</a>
        </Tabs>
        <p class="hint">
          Revenue is the charges of all orders except unknown ones. Net is revenue less refunds.
          Margin is net less what providers charge us. Each amount counts on the day (UTC) on which
          it occurred.
        </p>
        {uncounted > 0 && (
          <p class="notice bad">
            The cost of {counted(uncounted, "order")} is not counted: it was charged in a currency
            other than the provider’s. <a href="/providers">Set its rate to USD</a>
          </p>
        )}
        {unknown.orders > 0 && (
          <p class="notice bad">
            The outcome of {counted(unknown.orders, "order")} of this period (
            {moneyText(unknown.micros)} USD) is unknown: no revenue is counted until it is settled.{" "}
            <a href="/orders?placement=unknown&status=PENDING">Settle</a>
          </p>
        )}
        {by === "day" && rows.length > 0 && <Days rows={rows} window={window} />}
        <ReportTable rows={rows} by={by} />
      </>
    ),
  };
}

function ReportTable({ rows, by }: { rows: readonly ReportRow[]; by: ReportKey }) {
  const shown =
    rows.length === 0 ? [] : [...rows, { ...totalOf(rows), key: "", name: null, isTotal: true }];
  return (
    <List
      caption={`Report by ${by}`}
      rows={shown}
      empty="No orders, no refunds and no costs in this time."
      columns={[
        {
          heading: { day: "Day", service: "Service", reseller: "Reseller", provider: "Provider" }[
            by
          ],
          place: "title",
          cell: (row) => ("isTotal" in row ? <strong>Total</strong> : <Key row={row} by={by} />),
        },
        { heading: "Orders", number: true, place: "first", cell: ({ orders }) => orders },
        {
          heading: "Revenue USD",
          number: true,
          place: "end",
          cell: (row) => <Cents micros={row.revenueMicros} />,
        },
        {
          heading: "Refunds USD",
          number: true,
          cell: (row) => <Cents micros={row.refundsMicros} />,
        },
        { heading: "Net USD", number: true, cell: (row) => <Cents micros={row.netMicros} /> },
        { heading: "Cost USD", number: true, cell: (row) => <Cents micros={row.costMicros} /> },
        {
          heading: "Margin USD",
          number: true,
          place: "second",
          cell: (row) => <Cents micros={row.marginMicros} />,
        },
      ]}
    />
  );
}

function Key({ row: { key, name }, by }: { row: ReportRow; by: ReportKey }) {
  if (key === null) return <>by hand</>;
  if (by === "day") return <a href={`/orders?from=${key}&to=${key}`}>{key}</a>;
  const path = { service: "services", reseller: "users", provider: "providers" }[by];
  return (
    <a href={`/${path}/${encodeURIComponent(key)}`}>
      <Typed text={name ?? key} />
    </a>
  );
}

/** A chart of the days. A day without orders is a column of no height. */
function Days({ rows, window }: { rows: readonly ReportRow[]; window: TimeWindow }) {
  const days = Math.round((window.to! + 1 - window.from!) / DAY_MS);
  if (days < 2 || days > CHART_DAYS) return null;
  const labels = Array.from({ length: days }, (_, at) => dateOf(window.from! + at * DAY_MS));
  const found = new Map(rows.map((row) => [row.key, row]));
  const dollars = (pick: (row: ReportRow) => bigint) =>
    labels.map((label) => {
      const row = found.get(label);
      return row ? Math.max(Number(pick(row)) / 1e6, 0) : 0;
    });
  return (
    <Chart
      title="Revenue in USD by UTC day"
      labels={labels.map((label) => label.slice(5))}
      series={[{ name: "Revenue", values: dollars(({ revenueMicros }) => revenueMicros) }]}
      format={(value) => value.toFixed(2)}
    />
  );
}

export async function reportsCsv(call: Call, panel: Panel): Promise<View | Response> {
  const { by, window } = reportOf(call.filters, panel.now());
  if (call.filters.errors.size > 0) return reportsPage(call, panel);
  const rows = await readReport(panel.slowStore, by, window);
  return csvResponse(
    `report-by-${by}.csv`,
    REPORT_HEADER,
    1,
    () => ({ rows: rows.map(reportCells), next: null }),
    (error) => panel.log.error({ error: String(error) }, "the CSV file of a report was cut off"),
  );
}

/** Reads the report's key and its whole days in UTC, by default the last thirty. */
function reportOf(filters: Form, now: number) {
  const by = filters.optionalChoice("by", REPORT_KEYS) ?? "day";
  const given = filters.window();
  const to = given.to ?? now - (now % DAY_MS) + DAY_MS - 1;
  const from = given.from ?? Math.max(to + 1 - DAYS * DAY_MS, 0);
  if (from > to) filters.addError("from", "from must be at or before to");
  return { by, window: { from, to } };
}

function dateOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
