// Payments of all resellers, newest first, as a list and as CSV.

/** @jsxImportSource preact */

import { listMethods } from "../../db/payments/payment-methods.ts";
import {
  type ListedPayment,
  listPaymentsBelow,
  PAYMENT_NEEDS,
  type PaymentFilter,
  readPaymentFacts,
} from "../../db/payments/payments.ts";
import { findUser } from "../../db/users/users.ts";
import { METHOD_ID } from "../../domain/payments/payment-methods.ts";
import {
  isCredited,
  PAYMENT_STATES,
  type PaymentPhase,
  phaseOf,
} from "../../domain/payments/payment-states.ts";
import { csvResponse } from "../../http/server/csv.ts";
import { paymentCells, PAYMENTS_HEADER } from "../../reports/payments-csv.ts";
import { Choice, Field, Filters } from "../../web/components/fields.tsx";
import { List, Pager } from "../../web/components/lists.tsx";
import { chipsOfFields, PageHead, Tabs } from "../../web/components/page-head.tsx";
import { Badge, Cents, moneyText, Time } from "../../web/components/shown.tsx";
import type { View } from "../../web/server/results.ts";
import type { Call } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import { userPath } from "../users/shown-user.ts";

const PAGE = 100;
/** Rows of one step of the CSV, which takes some milliseconds. */
const CSV_STEP = 500;
const TABS = [...PAYMENT_NEEDS, ...PAYMENT_STATES] as const;

/** The word for a state: a payment that waits is for the operator to decide. */
function wordOf(state: (typeof TABS)[number]): string {
  return state === "waiting" ? "to decide" : state;
}

/** Reads the filters; null if one is wrong. */
async function filterOf(call: Call): Promise<PaymentFilter | null> {
  const { filters } = call;
  const username = filters.optionalUsername("user");
  const methodId = filters.optional("method", METHOD_ID, "");
  const state = filters.optionalChoice("state", TABS);
  const window = filters.window();
  if (filters.errors.size > 0) return null;
  if (username === null) return { account: null, methodId, state, window };
  const user = await call.read((reader) => findUser(reader, username) ?? null);
  if (user === null) filters.addError("user", "User not found");
  return user && { account: user.account, methodId, state, window };
}

function headOf(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

export async function paymentsPage(call: Call): Promise<View> {
  const { filters } = call;
  const filter = await filterOf(call);
  const { facts, methods, rows, next } = await call.read((reader) => ({
    facts: readPaymentFacts(reader),
    methods: listMethods(reader),
    ...(filter
      ? listPaymentsBelow(reader, filter, filters.below(), PAGE)
      : { rows: [], next: null }),
  }));
  const kept = new URLSearchParams(filters.values);
  for (const name of ["below", "earlier"]) kept.delete(name);
  const hrefOf = (state: string | null) => {
    const changed = new URLSearchParams(kept);
    changed.delete("state");
    if (state !== null) changed.set("state", state);
    return `/payments?${changed}`;
  };
  const chosen = filters.raw("state") || null;
  const tabOf = (state: string | null, text: string, count = 0) => ({
    text,
    href: hrefOf(state),
    isChosen: state === chosen,
    ...(count > 0 && { count: String(count) }),
  });
  const counts: Partial<Record<(typeof TABS)[number], number>> = {
    waiting: facts.waiting,
    reversed: facts.reversed,
    surplus: facts.surplus,
  };
  return {
    title: "Payments",
    body: (
      <>
        <PageHead title="Payments">
          <Filters
            action="/payments"
            filters={filters}
            chips={chipsOfFields(filters.values, {
              user: "User",
              method: "Way to pay",
              from: "From",
              to: "To",
            })}
          >
            <Field name="user" label="User" />
            <Choice
              name="method"
              label="Way to pay"
              any="any"
              options={methods.map(({ methodId }) => methodId)}
            />
            <Choice
              name="state"
              label="State"
              any="any"
              options={TABS.map((state) => [state, wordOf(state)] as const)}
            />
            <Field name="from" label="From (UTC)" type="date" />
            <Field name="to" label="To (UTC)" type="date" />
          </Filters>
          <span class="inline end">
            <a class="button" href={`/payments.csv?${kept}`}>
              CSV
            </a>
            <a class="button" href="/payment-methods">
              Ways to pay
            </a>
          </span>
        </PageHead>
        <Tabs
          label="State"
          tabs={[
            tabOf(null, "All"),
            ...TABS.map((state) => tabOf(state, headOf(wordOf(state)), counts[state])),
          ]}
        />
        <PaymentList rows={rows} />
        <Pager call={call} next={next} />
      </>
    ),
  };
}

function PaymentList({ rows }: { rows: readonly ListedPayment[] }) {
  return (
    <List
      caption="Payments, newest first"
      rows={rows}
      empty="No matching payments."
      compact
      columns={[
        {
          heading: "Payment",
          cell: ({ id }) => <a href={`/payments/${id}`}>{id.slice(0, 8)}…</a>,
          place: "first",
        },
        {
          heading: "User",
          cell: ({ username }) => <a href={userPath(username)}>{username}</a>,
          title: ({ username }) => username,
          grow: true,
          place: "title",
        },
        { heading: "Way to pay", cell: ({ methodId }) => methodId, place: "second" },
        {
          heading: "Due",
          number: true,
          cell: ({ dueMicros, currency }) => amountText(dueMicros, currency),
          place: "third",
        },
        {
          heading: "Credit USD",
          number: true,
          cell: ({ state, creditMicros, bonusMicros }) =>
            isCredited(state) ? <Cents micros={creditMicros + bonusMicros} /> : "–",
          place: "end",
        },
        {
          heading: "Created (UTC)",
          cell: ({ createdAt }) => <Time at={createdAt} short />,
          wide: true,
        },
        {
          heading: "State",
          cell: (payment) => <PaymentState phase={phaseOf(payment)} />,
          place: "state",
        },
      ]}
    />
  );
}

export function amountText(micros: number, currency: string): string {
  return `${moneyText(micros)} ${currency}`;
}

const TONES = {
  created: "quiet",
  pending: "busy",
  waiting: "busy",
  paid: "good",
  refunded: "quiet",
  disputed: "bad",
  failed: "bad",
  expired: "quiet",
  rejected: "quiet",
} as const;

export function PaymentState({ phase }: { phase: PaymentPhase }) {
  return <Badge state={wordOf(phase)} tone={TONES[phase]} />;
}

export async function paymentsCsv(call: Call, panel: Panel): Promise<View | Response> {
  const filter = await filterOf(call);
  if (!filter) return paymentsPage(call);
  const read = async (below: number) => {
    const { rows, next } = await panel.slowStore.read((reader) =>
      listPaymentsBelow(reader, filter, below, CSV_STEP),
    );
    return { rows: rows.map(paymentCells), next };
  };
  const begin = Number.MAX_SAFE_INTEGER;
  return csvResponse("payments.csv", PAYMENTS_HEADER, begin, read, (error) =>
    panel.log.error({ error: String(error) }, "the CSV file of payments was cut off"),
  );
}
