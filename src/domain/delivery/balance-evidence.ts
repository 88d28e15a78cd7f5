// What our balance at a provider says about its unknown orders: how much it fell, beside what they would cost. No
// finding depends on it, because top-ups, refunds and orders placed by hand move the balance too.

import { parseDecimal } from "../providers/rate-decimals.ts";
import { formatMicros } from "../ledger/money.ts";
import { counted } from "../values/text.ts";
import { utcText } from "../values/times.ts";
import { addDecimals, decimalText } from "./costs.ts";
import type { NumberedOrder, SoughtOrder } from "./number-ranges.ts";

/** A balance that a provider reported. */
export interface ReportedBalance {
  at: number;
  balanceMicros: number;
  /** Null: the report had none. */
  currency: string | null;
}

/** The balances around the unknown orders. Null: not known. */
export interface BalancesAround {
  before: ReportedBalance | null;
  after: ReportedBalance | null;
}

/**
 * Returns sentences about the balance and about the cost of the unknown orders, without full stops. `likelySent`: the
 * numbers of those that the provider likely has.
 */
export function balanceEvidence(
  { before, after }: BalancesAround,
  unknown: readonly SoughtOrder[],
  numbered: readonly NumberedOrder[],
  likelySent: ReadonlySet<number>,
): string[] {
  if (unknown.length === 0) return [];
  const texts =
    before && after
      ? [balanceText("before them", before), balanceText("after them", after)]
      : [missingText(before, after)];
  if (before && after && before.currency === after.currency) {
    const fell = before.balanceMicros - after.balanceMicros;
    const others = numbered.filter(
      ({ startedAt }) => startedAt >= before.at && startedAt <= after.at,
    ).length;
    const moved = fell >= 0 ? `fell by ${formatMicros(fell)}` : `rose by ${formatMicros(-fell)}`;
    texts.push(`it ${moved}, with at least ${counted(others, "other order")} of ours in between`);
  }
  const all = costText(unknown);
  const likely = costText(unknown.filter(({ orderId }) => likelySent.has(orderId)));
  texts.push(`by the provider's rates all of them cost ${all}, and those likely sent ${likely}`);
  return texts;
}

/** One balance without the other says nothing. */
function missingText(before: ReportedBalance | null, after: ReportedBalance | null): string {
  const when = [...(before ? [] : ["before"]), ...(after ? [] : ["after"])].join(" and ");
  return `our balance there ${when} them is not known, so it cannot be compared`;
}

function balanceText(when: string, { at, balanceMicros, currency }: ReportedBalance): string {
  const amount = [formatMicros(balanceMicros), currency].join(" ").trim();
  return `our balance there ${when} was ${amount} (${utcText(at)})`;
}

/** Formats the sum of the expected costs. Orders without a known rate are counted beside it. */
function costText(orders: readonly SoughtOrder[]): string {
  const known = orders.flatMap(({ expected }) => expected ?? []);
  const sum = known.reduce(addDecimals, parseDecimal("0")!);
  const unrated = orders.length - known.length;
  const text = decimalText(sum);
  return unrated === 0 ? text : `${text} and ${counted(unrated, "order")} without a known rate`;
}
