// Payments as the command line prints them.

import type { ListedPayment } from "../../db/payments/payments.ts";
import { formatMicros } from "../../domain/ledger/money.ts";
import {
  isOpenSurplus,
  SURPLUS_ADVICE,
  surplusText,
} from "../../domain/payments/payment-surpluses.ts";
import type { PaymentSurplus } from "../../db/tables/payments.ts";
import { isCredited } from "../../domain/payments/payment-states.ts";
import { dollars, isoTime } from "../output/output.ts";

export function moneyText(micros: number, currency: string): string {
  return `${dollars(micros)} ${currency}`;
}

/** Returns the credit including the bonus; null before the payment is credited. */
export function creditText({ state, creditMicros, bonusMicros }: ListedPayment): string | null {
  return isCredited(state) ? dollars(creditMicros + bonusMicros) : null;
}

export function surplusJson(surplus: PaymentSurplus) {
  const { cause, reference, currency, amountMicros, leftMicros, createdAt, settledAt } = surplus;
  return {
    cause,
    methodReference: reference,
    currency,
    amount: formatMicros(amountMicros),
    left: formatMicros(leftMicros),
    createdAt: isoTime(createdAt),
    settledAt: isoTime(settledAt),
    text: surplusText(surplus),
    /** What to do; null: it is decided, or nothing is left. */
    advice: isOpenSurplus(surplus) ? SURPLUS_ADVICE[cause] : null,
  };
}

export function paymentJson(payment: ListedPayment) {
  const { receivedMicros } = payment;
  return {
    id: payment.id,
    seq: payment.paymentId,
    createdAt: isoTime(payment.createdAt),
    username: payment.username,
    member: payment.email,
    method: payment.methodId,
    state: payment.state,
    awaits: payment.awaits,
    asked: formatMicros(payment.askedMicros),
    fee: formatMicros(payment.feeMicros),
    due: formatMicros(payment.dueMicros),
    currency: payment.currency,
    received: receivedMicros === null ? null : formatMicros(receivedMicros),
    receivedCurrency: payment.receivedCurrency,
    credit: formatMicros(payment.creditMicros),
    bonus: formatMicros(payment.bonusMicros),
    refunded: formatMicros(payment.refundedMicros),
    disputed: formatMicros(payment.disputedMicros),
    debited: formatMicros(payment.reversedMicros),
    paidAt: isoTime(payment.paidAt),
    expiresAt: isoTime(payment.expiresAt),
    methodReference: payment.methodReference,
    customerReference: payment.customerReference,
    reason: payment.reason,
    cause: payment.cause,
  };
}
