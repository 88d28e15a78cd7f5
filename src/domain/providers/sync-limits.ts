// Limits of a scheduled sync, beyond which it waits for the operator. docs/specification/providers.md#sync-schedule.

import type { Decimal } from "./rate-decimals.ts";
import type { SyncedFields, SyncPlan } from "./sync-plan.ts";
import { formatMicros } from "../ledger/money.ts";
import { delistedRoutes } from "./sync-counts.ts";
import { counted } from "../values/text.ts";

export interface SyncLimits {
  /** The largest price change, up or down, in percent of the old price. */
  pricePercent: Decimal;
  /** Limit for the number of services that are deactivated or lose a delisted route. */
  deactivations: number;
}

/** Returns why the plan waits for the operator; null when it is within the limits. */
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
  // A delisted route counts too, because its orders go to another provider, at that provider's rate.
  const delisted = delistedRoutes(plan).length;
  const gone = plan.deactivated.length + delisted;
  if (gone > limits.deactivations) {
    const what = delisted === 0 ? "deactivated" : "deactivated or left to other providers";
    reasons.push(`${counted(gone, "service")} would be ${what}, more than ${limits.deactivations}`);
  }
  return reasons.length === 0 ? null : reasons.join("; ");
}

/**
 * Returns whether `|after − before| ÷ before > percent ÷ 100`, computed exactly. Always true when a free service gets a
 * price, and when the price unit changes, because such prices cannot be compared.
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
