// Double entry: a transfer debits one account and credits another by the same amount.
// A user's balance is its account's credits less its debits; it is never negative.

import { refusal } from "./errors.ts";
import { BALANCE_LIMIT_MICROS } from "./money.ts";

/** Money that came in from outside or went back there. */
export const CASH_ACCOUNT = 1;
/** What orders earned, less refunds. */
export const SALES_ACCOUNT = 2;

export const TRANSFER_KINDS = [
  "recharge",
  "order",
  "partial_refund",
  "refund",
  "adjustment",
] as const;
export type TransferKind = (typeof TRANSFER_KINDS)[number];

/** Who caused a change: the API key that asked, or the OS user at the command line. Both null: the service itself. */
export interface Actor {
  keyId: string | null;
  operator: string | null;
}

export interface Transfer {
  debitAccount: number;
  creditAccount: number;
  /** Above 0. */
  amountMicros: number;
  kind: TransferKind;
  orderId: number | null;
  actor: Actor;
  note: string | null;
  createdAt: number;
}

/** Refuses: balance_too_large. For credits from outside; refunds have no such limit. */
export function refuseCreditAboveLimit(balanceMicros: number, amountMicros: number): void {
  if (balanceMicros + amountMicros > BALANCE_LIMIT_MICROS) throw refusal("balance_too_large");
}

/** Refuses: balance_insufficient. */
export function refuseDebitAboveBalance(balanceMicros: number, amountMicros: number): void {
  if (amountMicros > balanceMicros) throw refusal("balance_insufficient");
}
