// The money report of a period, as a page and as CSV.

/** @jsxImportSource preact */

import { csvFile } from "../../http/server/csv.ts";
import { readMoney } from "../../reports/money.ts";
import {
  lineText,
  MONEY_HEADER,
  moneyCells,
  moneyLines,
  type ReportLine,
} from "../../reports/money-lines.ts";
import type { Call } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import type { View } from "../../web/server/results.ts";
import { Field, Filters } from "../../web/components/fields.tsx";
import { List } from "../../web/components/lists.tsx";
import { Money, Typed } from "../../web/components/shown.tsx";
import { startOfMonth, utcMonthOf } from "../../domain/values/calendar.ts";

const SUMS: readonly ReportLine["line"][] = ["opening", "closing", "revenue", "net"];

/** Reads the period in whole days of UTC, by default the month until today. */
function windowOf({ filters }: Call, now: number) {
  const given = filters.window();
  const from = given.from ?? startOfMonth(utcMonthOf(given.to ?? now));
  return { from, to: given.to };
}

export async function moneyPage(call: Call, panel: Panel): Promise<View> {
  const { filters } = call;
  const now = panel.now();
  const window = windowOf(call, now);
  const lines = filters.errors.size > 0 ? [] : moneyLines(await readMoney(panel.slowStore, window));
  const query = new URLSearchParams({ from: dateOf(window.from) });
  if (window.to !== null) query.set("to", dateOf(window.to));
  const [thisMonth, lastMonth] = [utcMonthOf(now), utcMonthOf(now) - 1].map(startOfMonth) as [
    number,
    number,
  ];
  return {
    title: "Money",
    body: (
      <>
        <h1>Money</h1>
        <Filters action="/reports/money" filters={filters}>
          <Field name="from" label="From (UTC)" type="date" value={dateOf(window.from)} />
          <Field
            name="to"
            label="To (UTC)"
            type="date"
            value={window.to === null ? "" : dateOf(window.to)}
          />
        </Filters>
        <p class="inline">
          <a href={`/reports/money?from=${dateOf(thisMonth)}`}>This month</a>
          <a href={`/reports/money?from=${dateOf(lastMonth)}&to=${dateOf(thisMonth - 1)}`}>
            Last month
          </a>
          <a href={`/reports/money.csv?${query}`}>CSV</a>
          <a href={`/transactions?${query}`}>Transactions</a>
          <a href={`/payments?${query}`}>Payments</a>
          <a href={`/invoices?${query}`}>Invoices</a>
        </p>
        <p class="hint">
          The balances are what you owe to users. Opening, credits, charges, refunds and debits add
          up to the closing balances, to the micro. Days are in UTC. Test accounts are left out.
        </p>
        <List
          caption="Money report"
          rows={lines}
          empty="Choose a period."
          columns={[
            {
              heading: "Line",
              place: "title",
              cell: (line) => {
                const text = <Typed text={lineText(line)} />;
                return SUMS.includes(line.line) ? <strong>{text}</strong> : text;
              },
            },
            {
              heading: "Count",
              number: true,
              place: "second",
              cell: ({ count }) => <Typed text={count === null ? null : String(count)} />,
            },
            {
              heading: "Amount USD",
              number: true,
              place: "end",
              cell: ({ micros }) => <Money micros={micros} />,
            },
          ]}
        />
      </>
    ),
  };
}

export async function moneyCsv(call: Call, panel: Panel): Promise<View | Response> {
  const window = windowOf(call, panel.now());
  if (call.filters.errors.size > 0) return moneyPage(call, panel);
  const lines = moneyLines(await readMoney(panel.slowStore, window));
  const rows = [MONEY_HEADER, ...lines.map((line) => moneyCells(line).join(","))];
  return csvFile("money.csv", rows.map((row) => `${row}\r\n`).join(""));
}

function dateOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
