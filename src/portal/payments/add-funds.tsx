// Add funds: the first page asks for the way to pay and the amount. The second shows what is paid and credited, and its
// form creates the payment. The token of the form lets it create only one, however often it is sent.

/** @jsxImportSource preact */

import { listMethodsFor } from "../../db/payments/payment-methods.ts";
import type { PaymentMethodRow } from "../../db/tables/payments.ts";
import { discountPercent } from "../../domain/catalogue/prices.ts";
import { METHOD_ID, termsOf } from "../../domain/payments/payment-methods.ts";
import { AMOUNT } from "../../domain/values/kinds.ts";
import { quoteMethod } from "../../operations/payments/payments.ts";
import { Choice, Field, Form } from "../../web/components/fields.tsx";
import { Facts, List } from "../../web/components/lists.tsx";
import { Typed } from "../../web/components/shown.tsx";
import { random } from "../../web/server/random.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Portal } from "../server/portal.ts";
import type { Visitor } from "../server/visitor.ts";
import { begin } from "./payment.tsx";
import { nameOf } from "./payments.tsx";

const TOKEN = /^[\w-]{22}$/;
const TOKEN_BYTES = 16;

export async function addFundsPage(call: Call): Promise<View> {
  const { visitor } = call;
  const { t } = visitor;
  const methods = await call.read((reader) => listMethodsFor(reader, visitor.account));
  return {
    title: t("payments.add"),
    body: (
      <div class="narrow">
        <h1>{t("payments.add")}</h1>
        {methods.length === 0 ? (
          <p class="empty">{t("payments.noMethods")}</p>
        ) : (
          <>
            <Methods visitor={visitor} methods={methods} />
            <Form action="/add-funds" submit={t("payments.review")}>
              <Choice
                name="method"
                label={t("payments.method")}
                options={methods.map(
                  (method) => [method.methodId, nameOf(method, visitor)] as const,
                )}
                value={call.filters.raw("method")}
              />
              <Field
                name="amount"
                label={t("payments.amount")}
                hint={t("payments.amountHint")}
                inputmode="decimal"
                value={call.filters.raw("amount")}
                required
              />
            </Form>
          </>
        )}
      </div>
    ),
  };
}

function Methods({ visitor, methods }: { visitor: Visitor; methods: readonly PaymentMethodRow[] }) {
  const { t, formats } = visitor;
  return (
    <List
      caption={t("payments.methods")}
      rows={methods}
      empty=""
      columns={[
        {
          heading: t("payments.method"),
          cell: (method) => <Typed text={nameOf(method, visitor)} />,
        },
        {
          heading: t("payments.amounts"),
          cell: ({ minMicros, maxMicros, currency }) =>
            t("payments.bounds", {
              min: formats.amount(minMicros, currency),
              max: formats.amount(maxMicros, currency),
            }),
        },
        {
          heading: t("payments.fee"),
          cell: (method) => feeText(visitor, method) ?? "–",
        },
        {
          heading: t("payments.bonus"),
          cell: (method) => bonusText(visitor, method) || "–",
        },
      ]}
    />
  );
}

/** Returns the fee that the customer pays; null for none. */
function feeText({ formats }: Visitor, method: PaymentMethodRow): string | null {
  const { feePpm, feeFixedMicros, feePayer, currency } = method;
  if (feePayer !== "customer" || (feePpm === 0 && feeFixedMicros === 0)) return null;
  const parts = [
    ...(feePpm === 0 ? [] : [`${formats.number(discountPercent(feePpm))} %`]),
    ...(feeFixedMicros === 0 ? [] : [formats.amount(feeFixedMicros, currency)]),
  ];
  return parts.join(" + ");
}

function bonusText({ t, formats }: Visitor, method: PaymentMethodRow): string {
  const { currency } = method;
  const steps = termsOf(method).bonusSteps.map(({ fromMicros, ppm }) =>
    t("payments.bonusStep", {
      from: formats.amount(fromMicros, currency),
      percent: formats.number(discountPercent(ppm)),
    }),
  );
  return steps.join(", ");
}

/** Shows what is paid and credited. A form with the token of that page creates the payment and begins it. */
export async function addFunds(submission: Submission, portal: Portal): Promise<View | Redirect> {
  const { form, visitor } = submission;
  const methodId = form.required("method", METHOD_ID, "");
  const amountMicros = form.required("amount", AMOUNT, 1);
  form.check();
  const token = form.raw("token");
  if (!TOKEN.test(token)) return reviewView(submission, methodId, amountMicros);
  const { id } = await submission.submit("createPayment", {
    methodId,
    amountMicros,
    requestKey: token,
  });
  return begin(id, visitor, portal);
}

async function reviewView(
  submission: Submission,
  methodId: string,
  amountMicros: number,
): Promise<View> {
  const { form, visitor } = submission;
  const { t, formats, reseller } = visitor;
  const asked = { account: reseller.account, methodId, amountMicros };
  const { method, quote } = await submission.read((reader) => quoteMethod(reader, asked));
  const { currency } = method;
  const { dueMicros, feeMicros, creditMicros, bonusMicros } = quote;
  const isOnTop = dueMicros > amountMicros;
  const after = reseller.balanceMicros + BigInt(creditMicros + bonusMicros);
  const given = { method: methodId, amount: form.raw("amount") };
  return {
    title: t("payments.reviewTitle"),
    body: (
      <div class="narrow">
        <h1>{t("payments.reviewTitle")}</h1>
        <Facts
          facts={[
            [t("payments.method"), <Typed text={nameOf(method, visitor)} />],
            [t("payments.toPay"), <strong>{formats.amount(dueMicros, currency)}</strong>],
            ...(isOnTop ? [[t("payments.fee"), formats.amount(feeMicros, currency)] as const] : []),
            [t("payments.credited"), formats.money(creditMicros)],
            ...(bonusMicros > 0
              ? [[t("payments.bonus"), formats.money(bonusMicros)] as const]
              : []),
            [t("newOrder.balanceAfter"), formats.money(after)],
          ]}
        />
        <Form action="/add-funds" hidden={{ ...given, token: random(TOKEN_BYTES) }}>
          <p class="actions">
            <button class="primary">{t("payments.create")}</button>
            <a href={`/add-funds?${new URLSearchParams(given)}`}>{t("newOrder.change")}</a>
          </p>
        </Form>
      </div>
    ),
  };
}
