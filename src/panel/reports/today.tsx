// Today: what needs attention, the last 24 hours compared with the 24 before, 30 days as charts, and the last
// changes.

/** @jsxImportSource preact */

import { listMethods } from "../../db/payments/payment-methods.ts";
import { readAttention } from "../../db/reports/attention.ts";
import { PERIOD_MS } from "../../db/reports/order-counts.ts";
import { listAuditEntries, type ListedAuditEntry } from "../../db/administrators/audit.ts";
import { MICROS_PER_DOLLAR } from "../../domain/ledger/money.ts";
import { ORDER_STATUSES, type OrderStatus } from "../../domain/orders/order-statuses.ts";
import {
  type Activity,
  ACTIVITY_DAYS,
  type ActivityFigures,
  startOfDay,
} from "../../reports/activity.ts";
import { showHidden } from "../../domain/values/text.ts";
import { DAY_MS } from "../../domain/values/spans.ts";
import { testItems } from "../payments/shown-method.ts";
import { attentionItems, type AttentionItem } from "./attention.ts";
import { AUDIT_WORDS } from "../administrators/audit-words.ts";
import { showEntries, type ShownEntry, Subject } from "../administrators/audit-entries.tsx";
import type { Call } from "../server/call.ts";
import { Decisions, type ShownRequest, withRefunds } from "../orders/request-decisions.tsx";
import { type ListedRequest, listOrderRequests } from "../../db/orders/order-request-lists.ts";
import type { Reader } from "../../db/port/port.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import { waitsForOperator } from "../../domain/orders/order-requests.ts";
import type { Panel } from "../server/panel.ts";
import type { View } from "../../web/server/results.ts";
import { Chart } from "../../web/components/chart.tsx";
import { List } from "../../web/components/lists.tsx";
import { Badge, centsText, Sentence, Time, toneOf, Typed } from "../../web/components/shown.tsx";
import { Tile } from "../../web/components/tiles.tsx";

/** Time that a page waits for the first count. Later counts take a millisecond. */
const FIGURES_WAIT_MS = 20;
/** Number of audit entries searched for changes by administrators. The log also holds recharges by keys. */
const AUDIT_ENTRIES_LIMIT = 100;
const CHANGES = 8;
/** How many open requests are searched for those that wait for the operator, and how many of these are shown. */
const REQUESTS_SEARCHED = 50;
const REQUESTS = 5;

export async function todayPage(call: Call, panel: Panel): Promise<View> {
  const now = panel.now();
  const figures = await panel.activity(FIGURES_WAIT_MS);
  const lateness = await panel.lateness();
  const mayDecide = mayAct(call.visitor.administrator.role, "operator");
  const { attention, methods, changes, requests } = await call.read((reader) => ({
    attention: readAttention(reader, now),
    methods: listMethods(reader),
    changes: showEntries(reader, lastByOperators(reader)),
    requests: mayDecide ? withRefunds(reader, waitingRequests(reader)) : [],
  }));
  const items = [
    ...attentionItems(attention, panel.machine(), lateness, now),
    ...testItems(methods),
  ];
  return {
    title: "Today",
    body: (
      <>
        <h1>Today</h1>
        <div id="today" data-refresh>
          <NeedsAttention items={items} />
          {figures ? <LastDay figures={figures} now={now} /> : <Counting />}
        </div>
        {requests.length > 0 && <Requests requests={requests} />}
        <Month figures={figures} now={now} />
        <LastChanges changes={changes} />
      </>
    ),
  };
}

function NeedsAttention({ items }: { items: readonly AttentionItem[] }) {
  if (items.length === 0) return <p class="notice good">Nothing needs attention.</p>;
  return (
    <section aria-labelledby="attention">
      <h2 id="attention">Needs attention</h2>
      <ul class="attention">
        {items.map(({ tone, text, action, href }) => (
          <li class={`notice ${tone}`}>
            <span>
              <Sentence text={text} />
            </span>{" "}
            <a href={href}>{action}</a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Returns the newest changes that no key made. */
function lastByOperators(reader: Reader): ListedAuditEntry[] {
  return listAuditEntries(reader, { limit: AUDIT_ENTRIES_LIMIT })
    .filter(({ operator }) => operator !== null)
    .slice(0, CHANGES);
}

/** Returns the newest requests that wait for the operator. */
function waitingRequests(reader: Reader): ListedRequest[] {
  const open = listOrderRequests(reader, { open: true }, REQUESTS_SEARCHED);
  return open.filter(waitsForOperator).slice(0, REQUESTS);
}

function Requests({ requests }: { requests: readonly ShownRequest[] }) {
  return (
    <>
      <h2>Requests that wait for you</h2>
      <List
        caption="Requests that wait for you, newest first"
        compact
        rows={requests}
        empty=""
        columns={[
          { heading: "Asks to", place: "first", cell: ({ kind }) => kind },
          {
            heading: "Order",
            place: "end",
            cell: ({ orderId }) => <a href={`/orders/${orderId}`}>{orderId}</a>,
          },
          {
            heading: "Reseller",
            place: "second",
            cell: ({ username }) => <Typed text={username} />,
          },
          {
            heading: "Service",
            grow: true,
            place: "title",
            title: ({ serviceName }) => showHidden(serviceName),
            cell: ({ serviceName }) => <Typed text={serviceName} />,
          },
          {
            heading: "Asked (UTC)",
            place: "third",
            cell: ({ createdAt }) => <Time at={createdAt} short />,
          },
          {
            heading: "Decide",
            place: "foot",
            cell: (request) => <Decisions request={request} back="/" />,
          },
        ]}
      />
      <p>
        <a href="/requests">All requests</a>
      </p>
    </>
  );
}

function Counting() {
  return (
    <p class="notice busy">
      The orders of {ACTIVITY_DAYS} days are being counted, as after each start.{" "}
      <a href="/">Refresh</a>
    </p>
  );
}

function LastDay({ figures, now }: { figures: ActivityFigures; now: number }) {
  const end = (Math.floor(now / PERIOD_MS) + 1) * PERIOD_MS;
  const day = figures(end - DAY_MS, end);
  const before = figures(end - 2 * DAY_MS, end - DAY_MS);
  const net = (each: Activity) => each.chargedMicros - each.refundedMicros;
  const margin = (each: Activity) => net(each) - each.costMicros;
  return (
    <section aria-labelledby="day">
      <h2 id="day">Last 24 hours, and the 24 before</h2>
      <div class="tiles">
        <Tile name="Orders" value={countOf(day)} before={countOf(before)} show={String} />
        <Tile
          name="Revenue USD"
          value={day.chargedMicros}
          before={before.chargedMicros}
          show={centsText}
        />
        <Tile
          name="Refunds USD"
          value={day.refundedMicros}
          before={before.refundedMicros}
          show={centsText}
        />
        <Tile name="Net USD" value={net(day)} before={net(before)} show={centsText} />
        <Tile name="Cost USD" value={day.costMicros} before={before.costMicros} show={centsText} />
        <Tile name="Margin USD" value={margin(day)} before={margin(before)} show={centsText} />
      </div>
      <p class="states">
        {ORDER_STATUSES.map((status) => (
          <a href={`/orders?status=${status}`}>
            {day.orders[status]} <Badge state={status} />
          </a>
        ))}
      </p>
    </section>
  );
}

function countOf({ orders }: Activity): number {
  return ORDER_STATUSES.reduce((sum, status) => sum + orders[status], 0);
}

/** The series of the chart, from the bottom. */
const SERIES: readonly (readonly [name: string, statuses: readonly OrderStatus[]])[] = [
  ["Completed", ["COMPLETED"]],
  ["Processing", ["PROCESSING"]],
  ["Pending", ["PENDING"]],
  ["Partial", ["PARTIAL"]],
  ["Cancelled or refunded", ["CANCELLED", "REFUNDED"]],
  ["Failed", ["FAILED"]],
];

function Month({ figures, now }: { figures: ActivityFigures | null; now: number }) {
  return (
    <section aria-labelledby="month">
      <h2 id="month">{ACTIVITY_DAYS} days</h2>
      <p class="inline">
        <a href="/reports?by=reseller">Best resellers</a>
        <a href="/reports?by=service">Best services</a>
      </p>
      {figures && <MonthCharts figures={figures} now={now} />}
    </section>
  );
}

function MonthCharts({ figures, now }: { figures: ActivityFigures; now: number }) {
  const today = startOfDay(now);
  const days = Array.from(
    { length: ACTIVITY_DAYS },
    (_, at) => today - (ACTIVITY_DAYS - 1 - at) * DAY_MS,
  );
  const activity = days.map((day) => figures(day, day + DAY_MS));
  const labels = days.map((day) => new Date(day).toISOString().slice(5, 10));
  const orders = SERIES.map(([name, statuses]) => ({
    name,
    tone: toneOf(statuses[0]!),
    values: activity.map((day) => statuses.reduce((sum, status) => sum + day.orders[status], 0)),
  }));
  const dollars = (micros: bigint) => Number(micros) / MICROS_PER_DOLLAR;
  const revenue = activity.map(({ chargedMicros }) => dollars(chargedMicros));
  return (
    <div class="charts">
      <Chart
        title="Orders by UTC day and present status"
        labels={labels}
        series={orders}
        format={(value) => (Number.isInteger(value) ? String(value) : "")}
      />
      <Chart
        title="Revenue in USD by UTC day"
        labels={labels}
        series={[{ name: "Revenue", values: revenue }]}
        format={(value) => value.toFixed(2)}
      />
    </div>
  );
}

function LastChanges({ changes }: { changes: readonly ShownEntry[] }) {
  return (
    <>
      <h2>Last changes by administrators</h2>
      <List
        caption="Last changes by administrators"
        rows={changes}
        empty="None yet."
        columns={[
          { heading: "When (UTC)", cell: ({ createdAt }) => <Time at={createdAt} /> },
          { heading: "By", cell: ({ by }) => <Typed text={by} /> },
          { heading: "Action", cell: ({ action }) => AUDIT_WORDS[action] },
          { heading: "Subject", cell: (entry) => <Subject entry={entry} /> },
        ]}
      />
      <p>
        <a href="/audit">All changes</a>
      </p>
    </>
  );
}
