// Surpluses: money that was received for a payment and that the payment does not credit. The operator gives it back, or
// credits it. docs/specification/payments.md#payment-surpluses.

import { amountText } from "../ledger/money.ts";
import type { ReturnCause } from "./payment-reversals.ts";
import type { PaymentReading } from "./payment-reads.ts";

/** `paid_again`: other money than what the payment credits. The others came back after they had been reversed. */
export type SurplusCause = "paid_again" | ReturnCause;

export interface Surplus {
  cause: SurplusCause;
  /** The method's own id of money that was paid again. */
  reference: string | null;
  methodId: string;
  currency: string;
  amountMicros: number;
  /** What was not given back, disputed or reversed again. */
  leftMicros: number;
  settledAt: number | null;
}

/** Returns whether the operator is to decide on it. */
export function isOpenSurplus({
  leftMicros,
  settledAt,
}: Pick<Surplus, "leftMicros" | "settledAt">): boolean {
  return leftMicros > 0 && settledAt === null;
}

/** Returns what is left of an amount by what was read. */
export function leftOf(
  amountMicros: number,
  { refundedMicros, disputedMicros }: Pick<PaymentReading, "refundedMicros" | "disputedMicros">,
): number {
  return Math.max(0, amountMicros - refundedMicros - disputedMicros);
}

/**
 * Returns the reversals of the payment itself, once the operator has decided on a surplus that shares its reference: what
 * was read, less what was reversed of the surplus before.
 */
export function beyondSurplus(
  reading: PaymentReading,
  { amountMicros, leftMicros }: Pick<Surplus, "amountMicros" | "leftMicros">,
): PaymentReading {
  const goneMicros = amountMicros - leftMicros;
  const refundedMicros = Math.max(0, reading.refundedMicros - goneMicros);
  const restMicros = Math.max(0, goneMicros - reading.refundedMicros);
  const disputedMicros = Math.max(0, reading.disputedMicros - restMicros);
  return { ...reading, refundedMicros, disputedMicros };
}

/** Returns what a surplus is, such as `25 USD received again by card (cs_1)`. */
export function surplusText(surplus: Surplus): string {
  const { cause, reference, methodId, currency, amountMicros, leftMicros } = surplus;
  const amount = amountText(leftMicros, currency);
  const of = leftMicros === amountMicros ? "" : ` of ${amountText(amountMicros, currency)}`;
  if (cause === "paid_again") return `${amount}${of} received again by ${methodId} (${reference})`;
  const why = cause === "dispute_won" ? "a dispute was won" : "a refund failed";
  return `${amount}${of} back at ${methodId}, because ${why}`;
}

/** What the operator is to do about surpluses of each cause. */
export const SURPLUS_ADVICE: Record<SurplusCause, string> = {
  paid_again:
    "give it back where it was paid, or credit it; if it is the money that you approved, credit 0",
  dispute_won: "you had debited the balance for it: credit it again, or give it back",
  refund_failed: "it is not in the balance: credit it, or give it back in another way",
};
