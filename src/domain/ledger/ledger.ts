// Double entry: a transfer debits one account and credits another by the same amount.
// A user's balance is the credits of its account less the debits. It is never negative.

import { refusal } from "../values/error-table.ts";
import { BALANCE_LIMIT_MICROS, DEPOSIT_LIMIT_MICROS } from "./money.ts";

/** Account of the money that is paid in from outside or paid out. */
export const CASH_ACCOUNT = 1;
/** Account of the charges of orders less refunds. */
export const SALES_ACCOUNT = 2;
/** The same two accounts for test money, so that test money and real money balance separately. */
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

/**
 * Kinds of transfers, which transactions show. A credit by the operator is an `adjustment`, by the API a `recharge`, for
 * money received a `payment`.
 */
export const TRANSFER_KINDS = [
  "recharge",
  "payment",
  "payment_bonus",
  "payment_reversal",
  "order",
  "partial_refund",
  "refund",
  "adjustment",
] as const;
export type TransferKind = (typeof TRANSFER_KINDS)[number];

/** What a transfer is to the operator: money from outside or back to it, the charge of an order or its refund. */
export const MONEY_FLOWS = ["credit", "charge", "refund", "debit"] as const;
export type MoneyFlow = (typeof MONEY_FLOWS)[number];

/** Who caused a change: an API key, or the operator by name (audit.ts). Both null: a server itself. */
export interface Actor {
  keyId: string | null;
  operator: string | null;
  /** A member acts on the test account of its reseller. */
  isTest?: true;
}

export interface Transfer {
  debitAccount: number;
  creditAccount: number;
  /** Above 0, at most TRANSFER_LIMIT_MICROS. */
  amountMicros: number;
  kind: TransferKind;
  orderId: number | null;
  actor: Actor;
  /** Note for the operator only. */
  note: string | null;
  /** Note for the user; absent or null: none. */
  publicNote?: string | null;
  /** The operator's reference for the transfer, unique for the user. */
  reference?: string | null;
  createdAt: number;
}

/**
 * Checks a credit from outside. Refunds need no check, because they only return what was debited.
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

/** Refuses a debit above the balance. Refuses: insufficient_balance. */
export function refuseDebitAboveBalance(balanceMicros: bigint, amountMicros: number): void {
  if (amountMicros > balanceMicros) throw refusal("insufficient_balance");
}
