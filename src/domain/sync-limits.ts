// What a scheduled sync may do unasked (docs/specification.md#sync-schedule): beyond that it waits for the operator.

import type { Decimal } from "./decimals.ts";
import type { SyncedFields, SyncPlan } from "./catalogue-sync.ts";
import { formatMicros } from "./money.ts";
import { delistedRoutes } from "./sync-counts.ts";
import { counted } from "./text.ts";

export interface SyncLimits {
  /** Percent of the price before, up or down. */
  pricePercent: Decimal;
  /** Services that are no longer listed. */
  deactivations: number;
}

/** Why the plan is not applied unasked; null: it is within the limits. */
export function beyondLimits(plan: SyncPlan, limits: SyncLimits): string | null {
  const reasons: string[] = [];
  const dear = plan.updated.filter(({ before, after }) => isBeyond(before, after, limits));
  const [first] = dear;
  if (first) {
    const [before, after] = [first.before, first.after].map((each) =>
      formatMicros(each.priceMicros),
    );
    reasons.push(
      `${counted(dear.length, "price")} would change by more than ${percentText(limits.pricePercent)} % (${first.id} from ${before} to ${after} USD)`,
    );
  }
  // Orders of a delisted route go to another provider, at its rate.
  const delisted = delistedRoutes(plan).length;
  const gone = plan.deactivated.length + delisted;
  if (gone > limits.deactivations) {
    const what = delisted === 0 ? "deactivated" : "deactivated or left to other providers";
    reasons.push(`${counted(gone, "service")} would be ${what}, more than ${limits.deactivations}`);
  }
  return reasons.length === 0 ? null : reasons.join("; ");
}

/**
 * Exact: `|after − before| ÷ before > percent ÷ 100`. A service that was free may not be priced unasked, and prices of other
 * units cannot be compared.
 */
function isBeyond(
  { priceMicros: before, per: unitBefore }: SyncedFields,
  { priceMicros: after, per: unitAfter }: SyncedFields,
  { pricePercent: { digits, scale } }: SyncLimits,
): boolean {
  if (unitBefore !== unitAfter) return true;
  const change = BigInt(Math.abs(after - before));
  return change * 100n * 10n ** BigInt(scale) > BigInt(before) * digits;
}

function percentText({ digits, scale }: Decimal): string {
  const text = String(digits).padStart(scale + 1, "0");
  return scale === 0 ? text : `${text.slice(0, -scale)}.${text.slice(-scale)}`;
}
