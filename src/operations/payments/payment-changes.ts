// Makes every change of a payment's state, with its event, and credits what was paid: once, in the transaction that makes
// it `paid`. docs/specification/payments.md#payment-states.

import { postTransfer } from "../../db/ledger/ledger.ts";
import { findPayment } from "../../db/payments/payments.ts";
import type { Tx } from "../../db/port/port.ts";
import {
  type Payment,
  paymentEvents,
  payments,
  paymentTransfers,
} from "../../db/tables/payments.ts";
import { users } from "../../db/tables/users.ts";
import { type Actor, cashAccount } from "../../domain/ledger/ledger.ts";
import type { PaymentCredit } from "../../domain/payments/payment-amounts.ts";
import {
  effectOf,
  isCredited,
  type PaymentAwaits,
  type PaymentEvent,
  type PaymentState,
  phaseOf,
  stateOf,
} from "../../domain/payments/payment-states.ts";
import { Refusal, refusal } from "../../domain/values/error-table.ts";
import type { Context } from "../batch/context.ts";
import { noteInvoiceItem } from "../ledger/invoices.ts";
import { recordCreditEvent } from "../webhooks/webhook-events.ts";
import { recordPaymentNews } from "./payment-news.ts";

/** A server, which is no author. */
export const SERVER: Actor = { keyId: null, operator: null };

/** The fields of a payment that an event may set. */
export type PaymentFields = Partial<
  Pick<
    Payment,
    | "methodReference"
    | "url"
    | "expiresAt"
    | "customerReference"
    | "receivedMicros"
    | "receivedCurrency"
    | "refundedMicros"
    | "disputedMicros"
    | "settledMicros"
    | "reversedMicros"
    | "reason"
    | "cause"
    | "nextReadAt"
    | "reads"
    | "reported"
    | "reportedRefundMicros"
    | "nettedMicros"
  >
>;

export interface PaymentChange {
  event: PaymentEvent;
  actor: Actor;
  /** Set whether the state changes or not, except after a credit what was received. */
  fields?: PaymentFields;
  /** Why the operator is to decide, if the event leads to that. */
  awaits?: PaymentAwaits;
  /** What to credit, if the event leads to a credit. */
  credit?: PaymentCredit;
  /** For the timeline of the operator. It stays after an erasure, so it holds no text of others: that is in `cause`. */
  detail?: string | null;
}

/** Returns a payment under the lock of its account. Refuses: payment_not_found. */
export function requirePayment(tx: Tx, id: string): Payment {
  const found = findPayment(tx, id);
  if (!found) throw refusal("payment_not_found");
  tx.lock(found.account);
  return found;
}

/** Refuses an act that does not apply to the payment in its state. Refuses: payment_closed. */
export function refuseClosed(payment: Payment, event: PaymentEvent): void {
  if (effectOf(phaseOf(payment), event) === "refuse") {
    throw new Refusal("payment_closed", { state: payment.state });
  }
}

/** Applies an event. Every refusal came before. Returns the payment after it. */
export function changePayment(
  tx: Tx,
  payment: Payment,
  { event, actor, fields = {}, awaits, credit, detail = null }: PaymentChange,
  context: Context,
): Payment {
  const phase = phaseOf(payment);
  const effect = effectOf(phase, event);
  if (effect === "refuse") throw new Error(`a payment that is ${phase} cannot be ${event}`);
  const next = effect === "stay" ? phase : effect;
  const state = stateOf(next);
  const isPaidNow = isCredited(state) && !isCredited(payment.state);
  const awaited = next === "waiting" ? (awaits ?? payment.awaits) : null;
  const isChanged = state !== payment.state || awaited !== payment.awaits;
  const after = tx.update(payments, payment, {
    ...fields,
    state,
    awaits: awaited,
    ...(isChanged ? { changedAt: context.now } : {}),
    ...(isPaidNow ? { paidAt: context.now, ...creditFields(credit) } : {}),
  });
  if (isChanged) insertEvent(tx, after, { event, from: payment.state, actor, detail }, context);
  if (isPaidNow) postCredit(tx, after, actor, context);
  if (isChanged) tellNews(tx, payment, after, context);
  return after;
}

/** Records what happened to a payment without a change of its state. */
export function noteEvent(
  tx: Tx,
  payment: Payment,
  event: PaymentEvent | "created",
  { actor, detail = null }: { actor: Actor; detail?: string | null },
  context: Context,
): void {
  insertEvent(tx, payment, { event, from: payment.state, actor, detail }, context);
}

function creditFields(credit: PaymentCredit | undefined): PaymentCredit {
  if (!credit) throw new Error("a payment was paid without its credit");
  return credit;
}

function insertEvent(
  tx: Tx,
  { paymentId, account, state: toState }: Payment,
  {
    event,
    from: fromState,
    actor: { operator },
    detail,
  }: {
    event: PaymentEvent | "created";
    from: PaymentState;
    actor: Actor;
    detail: string | null;
  },
  { now: createdAt }: Context,
): void {
  const states = { event, fromState, toState };
  tx.insert(paymentEvents, { paymentId, account, ...states, operator, detail, createdAt });
}

/** Credits the payment, and its bonus. A unique index lets each be posted only once. */
function postCredit(tx: Tx, payment: Payment, actor: Actor, context: Context): void {
  const { account, creditMicros, bonusMicros } = payment;
  for (const [kind, amountMicros] of [
    ["payment", creditMicros],
    ["payment_bonus", bonusMicros],
  ] as const) {
    if (amountMicros === 0) continue;
    const before = tx.row(users.byKey, account)!;
    const seq = postPaymentTransfer(tx, payment, { kind, amountMicros, actor }, context);
    // The customer paid for the credit; the bonus is given, and no invoice is for it.
    if (kind === "payment") noteInvoiceItem(tx, before, { seq, amountMicros }, context);
    recordCreditEvent(tx, before, amountMicros, kind, context);
  }
}

/** Posts a transfer of a payment, and returns its number. */
export function postPaymentTransfer(
  tx: Tx,
  { paymentId, account, id }: Payment,
  transfer: {
    kind: "payment" | "payment_bonus" | "payment_reversal";
    amountMicros: number;
    actor: Actor;
    publicNote?: string | null;
  },
  { now }: Context,
): number {
  const { kind, amountMicros, actor, publicNote = null } = transfer;
  const isDebit = kind === "payment_reversal";
  const seq = postTransfer(tx, {
    debitAccount: isDebit ? account : cashAccount(false),
    creditAccount: isDebit ? cashAccount(false) : account,
    amountMicros,
    kind,
    orderId: null,
    actor,
    note: `payment ${id}`,
    publicNote,
    createdAt: now,
  })!;
  tx.insert(paymentTransfers, { seq, paymentId, account, kind });
  return seq;
}

function tellNews(tx: Tx, before: Payment, after: Payment, context: Context): void {
  if (after.state === "paid" && !isCredited(before.state)) {
    recordPaymentNews(tx, after, "paid", context);
  } else if (after.state === "rejected") recordPaymentNews(tx, after, "rejected", context);
  else if (after.awaits !== null) recordPaymentNews(tx, after, "to_approve", context);
  else if (after.state === "refunded" || after.state === "disputed") {
    recordPaymentNews(tx, after, "reversed", context);
  }
}
