// Items of the header fields RateLimit-Policy and RateLimit, which say what is limited and what is left of it:
// draft-ietf-httpapi-ratelimit-headers-09.

/** The names of all limits, also in the member `limit` of a refusal. */
export const LIMIT_NAMES = [
  "requests",
  "unknown-keys",
  "orders-per-minute",
  "spend-per-day",
  "spend-per-month",
  "open-orders",
] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];

/** The unit of a quota; absent: requests. */
export type QuotaUnit = "orders" | "micro-usd";

/** Returns an item of RateLimit-Policy. `seconds`: the window; absent for a quota without one. */
export function policyItem(
  name: LimitName,
  quota: number,
  { seconds, unit }: { seconds?: number; unit?: QuotaUnit } = {},
): string {
  const measure = unit === undefined ? "" : `;qu="${unit}"`;
  return `"${name}";q=${quota}${measure}${seconds === undefined ? "" : `;w=${seconds}`}`;
}

/** Returns an item of RateLimit. `seconds`: until there is more of the quota; absent: unknown. */
export function rateItem(name: LimitName, remaining: number, seconds?: number): string {
  return `"${name}";r=${remaining}${seconds === undefined ? "" : `;t=${seconds}`}`;
}
