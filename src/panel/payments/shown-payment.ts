// Finds the payment that a page or an action is about.

import { findListedPayment, type ListedPayment } from "../../db/payments/payments.ts";
import type { Reader } from "../../db/port/port.ts";
import { refusal } from "../../domain/values/error-table.ts";
import type { Call } from "../server/call.ts";

/** Returns the payment. Throws payment_not_found. */
export function requirePayment(reader: Reader, id: string): ListedPayment {
  const payment = findListedPayment(reader, id);
  if (!payment) throw refusal("payment_not_found");
  return payment;
}

/** Returns the id in the path. */
export function idIn({ params }: Pick<Call, "params">): string {
  return params["payment"]!;
}
