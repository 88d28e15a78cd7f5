// Money that a payment does not credit: paid once more, or back after it was reversed. Records it, and the operator's
// decision. docs/specification/payments.md#payment-surpluses.

import { findSurplus, listSurpluses } from "../../db/payments/payment-surpluses.ts";
import type { Tx } from "../../db/port/port.ts";
import {
  type Payment,
  payments,
  type PaymentSurplus,
  paymentSurpluses,
} from "../../db/tables/payments.ts";
import { findUserByAccount } from "../../db/users/users.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { amountText } from "../../domain/ledger/money.ts";
import type { PaymentReading } from "../../domain/payments/payment-reads.ts";
import { planReversals, type ReturnCause } from "../../domain/payments/payment-reversals.ts";
import { isOpenSurplus, leftOf } from "../../domain/payments/payment-surpluses.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { requireRole } from "../administrators/acting.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import { creditUser } from "../ledger/adjustments.ts";
import { changePayment, noteEvent, requirePayment, SERVER } from "./payment-changes.ts";

/** What was received beyond what the payment credits. */
interface Received extends Pick<
  PaymentReading,
  "amountMicros" | "currency" | "refundedMicros" | "disputedMicros"
> {
  reference: string;
}

/** Records money that was paid once more. The same again changes nothing but what a newer reading says was given back. */
export function recordSurplus(
  tx: Tx,
  payment: Payment,
  { reference, amountMicros, currency, ...reversed }: Received,
  isNewest: boolean,
  context: Context,
): void {
  const { paymentId, account, methodId } = payment;
  const leftMicros = leftOf(amountMicros, reversed);
  const known = findSurplus(tx, methodId, reference);
  if (known) {
    if (!isNewest || known.settledAt !== null || known.leftMicros === leftMicros) return;
    tx.update(paymentSurpluses, known, { leftMicros });
    const event = leftMicros < known.leftMicros ? "refunded" : "refund_failed";
    const detail = `${amountText(leftMicros, currency)} is left of what was paid again`;
    noteEvent(tx, payment, event, { actor: SERVER, detail }, context);
    return;
  }
  if (amountMicros === 0) return;
  const received = { methodId, reference, currency, amountMicros, leftMicros };
  const row = { ...received, cause: "paid_again" as const, createdAt: context.now };
  tx.insert(paymentSurpluses, { paymentId, account, ...row, settledAt: null });
  const detail = `${amountText(amountMicros, currency)} (${reference})`;
  noteEvent(tx, payment, "paid_again", { actor: SERVER, detail }, context);
}

/** Records the refunds and disputes of a credited payment, and what of them came back. Returns the payment after it. */
export function recordReversals(
  tx: Tx,
  payment: Payment,
  reading: PaymentReading,
  isNewest: boolean,
  context: Context,
): Payment {
  const back = listSurpluses(tx, payment.paymentId).filter(
    (each) => each.cause !== "paid_again" && isOpenSurplus(each),
  );
  const openMicros = back.reduce((sum, { leftMicros }) => sum + leftMicros, 0);
  const { after: fields, ...plan } = planReversals(payment, reading, {
    isNewest,
    debitedMicros: payment.reversedMicros,
    openMicros,
  });
  let after = tx.update(payments, payment, fields);
  for (const { event, micros } of plan.events) {
    const detail = amountText(micros, reading.currency);
    const { state } = after;
    after = changePayment(tx, after, { event, actor: SERVER, detail }, context);
    const isTaken = event === "refund_failed" || event === "dispute_won";
    if (isTaken && after.state === state) {
      noteEvent(tx, after, event, { actor: SERVER, detail }, context);
    }
  }
  let takenMicros = plan.takenMicros;
  for (const each of returnMoney(tx, payment, { ...plan, back, ...reading }, context)) {
    const micros = Math.min(takenMicros, each.leftMicros);
    if (micros > 0) tx.update(paymentSurpluses, each, { leftMicros: each.leftMicros - micros });
    takenMicros -= micros;
  }
  return after;
}

/** Adds what came back to the open surpluses of its cause. Returns all of them. */
function returnMoney(
  tx: Tx,
  { paymentId, account, methodId }: Payment,
  {
    returned,
    back,
    currency,
  }: {
    returned: readonly { cause: ReturnCause; micros: number }[];
    back: readonly PaymentSurplus[];
    currency: string;
  },
  { now: createdAt }: Context,
): PaymentSurplus[] {
  const open = new Map(back.map((each) => [each.cause, each]));
  for (const { cause, micros } of returned) {
    const known = open.get(cause);
    const row = { paymentId, account, methodId, cause, reference: null, currency, createdAt };
    const changed = known
      ? tx.update(paymentSurpluses, known, {
          amountMicros: known.amountMicros + micros,
          leftMicros: known.leftMicros + micros,
        })
      : tx.insert(paymentSurpluses, {
          ...row,
          amountMicros: micros,
          leftMicros: micros,
          settledAt: null,
        });
    open.set(cause, changed);
  }
  return [...open.values()];
}

export interface SettleSurplus {
  id: string;
  /** What to credit, in millionths of a US dollar; 0: nothing, because it was given back or is credited already. */
  creditMicros: number;
  /** Shown to the customer. */
  publicNote: string | null;
  actor: Actor;
}

/**
 * Decides on all surpluses of a payment: credits the balance, or nothing. Refuses: payment_not_found,
 * payment_without_surplus, balance_too_large, deposits_too_large.
 */
export function settleSurplus(
  tx: Tx,
  { id, creditMicros, publicNote, actor }: SettleSurplus,
  context: Context,
): { creditedMicros: number } {
  requireRole(tx, actor, "owner", "decide on surpluses of payments");
  const payment = requirePayment(tx, id);
  const open = listSurpluses(tx, payment.paymentId).filter(isOpenSurplus);
  if (open.length === 0) throw refusal("payment_without_surplus");
  if (creditMicros > 0) {
    const { username } = findUserByAccount(tx, payment.account)!;
    const note = `surplus of payment ${id}`;
    creditUser(tx, { username, amountMicros: creditMicros, note, publicNote, actor }, context);
  }
  // Nothing is refused from here on.
  for (const each of open) tx.update(paymentSurpluses, each, { settledAt: context.now });
  // What came back and was not credited before is so no more.
  const back = open.filter(({ cause }) => cause !== "paid_again");
  const backMicros = back.reduce((sum, { leftMicros }) => sum + leftMicros, 0);
  const nettedMicros = Math.max(0, payment.nettedMicros - backMicros);
  tx.update(payments, payment, { nettedMicros });
  const detail = `${amountText(creditMicros, "USD")} credited`;
  noteEvent(tx, payment, "surplus_settled", { actor, detail }, context);
  const change = { actor, action: "payment.surplus" as const, subject: id };
  const before = { surplus: open.map((each) => amountText(each.leftMicros, each.currency)).join() };
  const { account } = payment;
  audit(tx, context, { ...change, account, before, after: { surplus: "", creditMicros } });
  return { creditedMicros: creditMicros };
}
