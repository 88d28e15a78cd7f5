// Tells of a change of a payment, in its transaction. E-mails are written here.

import type { Tx } from "../../db/port/port.ts";
import type { Payment } from "../../db/tables/payments.ts";
import type { Context } from "../batch/context.ts";

/**
 * `paid`, `rejected`: for the member who asked (`payment.memberId`; null: erased). `to_approve`: the operator is to
 * decide (`payment.awaits` says why). `reversed`: money went back, or is disputed.
 */
export type PaymentNews = "paid" | "rejected" | "to_approve" | "reversed";

export function recordPaymentNews(
  _tx: Tx,
  _payment: Payment,
  _news: PaymentNews,
  _context: Context,
): void {}
