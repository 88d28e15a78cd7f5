// Payments as CSV, for the command line and the panel.

import type { ListedPayment } from "../db/payments/payments.ts";
import { formatMicros } from "../domain/ledger/money.ts";
import { csvText } from "../domain/values/csv.ts";

export const PAYMENTS_HEADER =
  "id,createdAt,username,method,state,awaits,asked,fee,due,currency,received,receivedCurrency,credit,bonus,refunded,disputed,debited,paidAt,methodReference,customerReference";

export function paymentCells(payment: ListedPayment): (string | number)[] {
  const { receivedMicros, paidAt } = payment;
  return [
    payment.id,
    new Date(payment.createdAt).toISOString(),
    csvText(payment.username),
    payment.methodId,
    payment.state,
    payment.awaits ?? "",
    formatMicros(payment.askedMicros),
    formatMicros(payment.feeMicros),
    formatMicros(payment.dueMicros),
    payment.currency,
    receivedMicros === null ? "" : formatMicros(receivedMicros),
    payment.receivedCurrency ?? "",
    formatMicros(payment.creditMicros),
    formatMicros(payment.bonusMicros),
    formatMicros(payment.refundedMicros),
    formatMicros(payment.disputedMicros),
    formatMicros(payment.reversedMicros),
    paidAt === null ? "" : new Date(paidAt).toISOString(),
    csvText(payment.methodReference ?? ""),
    csvText(payment.customerReference ?? ""),
  ];
}
