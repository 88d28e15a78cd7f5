// Double entry: a transfer debits one account and credits another by the same amount.
// A user's balance is its account's credits less its debits; it is never negative.

import { refusal } from "../values/refusals.ts";
import { BALANCE_LIMIT_MICROS, DEPOSIT_LIMIT_MICROS } from "./money.ts";

/** Account of money paid in from outside or paid out again. */
export const CASH_ACCOUNT = 1;
/** Account of the charges of orders less refunds. */
export const SALES_ACCOUNT = 2;
/** The same accounts for the test side, so that each side balances by itself. */
const TEST_CASH_ACCOUNT = -1;
const TEST_SALES_ACCOUNT = -2;

export function cashAccount(isTest: boolean): number {
  return isTest ? TEST_CASH_ACCOUNT : CASH_ACCOUNT;
}

export function salesAccount(isTest: boolean): number {
  return isTest ? TEST_SALES_ACCOUNT : SALES_ACCOUNT;
}

export function isCashAccount(account: number): boolean {
  return account === CASH_ACCOUNT || account === TEST_CASH_ACCOUNT;
}

/** Kinds of transfers. A credit by the operator is an `adjustment`, by the API a `recharge`: transactions show which. */
export const TRANSFER_KINDS = [
  "recharge",
  "order",
  "partial_refund",
  "refund",
  "adjustment",
] as const;
export type TransferKind = (typeof TRANSFER_KINDS)[number];

/** Who caused a change: the API key that asked, or the OS user at the command line. Both null: the system actor. */
export interface Actor {
  keyId: string | null;
  operator: string | null;
}

export interface Transfer {
  debitAccount: number;
  creditAccount: number;
  /** Above 0, at most TRANSFER_LIMIT_MICROS. */
  amountMicros: number;
  kind: TransferKind;
  orderId: number | null;
  actor: Actor;
  /** Visible only to the operator. */
  note: string | null;
  /** Note shown to the user; absent or null: none. */
  publicNote?: string | null;
  /** The operator's own name for the transfer, unique for the user. */
  reference?: string | null;
  createdAt: number;
}

/**
 * Checks a credit from outside. Refunds need no check, because they only return what was credited.
 * Refuses: balance_too_large, deposits_too_large.
 */
export function refuseCreditAboveLimit(
  user: { balanceMicros: bigint; depositedMicros: bigint },
  amountMicros: number,
): void {
  const amount = BigInt(amountMicros);
  if (user.balanceMicros + amount > BALANCE_LIMIT_MICROS) throw refusal("balance_too_large");
  if (user.depositedMicros + amount > DEPOSIT_LIMIT_MICROS) throw refusal("deposits_too_large");
}

/** Refuses: insufficient_balance. */
export function refuseDebitAboveBalance(balanceMicros: bigint, amountMicros: number): void {
  if (amountMicros > balanceMicros) throw refusal("insufficient_balance");
}
