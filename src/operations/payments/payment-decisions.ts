// The operator's decisions about payments: approve, reject, and what to debit for a reversal.
// docs/specification/payments.md#payment-decisions.

import { findPayment } from "../../db/payments/payments.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import type { Payment } from "../../db/tables/payments.ts";
import { users } from "../../db/tables/users.ts";
import {
  type Actor,
  refuseCreditAboveLimit,
  refuseDebitAboveBalance,
} from "../../domain/ledger/ledger.ts";
import { amountText, multiplyDivideDown } from "../../domain/ledger/money.ts";
import {
  creditForReceived,
  type PaymentCredit,
  readTerms,
} from "../../domain/payments/payment-amounts.ts";
import { Refusal, refusal } from "../../domain/values/error-table.ts";
import { requireRole } from "../administrators/acting.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import { recordDebitEvents } from "../webhooks/webhook-events.ts";
import {
  changePayment,
  noteEvent,
  postPaymentTransfer,
  refuseClosed,
  requirePayment,
} from "./payment-changes.ts";

export interface ApprovePayment {
  id: string;
  /** What was received, in millionths of the payment's currency; null: what was reported, or else what was due. */
  receivedMicros: number | null;
  /** What to credit, in millionths of a US dollar, without a bonus; null: by the terms of the payment. */
  creditMicros: number | null;
  actor: Actor;
}

/**
 * Credits a payment because the operator has seen the money. Refuses: payment_not_found, payment_closed,
 * payment_credit_missing, payment_credit_zero, balance_too_large, deposits_too_large.
 */
export function approvePayment(
  tx: Tx,
  { id, receivedMicros, creditMicros, actor }: ApprovePayment,
  context: Context,
): { state: Payment["state"]; creditMicros: number; bonusMicros: number } {
  requireRole(tx, actor, "owner", "approve payments");
  const payment = requirePayment(tx, id);
  const { received, currency, credit } = decideApproval(tx, payment, {
    receivedMicros,
    creditMicros,
  });
  // Nothing is refused from here on.
  const { refundedMicros, disputedMicros } = payment;
  const fields = {
    receivedMicros: received,
    receivedCurrency: currency,
    settledMicros: refundedMicros + disputedMicros,
    nettedMicros: refundedMicros,
    reason: null,
    ...lastReading(payment),
  };
  const detail = amountText(received, currency);
  const after = changePayment(
    tx,
    payment,
    { event: "approved", actor, fields, credit, detail },
    context,
  );
  auditPayment(tx, context, actor, "payment.approve", payment, {
    received: detail,
    ...credit,
  });
  return { state: after.state, ...credit };
}

/** Returns what an approval would credit. Refuses what approvePayment refuses. */
export function previewApproval(
  reader: Reader,
  command: Omit<ApprovePayment, "actor">,
): PaymentCredit {
  const payment = findPayment(reader, command.id);
  if (!payment) throw refusal("payment_not_found");
  return decideApproval(reader, payment, command).credit;
}

function decideApproval(
  reader: Reader,
  payment: Payment,
  { receivedMicros, creditMicros }: Pick<ApprovePayment, "receivedMicros" | "creditMicros">,
): { received: number; currency: string; credit: PaymentCredit } {
  refuseClosed(payment, "approved");
  const reported = receivedMicros === null ? payment.receivedMicros : null;
  const currency = reported === null ? payment.currency : payment.receivedCurrency!;
  const received = receivedMicros ?? reported ?? payment.dueMicros;
  if (creditMicros === null && currency !== payment.currency) {
    throw new Refusal("payment_credit_missing", { currency: payment.currency });
  }
  const left = received - (reported === null ? 0 : payment.refundedMicros);
  const credit =
    creditMicros === null
      ? creditForReceived(readTerms(payment), payment, Math.max(0, left))
      : { creditMicros, bonusMicros: 0 };
  if (credit.creditMicros < 1) throw refusal("payment_credit_zero");
  refuseCreditAboveLimit(
    reader.row(users.byKey, payment.account)!,
    credit.creditMicros + credit.bonusMicros,
  );
  return { received, currency, credit };
}

export interface RejectPayment {
  id: string;
  /** Shown to the customer. */
  reason: string;
  actor: Actor;
}

/** Rejects a payment. Refuses: payment_not_found, payment_closed. */
export function rejectPayment(
  tx: Tx,
  { id, reason, actor }: RejectPayment,
  context: Context,
): { state: Payment["state"] } {
  requireRole(tx, actor, "operator", "reject payments");
  const payment = requirePayment(tx, id);
  refuseClosed(payment, "rejected");
  const fields = { reason, ...lastReading(payment) };
  const after = changePayment(tx, payment, { event: "rejected", actor, fields }, context);
  auditPayment(tx, context, actor, "payment.reject", payment, { note: reason });
  return { state: after.state };
}

/**
 * Ends the reads of a payment that its method does not know. Any other payment is still read, because it may later be
 * refunded, disputed or paid.
 */
function lastReading({ methodReference }: Payment): { nextReadAt?: null } {
  return methodReference === null ? { nextReadAt: null } : {};
}

export interface SettleReversal {
  id: string;
  /** What to debit, in millionths of a US dollar; 0: nothing; null: all that is left, at most the balance. */
  amountMicros: number | null;
  /** Shown to the customer. */
  publicNote: string | null;
  actor: Actor;
}

/**
 * Decides on a refund or a dispute: debits the balance by at most what it has and what is left of the payment's credit.
 * The money itself was given back at the provider of the payment. Refuses: payment_not_found, payment_closed,
 * payment_reversal_too_large, insufficient_balance.
 */
export function settleReversal(
  tx: Tx,
  { id, amountMicros, publicNote, actor }: SettleReversal,
  context: Context,
): { state: Payment["state"]; debitedMicros: number } {
  requireRole(tx, actor, "owner", "debit for payments");
  const payment = requirePayment(tx, id);
  refuseClosed(payment, "settled");
  const user = tx.row(users.byKey, payment.account)!;
  const { refundedMicros, disputedMicros, settledMicros, reversedMicros } = payment;
  const credited = payment.creditMicros + payment.bonusMicros;
  const leftMicros = credited - reversedMicros;
  const isOpen = refundedMicros + disputedMicros > settledMicros;
  const most = user.balanceMicros < BigInt(leftMicros) ? Number(user.balanceMicros) : leftMicros;
  const debitedMicros = amountMicros ?? most;
  if (debitedMicros > leftMicros) {
    const left = amountText(leftMicros, "USD");
    throw new Refusal("payment_reversal_too_large", { leftMicros, left });
  }
  // Nothing was reversed, and nothing is to be.
  if (!isOpen && debitedMicros === 0) throw new Refusal("payment_closed", { state: payment.state });
  refuseDebitAboveBalance(user.balanceMicros, debitedMicros);
  // Nothing is refused from here on.
  // If no provider reported how much was given back, assume the same share of the received money as was debited of the
  // credit.
  const received = payment.receivedMicros!;
  const given = isOpen
    ? refundedMicros
    : debitedMicros === leftMicros
      ? Math.max(refundedMicros, received)
      : refundedMicros + multiplyDivideDown(received, debitedMicros, credited);
  const fields = {
    refundedMicros: given,
    settledMicros: given + disputedMicros,
    reversedMicros: reversedMicros + debitedMicros,
  };
  const detail = `${amountText(debitedMicros, "USD")} debited`;
  const change = { event: "settled" as const, actor, fields, detail };
  const after = changePayment(tx, payment, change, context);
  if (after.state === payment.state) noteEvent(tx, after, "settled", { actor, detail }, context);
  if (debitedMicros > 0) {
    const transfer = { kind: "payment_reversal" as const, amountMicros: debitedMicros, actor };
    postPaymentTransfer(tx, after, { ...transfer, publicNote }, context);
    recordDebitEvents(tx, user, debitedMicros, context);
  }
  auditPayment(tx, context, actor, "payment.refund", payment, { debitedMicros });
  return { state: after.state, debitedMicros };
}

function auditPayment(
  tx: Tx,
  context: Context,
  actor: Actor,
  action: "payment.approve" | "payment.reject" | "payment.refund",
  { id, account, state }: Payment,
  facts: Record<string, string | number>,
): void {
  const change = { actor, action, subject: id, account };
  audit(tx, context, { ...change, before: { state }, after: { ...facts } });
}
