// What is reported about payments: read from their provider, or claimed by a program that signed it with our secret.
// Nothing else is believed. docs/specification/payments.md#payment-truths.

import {
  findPayment,
  findPaymentByReference,
  listDuePayments,
} from "../../db/payments/payments.ts";
import type { Tx } from "../../db/port/port.ts";
import {
  type Payment,
  type PaymentMethodRow,
  paymentMethods,
  payments,
} from "../../db/tables/payments.ts";
import { users } from "../../db/tables/users.ts";
import { refuseCreditAboveLimit } from "../../domain/ledger/ledger.ts";
import { AMOUNT_LIMIT_MICROS, formatMicros } from "../../domain/ledger/money.ts";
import {
  creditForReceived,
  type PaymentCredit,
  readTerms,
} from "../../domain/payments/payment-amounts.ts";
import { nextReadAt, type PaymentReading } from "../../domain/payments/payment-reads.ts";
import { isCredited, type PaymentAwaits } from "../../domain/payments/payment-states.ts";
import { attempt, Refusal } from "../../domain/values/error-table.ts";
import type { Context } from "../batch/context.ts";
import {
  changePayment,
  noteEvent,
  type PaymentChange,
  requirePayment,
  SERVER,
} from "./payment-changes.ts";

export interface TakeDuePayments {
  limit: number;
  /** The kinds of methods that can be asked. */
  readableKinds: readonly string[];
}

/** A payment to read now, and its method. */
export interface DuePayment {
  id: string;
  reference: string;
  /** The number of this reading. */
  reads: number;
  method: Pick<PaymentMethodRow, "methodId" | "kind" | "settings">;
}

/**
 * Takes the payments to look at now: ends those whose time is over, and returns those to read. Their next time is stored
 * first, so that no other server reads them too, and a crash loses no reading.
 */
export function takeDuePayments(
  tx: Tx,
  { limit, readableKinds }: TakeDuePayments,
  context: Context,
): DuePayment[] {
  const { now } = context;
  const due = listDuePayments(tx, now, limit);
  for (const { account } of due) tx.lock(account);
  return tx
    .each(due, (payment) => {
      const method = tx.row(paymentMethods.byKey, payment.methodId)!;
      const isRemoved = method.removedAt !== null;
      const isReadable = !isRemoved && readableKinds.includes(method.kind);
      return { payment, method, isReadable };
    })
    .flatMap(({ payment, method, isReadable }) => {
      const { methodReference: reference } = payment;
      if (!isReadable || reference === null || payment.state === "created") {
        expire(tx, payment, context);
        return [];
      }
      const taken = tx.update(payments, payment, {
        reads: payment.reads + 1,
        nextReadAt: nextReadAt(payment, true, now),
      });
      return [{ id: payment.id, reference, reads: taken.reads, method }];
    });
}

function expire(tx: Tx, payment: Payment, context: Context): void {
  const fields = { nextReadAt: null };
  changePayment(tx, payment, { event: "expired", actor: SERVER, fields }, context);
}

export interface TakePayment {
  methodId: string;
  /** Our id, or the method's own. */
  id: string | null;
  reference: string | null;
}

/** Takes one payment to read now, because a notice says that it has changed. Null: it is no payment of the method. */
export function takePayment(tx: Tx, { methodId, id, reference }: TakePayment): DuePayment | null {
  const byId = id === null ? undefined : findPayment(tx, id);
  const found =
    byId ?? (reference === null ? undefined : findPaymentByReference(tx, methodId, reference));
  if (!found || found.methodId !== methodId) return null;
  tx.lock(found.account);
  const known = found.methodReference ?? reference;
  if (known === null) return null;
  const method = tx.row(paymentMethods.byKey, methodId)!;
  const { reads } = tx.update(payments, found, { reads: found.reads + 1 });
  return { id: found.id, reference: known, reads, method };
}

export interface RecordReading {
  id: string;
  /** The method's own id that was read. */
  reference: string;
  reads: number;
  reading: PaymentReading;
}

/** What a report led to. `foreign`: the reference belongs to another payment, so nothing was changed. */
export type Reported = { outcome: "recorded" | "foreign"; state: Payment["state"] };

/** Records what was read. Reading the same again changes nothing. Refuses: payment_not_found. */
export function recordReading(tx: Tx, command: RecordReading, context: Context): Reported {
  const { id, reference, reads, reading } = command;
  const payment = requirePayment(tx, id);
  const isOther = payment.methodReference !== null && payment.methodReference !== reference;
  const holder = findPaymentByReference(tx, payment.methodId, reference);
  const isTaken = holder !== undefined && holder.paymentId !== payment.paymentId;
  if (isOther || isTaken || (reading.paymentId !== null && reading.paymentId !== id)) {
    return { outcome: "foreign", state: payment.state };
  }
  const known = { ...payment, methodReference: reference };
  const isNewest = reads >= payment.reads;
  const changes = changesOf(tx, known, reading, isNewest);
  // Nothing is refused from here on.
  let after = payment;
  const seen = { methodReference: reference };
  for (const change of changes) {
    const fields = { ...seen, ...change.fields };
    after = changePayment(tx, after, { ...change, fields }, context);
  }
  if (after.methodReference === null) after = tx.update(payments, after, seen);
  const isOpenAgain = after.nextReadAt === null || after.state !== payment.state;
  if (isOpenAgain && isNewest) {
    const nextAt = nextReadAt(after, true, context.now);
    if (nextAt !== after.nextReadAt) after = tx.update(payments, after, { nextReadAt: nextAt });
  }
  return { outcome: "recorded", state: after.state };
}

/** Returns the events that a report leads to, in their order. */
function changesOf(
  tx: Tx,
  payment: Payment,
  reading: PaymentReading,
  isNewest: boolean,
): PaymentChange[] {
  const { state, cause } = reading;
  if (state === "open") return [];
  if (state !== "paid") {
    return [{ event: state, actor: SERVER, fields: endFields(payment, cause) }];
  }
  if (isCredited(payment.state)) return reversalsOf(payment, reading, isNewest);
  // A newer reading saw this money, and perhaps that it was given back since.
  if (!isNewest && payment.receivedMicros !== null) return [];
  return [paidChange(tx, payment, reading)].filter((change) => change !== null);
}

function endFields(payment: Payment, cause: string | null) {
  return payment.state === "created" || payment.state === "pending" ? { cause } : {};
}

/** Returns what is reversed of a credited payment. Refunds only grow, a dispute may be won. */
function reversalsOf(
  payment: Payment,
  { refundedMicros, disputedMicros, currency }: PaymentReading,
  isNewest: boolean,
): PaymentChange[] {
  const changes: PaymentChange[] = [];
  const amount = (micros: number) => `${formatMicros(micros)} ${currency}`;
  const refunded = Math.max(refundedMicros, payment.refundedMicros);
  const hasNewRefund = refunded > payment.refundedMicros;
  const hasWon = isNewest && disputedMicros === 0 && payment.disputedMicros > 0;
  if (hasWon) {
    // What was decided about the dispute decides nothing about later refunds.
    const settledMicros = Math.min(payment.settledMicros, payment.refundedMicros);
    const fields = { disputedMicros: 0, settledMicros };
    changes.push({ event: "dispute_won", actor: SERVER, fields });
  }
  // After a dispute, the refunds that there are count again.
  if (hasNewRefund || (hasWon && refunded > 0)) {
    const fields = { refundedMicros: refunded };
    changes.push({ event: "refunded", actor: SERVER, fields, detail: amount(refunded) });
  }
  if (disputedMicros > payment.disputedMicros) {
    const fields = { disputedMicros };
    changes.push({ event: "disputed", actor: SERVER, fields, detail: amount(disputedMicros) });
  }
  return changes;
}

/**
 * Returns the event of money that was received and is not credited yet; null if the operator has decided on that money
 * before. What was given back meanwhile is not credited.
 */
function paidChange(tx: Tx, payment: Payment, reading: PaymentReading): PaymentChange | null {
  const { amountMicros, currency, refundedMicros, disputedMicros } = reading;
  const { receivedMicros, receivedCurrency } = payment;
  const isKnown = receivedMicros === amountMicros && receivedCurrency === currency;
  if (payment.state === "rejected" && isKnown) return null;
  const fields = { receivedMicros: amountMicros, receivedCurrency: currency, refundedMicros };
  const detail = `${formatMicros(amountMicros)} ${currency}`;
  const leftMicros = amountMicros - refundedMicros;
  if (leftMicros <= 0 && amountMicros > 0) {
    const cause = `${detail} was received and given back`;
    return { event: "failed", actor: SERVER, fields: { ...fields, cause }, detail: cause };
  }
  const decided = decideCredit(tx, payment, leftMicros, currency, disputedMicros > 0);
  const shared = { actor: SERVER, detail };
  if (typeof decided === "string") {
    const event = "paid_unclear" as const;
    const unclear = { ...fields, disputedMicros };
    return { ...shared, event, awaits: decided, fields: unclear };
  }
  // What was refunded before is decided on, because it is not credited.
  const settled = { ...fields, disputedMicros, settledMicros: refundedMicros };
  const awaits = "rejected" as const;
  return { ...shared, event: "paid", awaits, credit: decided, fields: settled };
}

/** Returns what to credit, or why the operator is to decide. */
function decideCredit(
  tx: Tx,
  payment: Payment,
  leftMicros: number,
  currency: string,
  isDisputed: boolean,
): PaymentCredit | PaymentAwaits {
  if (currency !== payment.currency) return "currency";
  if (isDisputed) return "disputed";
  const credit = creditForReceived(readTerms(payment), payment, leftMicros);
  if (credit.creditMicros < 1) return "amount";
  return isAboveLimit(tx, payment.account, credit) ? "limit" : credit;
}

function isAboveLimit(
  tx: Tx,
  account: number,
  { creditMicros, bonusMicros }: PaymentCredit,
): boolean {
  const sum = creditMicros + bonusMicros;
  if (creditMicros > AMOUNT_LIMIT_MICROS || sum > AMOUNT_LIMIT_MICROS) return true;
  const user = tx.row(users.byKey, account)!;
  return attempt(() => refuseCreditAboveLimit(user, sum)) instanceof Refusal;
}

export interface RecordPaid {
  methodId: string;
  id: string;
  /** The program's own id, unique for the method. */
  programId: string;
  amountMicros: number;
  currency: string;
}

/**
 * Records what a program reports as received. The same notice again changes nothing. `unknown`: the method has no such
 * payment. `conflict`: the payment was paid under another id, or the id belongs to another payment; nothing is credited.
 */
export function recordPaid(
  tx: Tx,
  command: RecordPaid,
  context: Context,
): Reported | { outcome: "unknown" | "conflict"; state: null } {
  const { methodId, id, programId, amountMicros, currency } = command;
  const found = findPayment(tx, id);
  if (!found || found.methodId !== methodId) return { outcome: "unknown", state: null };
  tx.lock(found.account);
  const holder = findPaymentByReference(tx, methodId, programId);
  if (holder && holder.paymentId !== found.paymentId) return { outcome: "conflict", state: null };
  if (found.methodReference !== null && found.methodReference !== programId) {
    const detail = `${formatMicros(amountMicros)} ${currency} reported again as ${programId}`;
    noteEvent(tx, found, "paid_unclear", { actor: SERVER, detail }, context);
    return { outcome: "conflict", state: null };
  }
  const reading = { paymentId: id, amountMicros, currency, refundedMicros: 0, disputedMicros: 0 };
  const payment = { ...found, methodReference: programId };
  if (isCredited(found.state)) {
    // The operator may have approved it before the program reported it.
    if (found.methodReference === null) tx.update(payments, found, { methodReference: programId });
    return { outcome: "recorded", state: found.state };
  }
  const change = paidChange(tx, payment, { ...reading, state: "paid", cause: null });
  if (change === null) return { outcome: "recorded", state: found.state };
  const fields = { ...change.fields, methodReference: programId, nextReadAt: null };
  const { state } = changePayment(tx, found, { ...change, fields }, context);
  return { outcome: "recorded", state };
}
