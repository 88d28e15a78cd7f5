// The reseller's payments, newest first.

/** @jsxImportSource preact */

import { listPaymentsBelow, type ListedPayment } from "../../db/payments/payments.ts";
import type { PaymentMethodRow } from "../../db/tables/payments.ts";
import { readTexts, textIn } from "../../domain/payments/payment-methods.ts";
import { isCredited, type PaymentPhase, phaseOf } from "../../domain/payments/payment-states.ts";
import { List, Pager } from "../../web/components/lists.tsx";
import { Badge } from "../../web/components/shown.tsx";
import type { View } from "../../web/server/results.ts";
import { Time } from "../parts/shown.tsx";
import type { Call } from "../server/call.ts";
import type { Visitor } from "../server/visitor.ts";

const PAGE_SIZE = 50;
/** Payments on the page of the balance. */
const LAST = 5;
const ALWAYS = { from: null, to: null };

export async function paymentsPage(call: Call): Promise<View> {
  const { visitor, filters } = call;
  const { t } = visitor;
  const { rows, next } = await readPayments(call, filters.below(), PAGE_SIZE);
  return {
    title: t("payments.title"),
    body: (
      <>
        <h1>{t("payments.title")}</h1>
        <PaymentList visitor={visitor} rows={rows} />
        <Pager call={call} next={next} />
        <p class="actions">
          <AddFunds visitor={visitor} />
          <a href="/balance">{t("balance.title")}</a>
        </p>
      </>
    ),
  };
}

function readPayments(call: Call, below: number, limit: number) {
  const { account } = call.visitor;
  const filter = { account, methodId: null, state: null, window: ALWAYS };
  return call.read((reader) => listPaymentsBelow(reader, filter, below, limit));
}

/** Returns the last payments. The test side has none. */
export async function readLastPayments(call: Call): Promise<readonly ListedPayment[]> {
  if (call.visitor.isTest) return [];
  return (await readPayments(call, Number.MAX_SAFE_INTEGER, LAST)).rows;
}

/** The last payments, for the page of the balance; nothing without any. */
export function LastPayments({
  visitor,
  rows,
}: {
  visitor: Visitor;
  rows: readonly ListedPayment[];
}) {
  if (rows.length === 0) return null;
  const { t } = visitor;
  return (
    <section aria-labelledby="payments">
      <h2 id="payments">{t("payments.title")}</h2>
      <PaymentList visitor={visitor} rows={rows} />
      <p>
        <a href="/payments">{t("payments.all")}</a>
      </p>
    </section>
  );
}

/** The link to add funds, for members who may. Test money cannot be bought. */
export function AddFunds({ visitor }: { visitor: Visitor }) {
  if (visitor.isTest || !visitor.may("order")) return null;
  return (
    <a class="button primary" href="/add-funds">
      {visitor.t("payments.add")}
    </a>
  );
}

function PaymentList({ visitor, rows }: { visitor: Visitor; rows: readonly ListedPayment[] }) {
  const { t, formats } = visitor;
  return (
    <List
      caption={t("payments.title")}
      rows={rows}
      empty={t("payments.none")}
      compact
      columns={[
        {
          heading: t("payments.created"),
          cell: ({ createdAt }) => <Time at={createdAt} visitor={visitor} />,
          place: "first",
        },
        {
          heading: t("payments.payment"),
          cell: ({ id }) => <a href={`/payments/${id}`}>{id}</a>,
          grow: true,
          place: "foot",
        },
        {
          heading: t("payments.toPay"),
          number: true,
          cell: ({ dueMicros, currency }) => formats.amount(dueMicros, currency),
          place: "title",
        },
        {
          heading: t("payments.credited"),
          number: true,
          cell: ({ state, creditMicros, bonusMicros }) =>
            isCredited(state) ? formats.cents(creditMicros + bonusMicros) : "–",
          place: "end",
        },
        {
          heading: t("payments.state"),
          cell: (payment) => <PaymentState phase={phaseOf(payment)} visitor={visitor} />,
          place: "state",
        },
      ]}
    />
  );
}

const TONES = {
  created: "busy",
  pending: "busy",
  waiting: "busy",
  paid: "good",
  refunded: "quiet",
  disputed: "bad",
  failed: "bad",
  expired: "quiet",
  rejected: "bad",
} as const;

export function PaymentState({
  phase,
  visitor,
}: {
  phase: PaymentPhase;
  visitor: Pick<Visitor, "t">;
}) {
  return <Badge state={visitor.t(`paymentState.${phase}`)} tone={TONES[phase]} />;
}

/** Returns the name of a way to pay in the visitor's language. */
export function nameOf({ names }: PaymentMethodRow, { language }: Visitor): string {
  return textIn(readTexts(names), language);
}
