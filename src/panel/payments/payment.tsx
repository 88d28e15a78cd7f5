// One payment: what was asked for and received, what happened to it, and the operator's decisions.

/** @jsxImportSource preact */

import {
  findAttachment,
  findAttachmentFacts,
  findPayment,
  listPaymentEvents,
  type ListedPayment,
  listTransfersOfPayment,
} from "../../db/payments/payments.ts";
import { listSurpluses } from "../../db/payments/payment-surpluses.ts";
import { findUserByAccount } from "../../db/users/users.ts";
import { administratorOf, mayAct } from "../../domain/administrators/administrators.ts";
import { memberOf } from "../../domain/members/members.ts";
import { endingOf } from "../../domain/payments/attachments.ts";
import { effectOf, phaseOf } from "../../domain/payments/payment-states.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { AMOUNT, NOTE } from "../../domain/values/kinds.ts";
import { previewApproval } from "../../operations/payments/payment-decisions.ts";
import { Field, Form } from "../../web/components/fields.tsx";
import { Facts, List } from "../../web/components/lists.tsx";
import { Money, moneyText, Time, Typed } from "../../web/components/shown.tsx";
import { confirmationFields } from "../../web/server/confirmation.tsx";
import type { Redirect, View } from "../../web/server/results.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import { userPath } from "../users/shown-user.ts";
import { SurplusDecision, Surpluses } from "./payment-surpluses.tsx";
import { amountText, PaymentState } from "./payments.tsx";
import { idIn, requirePayment } from "./shown-payment.ts";

/** Why a payment waits. */
const BECAUSE = {
  claim: "The customer says that it has paid.",
  currency: "It was paid in another currency. Say how much to credit.",
  amount: "Nothing is left to credit after the fee.",
  limit: "The credit exceeds a limit of the balance.",
  disputed: "The money was disputed before it was credited.",
  rejected: "Money arrived after the payment had been rejected.",
} as const;

export async function paymentPage(call: Call, { now }: Panel): Promise<View> {
  const id = idIn(call);
  const { payment, events, transfers, surpluses, file } = await call.read((reader) => {
    const found = requirePayment(reader, id);
    const { paymentId } = found;
    return {
      payment: found,
      events: listPaymentEvents(reader, paymentId),
      transfers: listTransfersOfPayment(reader, paymentId),
      surpluses: listSurpluses(reader, paymentId),
      file: findAttachmentFacts(reader, paymentId),
    };
  });
  return {
    title: "Payment",
    body: (
      <>
        <h1>
          Payment <PaymentState phase={phaseOf(payment)} />
        </h1>
        {payment.awaits !== null && <p class="notice busy">{BECAUSE[payment.awaits]}</p>}
        <Surpluses surpluses={surpluses} />
        <PaymentFacts payment={payment} hasFile={file !== undefined} />
        <SurplusDecision call={call} id={id} surpluses={surpluses} now={now()} />
        <Decisions call={call} payment={payment} now={now()} />
        <h2>What happened</h2>
        <List
          caption="Events, oldest first"
          rows={events}
          empty=""
          columns={[
            { heading: "When (UTC)", cell: ({ createdAt }) => <Time at={createdAt} /> },
            { heading: "Event", cell: ({ event }) => event.replaceAll("_", " ") },
            { heading: "State", cell: ({ toState }) => toState },
            { heading: "By", cell: ({ operator }) => authorText(operator, payment) },
            { heading: "Details", cell: ({ detail }) => <Typed text={detail} /> },
          ]}
        />
        {transfers.length > 0 && (
          <List
            caption="Transactions"
            rows={transfers}
            empty=""
            columns={[
              { heading: "Transaction", number: true, cell: ({ seq }) => seq },
              { heading: "Kind", cell: ({ kind }) => kind },
              {
                heading: "Amount USD",
                number: true,
                cell: ({ amountMicros }) => <Money micros={amountMicros} />,
              },
            ]}
          />
        )}
        <p>
          <a href="/payments">All payments</a>
        </p>
      </>
    ),
  };
}

function authorText(operator: string | null, { email }: ListedPayment): string {
  if (operator === null) return "the server";
  if (memberOf(operator) !== null) return email ?? "the customer";
  return administratorOf(operator) ?? operator;
}

function PaymentFacts({ payment, hasFile }: { payment: ListedPayment; hasFile: boolean }) {
  const { currency, receivedMicros, receivedCurrency } = payment;
  const shown: [string, Parameters<typeof Facts>[0]["facts"][number][1]][] = [
    ["User", <a href={userPath(payment.username)}>{payment.username}</a>],
    ["Asked by", <Typed text={payment.email} />],
    ["Way to pay", payment.methodId],
    ["Asked for", amountText(payment.askedMicros, currency)],
    ["Fee", amountText(payment.feeMicros, currency)],
    ["Due", amountText(payment.dueMicros, currency)],
    ["Credit", amountText(payment.creditMicros, "USD")],
    ["Bonus", amountText(payment.bonusMicros, "USD")],
    ["Received", receivedMicros === null ? "–" : amountText(receivedMicros, receivedCurrency!)],
  ];
  if (payment.refundedMicros > 0)
    shown.push(["Refunded", amountText(payment.refundedMicros, receivedCurrency ?? currency)]);
  if (payment.disputedMicros > 0)
    shown.push(["Disputed", amountText(payment.disputedMicros, receivedCurrency ?? currency)]);
  if (payment.reversedMicros > 0)
    shown.push(["Debited", amountText(payment.reversedMicros, "USD")]);
  shown.push(["Customer's reference", <Typed text={payment.customerReference} />]);
  if (hasFile)
    shown.push(["File", <a href={`/payments/${payment.id}/file`}>Download what was sent</a>]);
  shown.push(["Id at the method", <Typed text={payment.methodReference} />]);
  if (payment.reason !== null) shown.push(["Reason", <Typed text={payment.reason} />]);
  if (payment.cause !== null) shown.push(["Cause", <Typed text={payment.cause} />]);
  shown.push(["Created (UTC)", <Time at={payment.createdAt} />]);
  if (payment.paidAt !== null) shown.push(["Paid (UTC)", <Time at={payment.paidAt} />]);
  shown.push(["Id", payment.id]);
  return <Facts facts={shown} />;
}

function Decisions({ call, payment, now }: { call: Call; payment: ListedPayment; now: number }) {
  const { role } = call.visitor.administrator;
  const phase = phaseOf(payment);
  const path = `/payments/${payment.id}`;
  const mayApprove = mayAct(role, "owner") && effectOf(phase, "approved") !== "refuse";
  const mayReject = mayAct(role, "operator") && effectOf(phase, "rejected") !== "refuse";
  const maySettle = mayAct(role, "owner") && effectOf(phase, "settled") !== "refuse";
  const credited = payment.creditMicros + payment.bonusMicros - payment.reversedMicros;
  return (
    <>
      {mayApprove && (
        <section class="card narrow-card" id="approve">
          <Form action={`${path}/approve`} hidden={confirmationFields(now)} submit="Approve">
            <h2>Approve</h2>
            <Field
              name="received"
              label={`Received in ${payment.currency}`}
              inputmode="decimal"
              hint={
                payment.receivedMicros === null ? "empty: what was due" : "empty: what was reported"
              }
            />
            <Field
              name="credit"
              label="Credit in USD"
              inputmode="decimal"
              hint="empty: by the terms of the payment; else exactly this, without a bonus"
            />
          </Form>
        </section>
      )}
      {mayReject && (
        <section class="card narrow-card" id="reject">
          <Form action={`${path}/reject`} submit="Reject" danger>
            <h2>Reject</h2>
            <Field name="reason" label="Reason" hint="the customer reads it" required />
          </Form>
        </section>
      )}
      {maySettle && (
        <section class="card narrow-card" id="settle">
          <Form action={`${path}/settle`} hidden={confirmationFields(now)} submit="Debit">
            <h2>Money given back</h2>
            <p class="hint">
              Give the money back where it was paid. Here the balance is debited, at most by what it
              has. 0 debits nothing and settles the matter. Its{" "}
              <a href={`/invoices?user=${encodeURIComponent(payment.username)}`}>invoice</a>, if
              there is one, stays until you correct it.
            </p>
            <Field
              name="amount"
              label="Debit in USD"
              inputmode="decimal"
              hint={`at most ${moneyText(credited)}`}
              required
            />
            <Field name="public-note" label="Note to the user" hint="the user can read it" />
          </Form>
        </section>
      )}
    </>
  );
}

export async function approve(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const id = idIn(submission);
  const receivedMicros = form.optional("received", AMOUNT, 1);
  const creditMicros = form.optional("credit", AMOUNT, 1);
  form.check();
  const command = { id, receivedMicros, creditMicros };
  const { username, credit } = await submission.read((reader) => {
    const { username: name } = requirePayment(reader, id);
    return { username: name, credit: previewApproval(reader, command) };
  });
  const micros = credit.creditMicros + credit.bonusMicros;
  await submission.confirm({
    title: `Approve the payment of ${username}`,
    moves: [{ account: username, micros }],
    details: (
      <p>
        Credit <Money micros={credit.creditMicros} /> USD, bonus{" "}
        <Money micros={credit.bonusMicros} /> USD
      </p>
    ),
    plan: command,
  });
  await submission.submit("approvePayment", command);
  return { to: `/payments/${id}`, note: `${username} was credited ${moneyText(micros)} USD.` };
}

export async function reject(submission: Submission): Promise<Redirect> {
  const id = idIn(submission);
  const reason = submission.form.required("reason", NOTE, "");
  await submission.submit("rejectPayment", { id, reason });
  return { to: `/payments/${id}`, note: "The payment was rejected." };
}

export async function settle(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const id = idIn(submission);
  const amountMicros = form.price("amount");
  const publicNote = form.optional("public-note", NOTE, "");
  form.check();
  const { username, balanceMicros } = await submission.read((reader) => {
    const { account, username: name } = requirePayment(reader, id);
    return { username: name, balanceMicros: findUserByAccount(reader, account)!.balanceMicros };
  });
  await submission.confirm({
    title: `Debit ${username} for a payment`,
    moves: [{ account: username, micros: -amountMicros }],
    details: (
      <p>
        Balance: <Money micros={balanceMicros} /> →{" "}
        <Money micros={balanceMicros - BigInt(amountMicros)} /> USD
      </p>
    ),
  });
  await submission.submit("settleReversal", { id, amountMicros, publicNote });
  return { to: `/payments/${id}`, note: `${username} was debited ${moneyText(amountMicros)} USD.` };
}

/** Returns the file that the customer sent, to be saved: it is never shown as a page. */
export async function paymentFile(call: Call): Promise<Response> {
  const id = idIn(call);
  const file = await call.read((reader) => {
    const payment = findPayment(reader, id);
    const found = payment && findAttachment(reader, payment.paymentId);
    if (!found) throw refusal("payment_not_found");
    return found;
  });
  return new Response(Buffer.from(file.data, "base64"), {
    headers: {
      // Not its own type, so that no browser shows it.
      "content-type": "application/octet-stream",
      "content-disposition": `attachment; filename="${id}.${endingOf(file.type)}"`,
    },
  });
}
