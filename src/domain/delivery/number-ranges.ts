// Ranges of order numbers. A provider numbers orders as they arrive. So if it has an unknown order, the order's number
// lies between those of our orders sent before and after it. docs/specification/delivery.md#delivery-search.

import type { Decimal } from "../providers/rate-decimals.ts";
import { MINUTE_MS } from "../values/spans.ts";

/** Time after a submission without an answer in which the order may still arrive at the provider. */
export const LATE_ARRIVAL_MS = 5 * MINUTE_MS;
/** Limit for the numbers that are asked about for each order. */
export const NEARBY_LIMIT = 5000;
export const NEARBY_DEFAULT = 50;

/** A submission that may have arrived. */
export interface SoughtOrder {
  orderId: number;
  /** The number of its attempt. Attempts are numbered as they begin, whatever the clock does. */
  attemptId: number;
  /** The id of the service at the provider. */
  providerService: string;
  quantity: number;
  /** The order may have been sent between these times. */
  sentFrom: number;
  sentUntil: number;
  /** Its cost by the provider's rate, in the provider's currency; null: the rate is not known. */
  expected: Decimal | null;
  /** Whether the provider reports what remains of the order in units of its quantity. */
  hasPlainCount: boolean;
  /**
   * Whether a restore made the submission unknown. The database may then lack orders that were sent after the backup.
   */
  isRestored: boolean;
}

/** Another order that may have one of the numbers. `state`: such as `is being sent`. */
export interface RivalOrder extends SoughtOrder {
  state: string;
}

/** An order with the number that the provider gave it in its answer. */
export interface NumberedOrder {
  orderId: number;
  attemptId: number;
  number: bigint;
  providerService: string;
  quantity: number;
  /** When it was sent, and when the answer came. */
  startedAt: number;
  finishedAt: number;
}

/** The range of an order: our orders with the next lower and the next higher number. Null: there is none. */
export interface NumberRange {
  lower: NumberedOrder | null;
  upper: NumberedOrder | null;
}

/**
 * Returns the range of an order. Its upper end is an order that was sent when this one could no longer arrive. Attempts
 * are compared by number and by time, so that a clock that was set back only widens the range.
 */
export function rangeOf(order: SoughtOrder, numbered: readonly NumberedOrder[]): NumberRange {
  const earliest = order.sentUntil + LATE_ARRIVAL_MS;
  let lower: NumberedOrder | null = null;
  let upper: NumberedOrder | null = null;
  for (const each of numbered) {
    const isBefore = each.attemptId < order.attemptId && each.finishedAt < order.sentFrom;
    const isAfter = each.attemptId > order.attemptId && each.startedAt >= earliest;
    if (isBefore && (!lower || each.number > lower.number)) lower = each;
    if (isAfter && (!upper || each.number < upper.number)) upper = each;
  }
  return { lower, upper };
}

/**
 * Returns whether a number lies in the range. A range without ends contains no number, because nothing is known of it.
 */
export function isInRange({ lower, upper }: NumberRange, number: bigint): boolean {
  if (!lower && !upper) return false;
  return (!lower || number > lower.number) && (!upper || number < upper.number);
}

/**
 * Returns whether the provider's numbers grow with time: an order that was answered before another was sent has the
 * lower number.
 */
export function areNumbersOrdered(numbered: readonly NumberedOrder[]): boolean {
  const byStart = numbered.toSorted((a, b) => a.startedAt - b.startedAt);
  const byEnd = numbered.toSorted((a, b) => a.finishedAt - b.finishedAt);
  let highest = 0n;
  let ended = 0;
  for (const { number, startedAt } of byStart) {
    for (; ended < byEnd.length && byEnd[ended]!.finishedAt < startedAt; ended++) {
      if (byEnd[ended]!.number > highest) highest = byEnd[ended]!.number;
    }
    if (number <= highest) return false;
  }
  return true;
}

/** Counts the numbers inside a range, without its ends; null: the range has an open end. */
export function sizeOf({ lower, upper }: NumberRange): bigint | null {
  return lower && upper ? upper.number - lower.number - 1n : null;
}

/**
 * Returns the numbers of a range to ask about: at most `nearby`, nearest to the expected number first, without those in
 * `ours`.
 */
export function numbersNear(
  order: SoughtOrder,
  range: NumberRange,
  ours: ReadonlySet<bigint>,
  nearby: number,
): bigint[] {
  const { lower, upper } = range;
  if (!lower && !upper) return [];
  const middle = expectedNumber(order, range);
  const found: bigint[] = [];
  // Numbers of our own orders are skipped, so the search needs at most one more step for each of them.
  const reach = BigInt(nearby + ours.size);
  for (let step = 0n; step <= reach && found.length < nearby; step++) {
    for (const number of step === 0n ? [middle] : [middle + step, middle - step]) {
      const isWanted = number > 0n && isInRange(range, number) && !ours.has(number);
      if (isWanted && found.length < nearby) found.push(number);
    }
  }
  return found;
}

/** Returns the number that the order would have if the provider's numbers grew evenly between the ends. */
function expectedNumber({ sentFrom }: SoughtOrder, { lower, upper }: NumberRange): bigint {
  if (!lower) return upper!.number - 1n;
  if (!upper) return lower.number + 1n;
  const size = upper.number - lower.number;
  const before = BigInt(Math.max(0, sentFrom - lower.finishedAt));
  const whole = BigInt(Math.max(1, upper.startedAt - lower.finishedAt));
  return lower.number + 1n + (size * before) / whole;
}
