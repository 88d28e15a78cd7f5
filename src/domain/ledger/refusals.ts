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
  /** The details: the earlier adjustment that used the reference for another amount, or in the other direction. */
  adjustment_reference_taken: entry<AdjustmentMade>({
    message: ({ direction, amountMicros, createdAt, seq }) =>
      `reference was used on ${new Date(createdAt).toISOString()} for a ${direction} of ${formatMicros(amountMicros)} USD (transaction ${seq})`,
    hint: "nothing was changed, choose another reference",
    fields: ["reference"],
  }),
};
