// What is read from the provider of a payment, and when it is read again. Notices get lost, so payments are read without one too.

import { DAY_MS, HOUR_MS, MINUTE_MS } from "../values/spans.ts";
import { isCredited, type PaymentState } from "./payment-states.ts";

/** A payment that has no page to pay on expires after this time. */
export const CREATED_LIMIT_MS = HOUR_MS;
/** A payment that should have ended is read for this long after its end. */
const OVERDUE_LIMIT_MS = 30 * DAY_MS;
/** A credited payment is read for this long, to find refunds and disputes. */
const PAID_LIMIT_MS = 180 * DAY_MS;
/** A payment that ended without a credit is read for this long, to find money that arrives late. */
const ENDED_LIMIT_MS = 3 * DAY_MS;

/** The shortest and the longest pause until an open payment is read again. In between it is a quarter of its age. */
export const OPEN_READ_PAUSE_MS = [MINUTE_MS, HOUR_MS] as const;
/** The longest pause once a payment has ended. */
export const ENDED_READ_LIMIT_MS = 30 * DAY_MS;

/** What the provider of the payment reports. Amounts in millionths of the currency. */
export interface PaymentReading {
  state: "open" | "paid" | "failed" | "expired";
  /** Our id, from the payment's metadata. */
  paymentId: string | null;
  /** What was received if it is paid. */
  amountMicros: number;
  /** In upper case. */
  currency: string;
  refundedMicros: number;
  /** 0: not disputed, or the dispute was won. */
  disputedMicros: number;
  cause: string | null;
}

export interface ReadPayment {
  state: PaymentState;
  createdAt: number;
  changedAt: number;
  paidAt: number | null;
  expiresAt: number | null;
  methodReference: string | null;
}

/** Returns when a payment is read next, or expires; null: never. `isReadable`: its method can be asked. */
export function nextReadAt(payment: ReadPayment, isReadable: boolean, now: number): number | null {
  const { state, createdAt, changedAt, paidAt, expiresAt, methodReference } = payment;
  if (state === "created") return createdAt + CREATED_LIMIT_MS;
  const canRead = isReadable && methodReference !== null;
  if (state === "pending") {
    if (!canRead) return expiresAt;
    const end = (expiresAt ?? createdAt) + OVERDUE_LIMIT_MS;
    return within(now, now - createdAt, OPEN_READ_PAUSE_MS, end);
  }
  if (!canRead) return null;
  if (isCredited(state)) {
    const since = paidAt ?? changedAt;
    return within(now, now - since, [DAY_MS, ENDED_READ_LIMIT_MS], since + PAID_LIMIT_MS);
  }
  return within(now, now - changedAt, [HOUR_MS, DAY_MS], changedAt + ENDED_LIMIT_MS);
}

/**
 * Returns the next time: after a quarter of `age`, but at least `least` and at most `most` from now. Null: after `end`.
 * After a clock was set back, `age` may be negative.
 */
function within(
  now: number,
  age: number,
  [least, most]: readonly [number, number],
  end: number,
): number | null {
  const next = now + Math.min(Math.max(age / 4, least), most);
  return next <= end ? Math.round(next) : null;
}
