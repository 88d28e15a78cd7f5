// What is reported about payments: read from their provider, or claimed by a program that signed it with our secret.
// Nothing else is believed. docs/specification/payments.md#payment-truths.

import {
  findPayment,
  findPaymentByReference,
  listDuePayments,
} from "../../db/payments/payments.ts";
import { findSurplus } from "../../db/payments/payment-surpluses.ts";
import type { Tx } from "../../db/port/port.ts";
import {
  type Payment,
  type PaymentMethodRow,
  paymentMethods,
  payments,
} from "../../db/tables/payments.ts";
import { users } from "../../db/tables/users.ts";
import { refuseCreditAboveLimit } from "../../domain/ledger/ledger.ts";
import { AMOUNT_LIMIT_MICROS, amountText } from "../../domain/ledger/money.ts";
import {
  creditForReceived,
  type PaymentCredit,
  readTerms,
} from "../../domain/payments/payment-amounts.ts";
import { nextReadAt, type PaymentReading } from "../../domain/payments/payment-reads.ts";
import { isCredited, type PaymentAwaits, phaseOf } from "../../domain/payments/payment-states.ts";
import { beyondSurplus } from "../../domain/payments/payment-surpluses.ts";
import { attempt, Refusal } from "../../domain/values/error-table.ts";
import type { Context } from "../batch/context.ts";
import { changePayment, type PaymentChange, requirePayment, SERVER } from "./payment-changes.ts";
import { recordReversals, recordSurplus } from "./payment-surpluses.ts";

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
      const open = tx.update(payments, payment, {
        reads: payment.reads + 1,
        nextReadAt: nextReadAt(payment, true, now),
      });
      const taken = open.nextReadAt === null ? endUnread(tx, open, context) : open;
      return [{ id: payment.id, reference, reads: taken.reads, method }];
    });
}

/**
 * Ends a payment that could not be read for so long that it is read no more: else it would be open for ever. It is still
 * read as an ended one.
 */
function endUnread(tx: Tx, payment: Payment, context: Context): Payment {
  if (phaseOf(payment) !== "pending") return payment;
  const ended = changePayment(tx, payment, { event: "expired", actor: SERVER }, context);
  return tx.update(payments, ended, { nextReadAt: nextReadAt(ended, true, context.now) });
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
  const isNewest = reads >= payment.reads;
  // Nothing is refused from here on.
  const known =
    payment.methodReference === null
      ? tx.update(payments, payment, { methodReference: reference })
      : payment;
  const after =
    reading.state === "paid" && isCredited(known.state)
      ? recordCredited(tx, known, { reference, reading, isNewest }, context)
      : changesOf(tx, known, reading, isNewest).reduce(
          (changed, change) => changePayment(tx, changed, change, context),
          known,
        );
  const isOpenAgain = after.nextReadAt === null || after.state !== payment.state;
  if (isOpenAgain && isNewest) {
    const nextAt = nextReadAt(after, true, context.now);
    if (nextAt !== after.nextReadAt) tx.update(payments, after, { nextReadAt: nextAt });
  }
  return { outcome: "recorded", state: after.state };
}

/** Returns the events that a report about a payment without a credit leads to, in their order. */
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
  // A newer reading saw this money, and perhaps that it was given back since.
  if (!isNewest && payment.receivedMicros !== null) return [];
  return [paidChange(tx, payment, reading)].filter((change) => change !== null);
}

function endFields(payment: Payment, cause: string | null) {
  return payment.state === "created" || payment.state === "pending" ? { cause } : {};
}

/**
 * Records what was read of a credited payment. What was reported before is what is credited, so only its reversals may have
 * changed. Otherwise the operator had approved the payment, and this is other money.
 */
function recordCredited(
  tx: Tx,
  payment: Payment,
  {
    reference,
    reading,
    isNewest,
  }: { reference: string; reading: PaymentReading; isNewest: boolean },
  context: Context,
): Payment {
  if (payment.reported) return recordReversals(tx, payment, reading, isNewest, context);
  const surplus = findSurplus(tx, payment.methodId, reference);
  if (surplus?.settledAt) {
    const own = beyondSurplus(reading, surplus);
    return recordReversals(tx, payment, own, isNewest, context);
  }
  recordSurplus(tx, payment, { reference, ...reading }, isNewest, context);
  return payment;
}

/**
 * Returns the event of money that was received and is not credited yet; null if the operator has decided on that money
 * before. What was given back meanwhile is not credited.
 */
function paidChange(tx: Tx, payment: Payment, reading: PaymentReading): PaymentChange | null {
  const { amountMicros, currency, refundedMicros, disputedMicros } = reading;
  const { receivedMicros, receivedCurrency } = payment;
  const isKnown = receivedMicros === amountMicros && receivedCurrency === currency;
  const reported = { reported: true, refundedMicros, reportedRefundMicros: refundedMicros };
  // The payment was rejected, so its money waits for no decision. Only what was given back or disputed is recorded.
  if (payment.state === "rejected" && isKnown) {
    const isSame =
      refundedMicros === payment.refundedMicros && disputedMicros === payment.disputedMicros;
    const event = "refunded" as const;
    return isSame ? null : { event, actor: SERVER, fields: { ...reported, disputedMicros } };
  }
  const received = { receivedMicros: amountMicros, receivedCurrency: currency };
  const fields = { ...received, ...reported };
  const detail = amountText(amountMicros, currency);
  const leftMicros = amountMicros - refundedMicros;
  if (leftMicros <= 0 && amountMicros > 0) {
    const cause = `${detail} was received and given back`;
    return { event: "failed", actor: SERVER, fields: { ...fields, cause }, detail: cause };
  }
  // After a rejection nothing is credited without the operator, however often the money is reported.
  const isRejected = payment.state === "rejected" || payment.awaits === "rejected";
  const decided = isRejected
    ? "rejected"
    : decideCredit(tx, payment, leftMicros, currency, disputedMicros > 0);
  const shared = { actor: SERVER, detail };
  if (typeof decided === "string") {
    const event = "paid_unclear" as const;
    const unclear = { ...fields, disputedMicros };
    return { ...shared, event, awaits: decided, fields: unclear };
  }
  // What was refunded before is decided on, because it is not credited.
  const netted = { settledMicros: refundedMicros, nettedMicros: refundedMicros };
  const settled = { ...fields, disputedMicros, ...netted };
  return { ...shared, event: "paid", credit: decided, fields: settled };
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
 * payment. `conflict`: the payment was paid under another id, so this is a surplus, or the id belongs to another payment;
 * nothing is credited.
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
  const holder =
    findPaymentByReference(tx, methodId, programId) ?? findSurplus(tx, methodId, programId);
  if (holder && holder.paymentId !== found.paymentId) return { outcome: "conflict", state: null };
  const reading = { paymentId: id, amountMicros, currency, refundedMicros: 0, disputedMicros: 0 };
  const payment = { ...found, methodReference: programId };
  if (found.methodReference !== null && found.methodReference !== programId) {
    recordSurplus(tx, found, { reference: programId, ...reading }, false, context);
    return { outcome: "conflict", state: null };
  }
  if (isCredited(found.state)) {
    // The operator may have approved it before the program reported it.
    if (found.methodReference === null) tx.update(payments, found, { methodReference: programId });
    if (!found.reported) {
      recordSurplus(tx, payment, { reference: programId, ...reading }, false, context);
    }
    return { outcome: "recorded", state: found.state };
  }
  const change = paidChange(tx, payment, { ...reading, state: "paid", cause: null });
  if (change === null) return { outcome: "recorded", state: found.state };
  const fields = { ...change.fields, methodReference: programId, nextReadAt: null };
  const { state } = changePayment(tx, found, { ...change, fields }, context);
  return { outcome: "recorded", state };
}
