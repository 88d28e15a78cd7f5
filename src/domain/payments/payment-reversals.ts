// What is reversed of a credited payment: refunds and disputes, and what of them comes back, because a refund failed or a
// dispute was won. docs/specification/payments.md#payment-truths.

import type { PaymentReading } from "./payment-reads.ts";

/** The fields of a payment that readings of its reversals change. Amounts in millionths of what was received. */
export interface Reversals {
  refundedMicros: number;
  disputedMicros: number;
  /** How much of both the operator has decided on. */
  settledMicros: number;
  /** The refunds that the provider of the payment last reported. The operator may know of more. */
  reportedRefundMicros: number;
  /** What was refunded before the credit, and so was not credited. */
  nettedMicros: number;
}

/** Why money came back that had been reversed. */
export type ReturnCause = "dispute_won" | "refund_failed";

export interface ReversalPlan {
  after: Reversals;
  /** In the order in which they are applied; with what came back, or what is reversed now. */
  events: { event: "dispute_won" | "refund_failed" | "refunded" | "disputed"; micros: number }[];
  /** What came back and is not credited: it was debited, or not credited in the first place. */
  returned: { cause: ReturnCause; micros: number }[];
  /** How much of what came back, now or before, was reversed again. */
  takenMicros: number;
}

/** Returns whether a part of what was credited was given back. */
export function isRefunded({ refundedMicros, nettedMicros }: Reversals): boolean {
  return refundedMicros > nettedMicros;
}

/**
 * Returns what a reading changes. Only the newest reading takes anything back. `debitedMicros`: what the operator has
 * debited for the payment. `openMicros`: what came back before, and is not decided on.
 */
export function planReversals(
  before: Reversals,
  read: Pick<PaymentReading, "refundedMicros" | "disputedMicros">,
  {
    isNewest,
    debitedMicros,
    openMicros,
  }: { isNewest: boolean; debitedMicros: number; openMicros: number },
): ReversalPlan {
  const failedMicros = isNewest
    ? Math.max(0, before.reportedRefundMicros - read.refundedMicros)
    : 0;
  const kept = Math.max(0, before.refundedMicros - failedMicros);
  const wonMicros = isNewest ? Math.max(0, before.disputedMicros - read.disputedMicros) : 0;
  const refundedMicros = Math.max(read.refundedMicros, kept);
  const disputedMicros = Math.max(read.disputedMicros, before.disputedMicros - wonMicros);
  const backMicros = before.refundedMicros - kept;

  // What was decided about money that came back decides nothing about later reversals.
  const leftMicros = kept + before.disputedMicros - wonMicros;
  const excess = Math.max(0, before.settledMicros - leftMicros);
  const { nettedMicros } = before;
  const uncreditedIn = (reversedMicros: number) => Math.max(0, nettedMicros - reversedMicros);
  const uncredited =
    uncreditedIn(leftMicros) - uncreditedIn(before.refundedMicros + before.disputedMicros);
  // Nothing is missing in the balance of what was neither debited nor left out of the credit.
  const missing = debitedMicros > 0 ? excess : Math.min(excess, uncredited);
  const failed = Math.min(missing, backMicros);
  const returned = [
    { cause: "refund_failed" as const, micros: failed },
    { cause: "dispute_won" as const, micros: missing - failed },
  ].filter(({ micros }) => micros > 0);
  const returnedMicros = returned.reduce((sum, { micros }) => sum + micros, openMicros);
  const grownMicros = refundedMicros + disputedMicros - leftMicros;
  const takenMicros = Math.min(grownMicros, returnedMicros);
  const after: Reversals = {
    refundedMicros,
    disputedMicros,
    // What is reversed again was debited or not credited before, so it is decided on.
    settledMicros: before.settledMicros - excess + takenMicros,
    reportedRefundMicros: isNewest
      ? read.refundedMicros
      : Math.max(read.refundedMicros, before.reportedRefundMicros),
    nettedMicros,
  };
  const hasNewRefund = refundedMicros > kept;
  const hasNewDispute = disputedMicros > before.disputedMicros - wonMicros;
  const isBack = wonMicros > 0 || backMicros > 0;
  return {
    after,
    events: [
      { event: "dispute_won" as const, micros: wonMicros, happens: wonMicros > 0 },
      { event: "refund_failed" as const, micros: backMicros, happens: backMicros > 0 },
      {
        event: "refunded" as const,
        micros: refundedMicros,
        happens: isRefunded(after) && (hasNewRefund || isBack),
      },
      {
        event: "disputed" as const,
        micros: disputedMicros,
        happens: disputedMicros > 0 && (hasNewDispute || wonMicros > 0),
      },
    ]
      .filter(({ happens }) => happens)
      .map(({ event, micros }) => ({ event, micros })),
    returned,
    takenMicros,
  };
}
