// One payment: its state, how to pay it, and what the customer says about what it paid.

/** @jsxImportSource preact */

import { findAttachmentFacts, findPayment } from "../../db/payments/payments.ts";
import type { Reader } from "../../db/port/port.ts";
import { type Payment, type PaymentMethodRow, paymentMethods } from "../../db/tables/payments.ts";
import { ATTACHMENT_LIMIT_BYTES, attachmentTypeOf } from "../../domain/payments/attachments.ts";
import { readTexts, textIn } from "../../domain/payments/payment-methods.ts";
import {
  effectOf,
  isCredited,
  OPEN_PAYMENT_STATES,
  phaseOf,
} from "../../domain/payments/payment-states.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { label } from "../../domain/values/kinds.ts";
import { isClaimed } from "../../payments/payments.ts";
import { Field, FileField, Form } from "../../web/components/fields.tsx";
import { Facts } from "../../web/components/lists.tsx";
import { Typed, TypedLines } from "../../web/components/shown.tsx";
import type { Redirect, View } from "../../web/server/results.ts";
import { Time } from "../parts/shown.tsx";
import type { Call, Submission } from "../server/call.ts";
import type { Portal } from "../server/portal.ts";
import type { Visitor } from "../server/visitor.ts";
import { nameOf, PaymentState } from "./payments.tsx";

/** What the customer says about what it paid. */
const CLAIM_REFERENCE = label(200);

interface Shown {
  payment: Payment;
  method: PaymentMethodRow;
  hasFile: boolean;
}

/** Finds a payment of the visitor's reseller. Refuses: payment_not_found. */
function requireShown(reader: Reader, { account }: Visitor, id: string): Shown {
  const payment = findPayment(reader, id);
  if (!payment || payment.account !== account) throw refusal("payment_not_found");
  const method = reader.row(paymentMethods.byKey, payment.methodId)!;
  return { payment, method, hasFile: findAttachmentFacts(reader, payment.paymentId) !== undefined };
}

export async function paymentPage(call: Call): Promise<View> {
  const { visitor, params } = call;
  const { t, formats } = visitor;
  const id = params["payment"]!;
  const shown = await call.read((reader) => requireShown(reader, visitor, id));
  const { payment, method } = shown;
  const { state, dueMicros, currency, creditMicros, bonusMicros } = payment;
  const isOnTop = dueMicros > payment.askedMicros;
  const hasReceived = payment.receivedMicros !== null;
  const hasCredit = isCredited(state) || OPEN_PAYMENT_STATES.includes(state);
  return {
    title: t("payments.payment"),
    body: (
      <div class="narrow">
        <h1>{t("payments.payment")}</h1>
        <div id="payment" data-refresh>
          <Facts
            facts={[
              [t("payments.state"), <PaymentState phase={phaseOf(payment)} visitor={visitor} />],
              [t("payments.method"), <Typed text={nameOf(method, visitor)} />],
              [t("payments.toPay"), <strong>{formats.amount(dueMicros, currency)}</strong>],
              ...(isOnTop
                ? [[t("payments.fee"), formats.amount(payment.feeMicros, currency)] as const]
                : []),
              ...(hasReceived
                ? [
                    [
                      t("payments.received"),
                      formats.amount(payment.receivedMicros!, payment.receivedCurrency!),
                    ] as const,
                  ]
                : []),
              ...(hasCredit
                ? [
                    [
                      t(isCredited(state) ? "payments.credited" : "payments.toCredit"),
                      formats.money(creditMicros),
                    ] as const,
                  ]
                : []),
              ...(hasCredit && bonusMicros > 0
                ? [[t("payments.bonus"), formats.money(bonusMicros)] as const]
                : []),
              ...(payment.reversedMicros > 0
                ? [[t("payments.reversed"), formats.money(payment.reversedMicros)] as const]
                : []),
              ...(payment.customerReference === null
                ? []
                : [[t("payments.reference"), <Typed text={payment.customerReference} />] as const]),
              ...(payment.reason === null
                ? []
                : [[t("payments.reason"), <Typed text={payment.reason} />] as const]),
              [t("payments.created"), <Time at={payment.createdAt} visitor={visitor} />],
              ...(payment.paidAt === null
                ? []
                : [
                    [t("payments.paidAt"), <Time at={payment.paidAt} visitor={visitor} />] as const,
                  ]),
              [t("payments.id"), id],
            ]}
          />
        </div>
        <Next visitor={visitor} {...shown} />
        <p>
          <a href="/payments">{t("payments.all")}</a>
        </p>
      </div>
    ),
  };
}

/** What the customer can do next. */
function Next({ visitor, payment, method, hasFile }: Shown & { visitor: Visitor }) {
  const { t } = visitor;
  const { id, state, url, expiresAt } = payment;
  const instructions = textIn(readTexts(method.instructions), visitor.language);
  const isOpen = OPEN_PAYMENT_STATES.includes(state);
  const mayAct = visitor.may("order");
  const mayClaim =
    mayAct && isClaimed(method) && effectOf(phaseOf(payment), "claimed") !== "refuse";
  return (
    <>
      {isOpen && instructions !== "" && (
        <>
          <h2>{t("payments.instructions")}</h2>
          <TypedLines text={instructions} />
        </>
      )}
      {state === "pending" && url !== null && payment.awaits === null && (
        <p class="actions">
          <a class="button primary" href={url} rel="noreferrer">
            {t("payments.pay")}
          </a>
          {expiresAt !== null && (
            <span>
              {t("payments.until")} <Time at={expiresAt} visitor={visitor} />
            </span>
          )}
        </p>
      )}
      {state === "created" && mayAct && (
        <>
          <p class="notice busy">{t("payments.notBegun")}</p>
          <Form action={`/payments/${id}/begin`} submit={t("payments.again")} />
        </>
      )}
      {mayClaim && (
        <>
          <h2>{t(payment.awaits === null ? "payments.claimTitle" : "payments.claimAgain")}</h2>
          <Form action={`/payments/${id}/claim`} submit={t("payments.claim")} hasFiles>
            <Field
              name="reference"
              label={t("payments.reference")}
              hint={t("payments.referenceHint")}
              value={payment.customerReference ?? ""}
              required
            />
            <FileField
              name="file"
              label={t("payments.file")}
              hint={t(hasFile ? "payments.fileSent" : "payments.fileHint")}
              accept=".png,.jpg,.jpeg,.pdf"
            />
          </Form>
        </>
      )}
    </>
  );
}

/** Records that the customer says it has paid. */
export async function claim(submission: Submission): Promise<Redirect> {
  const { form, files, visitor } = submission;
  const id = submission.params["payment"]!;
  const reference = form.required("reference", CLAIM_REFERENCE, "");
  const content = files.get("file");
  const type = content && attachmentTypeOf(content);
  const isWrong = content && (!type || content.length > ATTACHMENT_LIMIT_BYTES);
  if (isWrong) form.addError("file", visitor.t("payments.fileWrong"));
  form.check();
  const { method } = await submission.read((reader) => requireShown(reader, visitor, id));
  const file = type
    ? {
        type,
        bytes: content!.length,
        sha256: Bun.SHA256.hash(content!, "hex"),
        data: Buffer.from(content!).toString("base64"),
      }
    : null;
  await submission.submit("claimPayment", { id, reference, file, isClaimed: isClaimed(method) });
  return { to: `/payments/${id}`, note: visitor.t("payments.claimed") };
}

/** Begins a payment again, of which it is not known whether it was. The method knows it by its id. */
export async function beginAgain(submission: Submission, portal: Portal): Promise<Redirect> {
  const { visitor, params } = submission;
  const id = params["payment"]!;
  const { payment } = await submission.read((reader) => requireShown(reader, visitor, id));
  if (payment.state !== "created") return { to: `/payments/${id}`, note: "" };
  return begin(id, visitor, portal);
}

/** Begins a payment at its method, and leads to its page. Nothing is believed from a browser that comes back. */
export async function begin(id: string, visitor: Visitor, portal: Portal): Promise<Redirect> {
  const { t, language } = visitor;
  const to = `/payments/${id}`;
  const returnUrl = visitor.addressOf(to);
  const description = t("payments.description", { name: portal.brand.name });
  const { outcome } = await portal.payments.begin(id, { returnUrl, description, language });
  if (outcome === "begun") return { to, note: t("payments.begun") };
  return { to, note: t("payments.notBegun"), tone: "busy" };
}
