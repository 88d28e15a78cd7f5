// Tells of a change of a payment by e-mail, in its transaction.

import { findUserByAccount } from "../../db/users/users.ts";
import type { Tx } from "../../db/port/port.ts";
import type { Payment } from "../../db/tables/payments.ts";
import type { Context } from "../batch/context.ts";
import { queueMail } from "../mails/mails.ts";

/**
 * `paid`, `rejected`: for the members of the reseller. `to_approve`: for the operator, who is to decide. `reversed`:
 * money went back or is disputed. No e-mail is queued for it, because an alert reports it.
 */
export type PaymentNews = "paid" | "rejected" | "to_approve" | "reversed";

export function recordPaymentNews(
  tx: Tx,
  payment: Payment,
  news: PaymentNews,
  context: Context,
): void {
  const { id, account, methodId, creditMicros, bonusMicros, reason } = payment;
  const at = context.now;
  const asked = { payment: id, amountMicros: payment.dueMicros, currency: payment.currency, at };
  if (news === "paid") {
    const { receivedMicros, receivedCurrency } = payment;
    const received = { amountMicros: receivedMicros!, currency: receivedCurrency! };
    const data = { ...asked, ...received, creditMicros: creditMicros + bonusMicros };
    queueMail(tx, { kind: "payment_paid", to: { account }, data }, context);
  } else if (news === "rejected") {
    const data = { ...asked, reason };
    queueMail(tx, { kind: "payment_rejected", to: { account }, data }, context);
  } else if (news === "to_approve") {
    const user = findUserByAccount(tx, account)!.username;
    const data = { ...asked, user, method: methodId };
    queueMail(tx, { kind: "payment_to_approve", to: "operator", data }, context);
  }
}
