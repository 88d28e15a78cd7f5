// The states of payments, and what each event does in each of them: one table, from which SQL and pages follow.
// docs/specification/payments.md#payment-states.

export const PAYMENT_STATES = [
  "created",
  "pending",
  "paid",
  "refunded",
  "disputed",
  "failed",
  "expired",
  "rejected",
] as const;
export type PaymentState = (typeof PAYMENT_STATES)[number];

/**
 * Why a pending payment waits for the operator. `claim`: the customer says that it paid. `currency`, `amount`: money in
 * another currency, or too little to credit. `limit`: the credit exceeds a limit of the balance. `disputed`: the money
 * was disputed before it was credited. `rejected`: money arrived after the operator had rejected the payment.
 */
export const PAYMENT_AWAITS = [
  "claim",
  "currency",
  "amount",
  "limit",
  "disputed",
  "rejected",
] as const;
export type PaymentAwaits = (typeof PAYMENT_AWAITS)[number];

/** A state; `waiting`: pending, and the operator is to decide. */
export type PaymentPhase = PaymentState | "waiting";
export const PAYMENT_PHASES: readonly PaymentPhase[] = ["waiting", ...PAYMENT_STATES];

/**
 * What happens to payments. `paid_again`: money arrived beyond what the payment credits, a surplus. The last six are acts
 * of people, which are refused where they do not apply.
 */
export const PAYMENT_EVENTS = [
  "begun",
  "begin_refused",
  "paid",
  "paid_unclear",
  "paid_again",
  "failed",
  "expired",
  "refunded",
  "refund_failed",
  "disputed",
  "dispute_won",
  "claimed",
  "approved",
  "rejected",
  "settled",
  "surplus_settled",
] as const;
export type PaymentEvent = (typeof PAYMENT_EVENTS)[number];

/** The phase after the event. `stay`: nothing changes. `refuse`: the act is refused. */
export type PaymentEffect = PaymentPhase | "stay" | "refuse";

type Row = Record<PaymentEvent, PaymentEffect>;

/** A surplus changes no state: it is decided on by itself, whatever became of the payment. */
const SURPLUS = { paid_again: "stay", surplus_settled: "stay" } as const;
/** Money that was taken is credited whatever was believed before, so `paid` counts in every state without a credit. */
const UNCREDITED = { ...SURPLUS, paid: "paid", paid_unclear: "waiting", approved: "paid" } as const;
/** Only credited money can be reversed. A refund before the credit reduces the amount that is credited later. */
const NOTHING_TO_REVERSE = {
  refunded: "stay",
  refund_failed: "stay",
  disputed: "stay",
  dispute_won: "stay",
  settled: "refuse",
} as const;
const OPEN = {
  ...UNCREDITED,
  ...NOTHING_TO_REVERSE,
  claimed: "waiting",
  rejected: "rejected",
} as const;
const CREDITED = {
  ...SURPLUS,
  begun: "stay",
  begin_refused: "stay",
  paid: "stay",
  paid_unclear: "stay",
  failed: "stay",
  expired: "stay",
  claimed: "refuse",
  approved: "refuse",
  rejected: "refuse",
} as const;

const EFFECTS: Record<PaymentPhase, Row> = {
  created: {
    ...OPEN,
    begun: "pending",
    begin_refused: "failed",
    failed: "failed",
    expired: "expired",
  },
  pending: { ...OPEN, begun: "stay", begin_refused: "stay", failed: "failed", expired: "expired" },
  // Only a decision of the operator or the arrival of the money ends this phase.
  waiting: { ...OPEN, begun: "stay", begin_refused: "stay", failed: "stay", expired: "stay" },
  failed: {
    ...UNCREDITED,
    ...NOTHING_TO_REVERSE,
    begun: "pending",
    begin_refused: "stay",
    failed: "stay",
    expired: "stay",
    claimed: "refuse",
    rejected: "refuse",
  },
  expired: {
    ...UNCREDITED,
    ...NOTHING_TO_REVERSE,
    begun: "pending",
    begin_refused: "stay",
    failed: "stay",
    expired: "stay",
    claimed: "waiting",
    rejected: "refuse",
  },
  // The operator has decided, so money that arrives afterwards is for the operator to decide on.
  rejected: {
    ...SURPLUS,
    ...NOTHING_TO_REVERSE,
    begun: "stay",
    begin_refused: "stay",
    paid: "waiting",
    paid_unclear: "waiting",
    failed: "stay",
    expired: "stay",
    claimed: "refuse",
    approved: "paid",
    rejected: "refuse",
  },
  paid: {
    ...CREDITED,
    refunded: "refunded",
    refund_failed: "stay",
    disputed: "disputed",
    dispute_won: "stay",
    settled: "refunded",
  },
  // What is left of refunds or disputes after one has failed or was won is told by the next event.
  refunded: {
    ...CREDITED,
    refunded: "stay",
    refund_failed: "paid",
    disputed: "disputed",
    dispute_won: "stay",
    settled: "stay",
  },
  disputed: {
    ...CREDITED,
    refunded: "stay",
    refund_failed: "stay",
    disputed: "stay",
    dispute_won: "paid",
    settled: "stay",
  },
};

export function effectOf(phase: PaymentPhase, event: PaymentEvent): PaymentEffect {
  return EFFECTS[phase][event];
}

export function phaseOf({
  state,
  awaits,
}: {
  state: PaymentState;
  awaits: PaymentAwaits | null;
}): PaymentPhase {
  return awaits === null ? state : "waiting";
}

export function stateOf(phase: PaymentPhase): PaymentState {
  return phase === "waiting" ? "pending" : phase;
}

/** Returns whether the balance was credited for a payment in the state. */
export function isCredited(state: PaymentState): boolean {
  return CREDITED_STATES.includes(state);
}

export const CREDITED_STATES: readonly PaymentState[] = ["paid", "refunded", "disputed"];
export const OPEN_PAYMENT_STATES: readonly PaymentState[] = ["created", "pending"];

/**
 * The states to which a payment in the state may change. A dispute may be won even after it was lost. The refunds of
 * the payment then count again, by a `paid` in between, or directly, so `disputed` may also change to `refunded`.
 */
export function paymentTransitionsFrom(from: PaymentState): PaymentState[] {
  const phases: PaymentPhase[] = from === "pending" ? ["pending", "waiting"] : [from];
  const next = phases.flatMap((phase) =>
    PAYMENT_EVENTS.map((event) => effectOf(phase, event)).flatMap((effect) =>
      effect === "stay" || effect === "refuse" ? [] : [stateOf(effect)],
    ),
  );
  if (from === "disputed") next.push("refunded");
  return [...new Set(next)].filter((state) => state !== from).toSorted();
}
