// Plays a payment service in a demo: a button pays what is due. A notice reports the payment, signed like that of a real
// program.

/** @jsxImportSource preact */

import { createHmac } from "node:crypto";
import { findPayment } from "../../db/payments/payments.ts";
import type { Payment } from "../../db/tables/payments.ts";
import { formatMicros } from "../../domain/ledger/money.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { SECOND_MS } from "../../domain/values/spans.ts";
import { SECRET_PREFIX } from "../../domain/webhooks/webhooks.ts";
import { Form } from "../../web/components/fields.tsx";
import type { DemoPaymentMethod } from "../../web/server/demo.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Portal } from "../server/portal.ts";
import { get, post, type Route } from "../server/route.ts";

const PATH = "/demo-payments/:payment";

/** The routes that only a demo has. */
export const demoRoutes: readonly Route[] = [
  get(PATH, "read", demoPaymentPage),
  post(PATH, "order", pay, PATH),
];

async function demoPaymentPage(call: Call): Promise<View> {
  const { visitor } = call;
  const { t, formats } = visitor;
  const { id, dueMicros, currency } = await requireOwn(call);
  return {
    title: t("demo.payment"),
    body: (
      <div class="narrow">
        <h1>{t("demo.payment")}</h1>
        <p class="notice busy">{t("demo.paymentHint")}</p>
        <p>
          <strong>{formats.amount(dueMicros, currency)}</strong>
        </p>
        <Form action={`/demo-payments/${id}`} submit={t("payments.pay")} />
      </div>
    ),
  };
}

async function pay(submission: Submission, portal: Portal): Promise<Redirect> {
  const method = portal.demo?.payments;
  if (!method) throw refusal("payment_not_found");
  const { id, dueMicros, currency } = await requireOwn(submission);
  const data = { payment: id, id: `demo-${id}`, amount: formatMicros(dueMicros), currency };
  const body = Buffer.from(JSON.stringify({ type: "payment.paid", data }));
  const notice = { body, headers: signed(body, method, portal.now()), now: portal.now() };
  await portal.payments.receive("callback", method.id, notice);
  return { to: `/payments/${id}` };
}

/** Refuses: payment_not_found. */
async function requireOwn(call: Call): Promise<Payment> {
  const { account } = call.visitor;
  const id = call.params["payment"]!;
  const { payment } = await call.read((reader) => ({ payment: findPayment(reader, id) }));
  if (!payment || payment.account !== account) throw refusal("payment_not_found");
  return payment;
}

/** Returns the headers of Standard Webhooks 1.0.0. */
function signed(body: Uint8Array, { secret }: DemoPaymentMethod, now: number): Headers {
  const id = crypto.randomUUID();
  const timestamp = String(Math.floor(now / SECOND_MS));
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body);
  return new Headers({
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature.digest("base64")}`,
  });
}
