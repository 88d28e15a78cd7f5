// Refusals about balances, recharges and adjustments.

import { entry, see } from "../values/refusal-entry.ts";
import { BALANCE_LIMIT_MICROS, DEPOSIT_LIMIT_MICROS, formatMicros } from "./money.ts";

/** A credit or debit that the operator made. */
export interface AdjustmentMade {
  seq: number;
  direction: "credit" | "debit";
  amountMicros: number;
  /** Milliseconds since 1970. */
  createdAt: number;
}

export const LEDGER_REFUSALS = {
  insufficient_balance: entry({
    status: 400,
    message: "Insufficient balance",
    commandLine: see("admin user show"),
    fields: ["amount"],
    smmApi: "neworder.error.not_enough_funds",
  }),
  balance_too_large: entry({
    status: 400,
    message: `amount must be small enough to keep the balance at or below ${formatMicros(BALANCE_LIMIT_MICROS)}`,
    fields: ["amount"],
  }),
  deposits_too_large: entry({
    status: 400,
    message: `amount is too large: all credits less all debits of a user may be at most ${formatMicros(DEPOSIT_LIMIT_MICROS)}`,
    commandLine: "credit less, or use another account",
    fields: ["amount"],
  }),
  recharge_limit_exceeded: entry<{ limitMicros: number }>({
    status: 403,
    message: ({ limitMicros }) =>
      `This API key may recharge at most ${formatMicros(limitMicros)} at once`,
  }),
  daily_limit_exceeded: entry<{ limitMicros: number; leftMicros: number }>({
    status: 403,
    message: ({ limitMicros, leftMicros }) =>
      `This API key may recharge at most ${formatMicros(limitMicros)} a day; ${formatMicros(leftMicros)} is left today`,
  }),
  invoice_not_found: entry({
    message: "Invoice not found",
    commandLine: see("admin invoice list"),
    isAbsence: true,
  }),
  invoice_is_correction: entry({
    message: "A correction cannot be corrected",
    hint: "correct the invoice that it corrects",
  }),
  invoice_corrected: entry({ message: "Nothing is left of the invoice to correct" }),
  /** The details: what earlier corrections have left of the invoice, in USD. */
  invoice_amount_too_large: entry<{ left: string }>({
    message: ({ left }) => `amount must be at most ${left}, which is left of the invoice`,
    fields: ["amount"],
  }),
  invoice_seller_missing: entry({
    message: "An invoice needs the name and the address of its seller, and a reseller",
    hint: "set --legal-name and --legal-address of the server and start it",
    fields: ["for"],
  }),
  /** The details: the only number with which the series goes on. */
  invoice_number_fixed: entry<{ next: number }>({
    message: ({ next }) => `The next invoice of this series is number ${next}: it has no gaps`,
    hint: "begin a new series with another prefix",
    fields: ["next-number"],
  }),
  billing_of_child_user: entry({
    message: "A child user gets no invoices",
    hint: "it pays its reseller",
    fields: ["username"],
  }),
  /** The details: the earlier adjustment that used the reference for another amount, or in the other direction. */
  adjustment_reference_taken: entry<AdjustmentMade>({
    message: ({ direction, amountMicros, createdAt, seq }) =>
      `reference was used on ${new Date(createdAt).toISOString()} for a ${direction} of ${formatMicros(amountMicros)} USD (transaction ${seq})`,
    hint: "nothing was changed, choose another reference",
    fields: ["reference"],
  }),
};
