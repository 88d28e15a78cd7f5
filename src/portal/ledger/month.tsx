// The statement of a month (UTC), to print: what the balance was at its beginning and end, every credit, and what
// orders took. Orders are one line: the change of the balance less the other lines, so the statement always adds up.

/** @jsxImportSource preact */

import { listTransactionsBelow, type TransactionRow } from "../../db/ledger/transactions.ts";
import { ROWS_LIMIT } from "../../db/port/pages.ts";
import type { Reader } from "../../db/port/port.ts";
import type { TransferKind } from "../../domain/ledger/ledger.ts";
import {
  endOfMonth,
  monthText,
  parseMonth,
  startOfMonth,
  utcMonthOf,
} from "../../domain/values/calendar.ts";
import { Facts, List } from "../../web/components/lists.tsx";
import { Typed } from "../../web/components/shown.tsx";
import { redirect } from "../../web/server/response.ts";
import type { View } from "../../web/server/results.ts";
import type { Call } from "../server/call.ts";
import type { Portal } from "../server/portal.ts";
import type { Visitor } from "../server/visitor.ts";
import { formatsOf } from "../texts/formats.ts";

/** Number of months that the page of the balance links to. */
const MONTHS_SHOWN = 12;
/** The kinds that are listed one by one. */
const LISTED: readonly TransferKind[] = [
  "recharge",
  "adjustment",
  "payment",
  "payment_bonus",
  "payment_reversal",
];
/** Limit for the lines. A month with more has no statement: its transactions are in the CSV. */
const LINES_LIMIT = 1000;

/** Milliseconds since 1970; both ends belong to the month. */
interface Month {
  name: string;
  from: number;
  to: number;
}

interface Statement {
  opening: bigint;
  closing: bigint;
  /** The credits and debits that are no charges or refunds of orders, oldest first. */
  lines: TransactionRow[];
  /** Refunds less charges of orders. */
  orders: bigint;
}

export async function statementPage(
  call: Call,
  { settings, brand, now }: Portal,
): Promise<View | Response> {
  const { visitor } = call;
  const { t, language } = visitor;
  const days = formatsOf(language, "UTC");
  const month = monthNamed(call.params["month"]!, visitor.reseller.createdAt, now());
  if (!month) return redirect("/balance");
  const statement = await call.read((reader) => statementOf(reader, visitor.account, month));
  if (!statement) return redirect("/balance");
  const { name, address } = settings.legal;
  const from = [name ?? brand.name, address].filter(Boolean).join("\n");
  const reseller = visitor.reseller;
  return {
    title: t("statement.title", { month: monthWords(month, visitor) }),
    body: (
      <article class="statement">
        <h1>{t("statement.title", { month: monthWords(month, visitor) })}</h1>
        {visitor.isTest && (
          <p>
            <strong>{t("test.mode")}</strong>
          </p>
        )}
        <section class="card">
          <Facts
            facts={[
              [t("statement.from"), <Typed text={from} />],
              [t("statement.for"), <Typed text={`${reseller.name} (${reseller.username})`} />],
              [t("statement.period"), `${days.date(month.from)} – ${days.date(month.to)} (UTC)`],
            ]}
          />
        </section>
        <Lines visitor={visitor} month={month} statement={statement} />
        <p class="hint">{t("statement.print")}</p>
      </article>
    ),
  };
}

function Lines({
  visitor: { t, formats, language },
  month,
  statement: { opening, closing, lines, orders },
}: {
  visitor: Visitor;
  month: Month;
  statement: Statement;
}) {
  // Days of UTC, like the month: in another time zone a credit could lie outside of it.
  const days = formatsOf(language, "UTC");
  const rows = [
    {
      when: days.date(month.from),
      what: t("statement.opening"),
      note: null,
      amount: formats.money(opening),
    },
    ...lines.map(({ createdAt, kind, publicNote, amountMicros }) => ({
      when: days.date(createdAt),
      what: t(`transfer.${kind}`),
      note: publicNote,
      amount: formats.money(amountMicros),
    })),
    { when: null, what: t("statement.orders"), note: null, amount: formats.money(orders) },
    {
      when: days.date(month.to),
      what: t("statement.closing"),
      note: null,
      amount: formats.money(closing),
    },
  ];
  return (
    <List
      caption={t("balance.transactions")}
      rows={rows}
      empty=""
      columns={[
        { heading: t("balance.when"), cell: ({ when }) => <Typed text={when} /> },
        { heading: t("balance.kind"), cell: ({ what }) => what },
        { heading: t("balance.note"), cell: ({ note }) => <Typed text={note} /> },
        { heading: `${t("balance.amount")}, USD`, number: true, cell: ({ amount }) => amount },
      ]}
    />
  );
}

/** Links to the statements of the last months, newest first. */
export function Statements({ visitor, now }: { visitor: Visitor; now: number }) {
  const { t, reseller } = visitor;
  return (
    <>
      <h2 id="statements">{t("statement.list")}</h2>
      <ul>
        {lastMonths(reseller.createdAt, now).map((month) => (
          <li>
            <a href={`/balance/${month.name}`}>{monthWords(month, visitor)}</a>
          </li>
        ))}
      </ul>
    </>
  );
}

function statementOf(reader: Reader, account: number, month: Month): Statement | null {
  const opening = balanceAt(reader, account, month.from - 1);
  const closing = balanceAt(reader, account, month.to);
  const found: TransactionRow[] = [];
  for (const kind of LISTED) {
    const query = { account, kind, orderId: null, window: month };
    for (let below: number | null = Number.MAX_SAFE_INTEGER; below !== null;) {
      const page = listTransactionsBelow(reader, query, below, ROWS_LIMIT);
      found.push(...page.rows);
      if (found.length > LINES_LIMIT) return null;
      below = page.next;
    }
  }
  const lines = found.toSorted((one, other) => one.seq - other.seq);
  const listed = lines.reduce((sum, { amountMicros }) => sum + BigInt(amountMicros), 0n);
  return { opening, closing, lines, orders: closing - opening - listed };
}

/** Returns the balance after the last transaction up to a time. */
function balanceAt(reader: Reader, account: number, to: number): bigint {
  const query = { account, kind: null, orderId: null, window: { from: null, to } };
  const { rows } = listTransactionsBelow(reader, query, Number.MAX_SAFE_INTEGER, 1);
  return rows[0]?.balanceAfterMicros ?? 0n;
}

/** Returns the month of a name such as 2026-11; null if it is none, or lies before the reseller or in the future. */
function monthNamed(name: string, since: number, now: number): Month | null {
  const month = parseMonth(name);
  if (month === null) return null;
  const found = monthAt(month);
  return found.to >= since && found.from <= now ? found : null;
}

function lastMonths(since: number, now: number): Month[] {
  return Array.from({ length: MONTHS_SHOWN }, (_, back) => monthAt(utcMonthOf(now) - back)).filter(
    ({ to }) => to >= since,
  );
}

function monthAt(month: number): Month {
  return { name: monthText(month), from: startOfMonth(month), to: endOfMonth(month) };
}

/** Returns the name of the month that begins at a time, such as "November 2026". */
export function monthWords(
  { from }: Pick<Month, "from">,
  { language }: Pick<Visitor, "language">,
): string {
  const form = { month: "long", year: "numeric", timeZone: "UTC" } as const;
  return new Intl.DateTimeFormat(language, form).format(from);
}
