// Rate limits for requests of a key or of a reseller, and for unknown keys from an address.
// docs/specification/http.md#rate-limits. Each is a token bucket that fills at the rate and holds the burst, so no caller
// waits for a fixed window to end. Also the header fields that say what applies to a key.

import { TokenBucket } from "limiter";
import { rateLimitGroup } from "../../config/networks.ts";
import type { Caller } from "../../db/users/keys.ts";
import {
  appliedLimits,
  NO_ORDER_LIMITS,
  NO_OWN_LIMITS,
  type OrderLimits,
} from "../../domain/users/reseller-limits.ts";
import { type LimitName, policyItem, rateItem } from "../../domain/values/rate-fields.ts";
import { Refusal } from "../../domain/values/error-table.ts";
import type { RateExceeded } from "../../domain/values/request-refusals.ts";
import { parseRate, type Rate } from "../../domain/values/units.ts";

/** A burst may have the requests of this many intervals. */
const BURST_FACTOR = 2;
/** Details of a refusal by the default limit for keys, for examples and magic links. */
export const RATE_EXAMPLE = {
  by: "key",
  requests: 100,
  windowSeconds: 1,
  burst: 100 * BURST_FACTOR,
  retryAfterSeconds: 1,
} as const;
/** Limit for unknown keys from one address. */
const FAILURE_RATE: Rate = { requests: 20, milliseconds: 60_000 };
/** Limit for addresses with failures held in memory, about 2 MB. The oldest is evicted first. */
const ADDRESS_LIMIT = 10_000;

/** The members of a caller's key that decide its limits. */
export type LimitedKey = Pick<Caller, "id" | "resellerAccount" | "testOf" | "limits">;

export interface RateLimits {
  /** Returns the allowance for the requests of a key. */
  allowanceOf(key: LimitedKey): Allowance;
  /** Returns the limits for the orders of a key; undefined if there are none. */
  orderLimitsOf(key: LimitedKey): OrderLimits | undefined;
  /** Returns whether any address has sent unknown keys lately. If none has, callers need not compute the address. */
  hasFailures(): boolean;
  /** Throws too_many_requests while an address is over its limit of unknown keys. */
  refuseGuessing(address: string): void;
  /** Counts an unknown key. */
  noteFailure(address: string): void;
}

/** What a key may still request, and the header fields that say so. */
export interface Allowance {
  /** Counts a request. Throws too_many_requests. */
  take(): void;
  /** The value of RateLimit-Policy; null: no limit applies. */
  readonly policy: string | null;
  /** Returns the value of RateLimit; null: requests are not limited. */
  rate(): string | null;
  /** Returns the lines of both fields, as they are sent. `withRate`: false leaves out RateLimit. */
  lines(withRate: boolean): string;
}

/**
 * Creates the limits. `rate` is the limit of a key, unless its reseller has a rate of its own; 0 turns it off, and the
 * limit of addresses too. `servers` returns the number of servers that share the load. Each counts separately, so a
 * request costs as many tokens as there are servers. If requests are spread evenly, all servers together allow what one
 * server would. `orders`: the default limits for orders.
 */
export function createRateLimits(
  rate: Rate | 0,
  servers: () => number = () => 1,
  orders: OrderLimits = NO_ORDER_LIMITS,
): RateLimits {
  const keys = new Map<string, RequestAllowance>();
  const resellers = new Map<number, RequestAllowance>();
  const failures = createFailureLimit(rate === 0 ? 0 : FAILURE_RATE, 1, servers);
  const hasDefaults = appliedLimits(NO_OWN_LIMITS, orders) !== null;

  const orderLimitsOf = ({ testOf, limits }: LimitedKey) => {
    if (testOf !== null || (limits === null && !hasDefaults)) return undefined;
    return appliedLimits(limits ?? NO_OWN_LIMITS, orders) ?? undefined;
  };
  const allowanceOf = (key: LimitedKey): Allowance => {
    const own = key.limits?.rateLimit ?? null;
    const known = own === null ? keys.get(key.id) : resellers.get(key.resellerAccount);
    if (known?.isFor(key)) return known;
    const requests = own === null ? rate : (parseRate(own) ?? 0);
    const policies = orderPolicies(orderLimitsOf(key));
    const bucket = known?.own === own ? known.bucket : null;
    const made = new RequestAllowance(requests, bucket, key, policies, servers);
    if (own === null) keys.set(key.id, made);
    else resellers.set(key.resellerAccount, made);
    return made;
  };
  return {
    allowanceOf,
    orderLimitsOf,
    hasFailures: () => failures.hasAny(),
    refuseGuessing(address) {
      const retryAfterSeconds = failures.waitOf(address);
      if (retryAfterSeconds > 0) throw exceeded("address", FAILURE_RATE, 1, retryAfterSeconds);
    },
    noteFailure: (address) => failures.note(address),
  };
}

/** A limit for the failures of each address, such as unknown keys or notices that are not genuine. */
export interface FailureLimit {
  /** Returns whether any address has failed lately. If none has, callers need not compute the address. */
  hasAny(): boolean;
  /** Returns the seconds until the address may fail again; 0: it may. */
  waitOf(address: string): number;
  /** Counts a failure. */
  note(address: string): void;
}

/** `servers`: as for createRateLimits. */
export function createFailureLimit(
  rate: Rate | 0,
  burst = BURST_FACTOR,
  servers: () => number = () => 1,
): FailureLimit {
  const buckets = new Map<string, TokenBucket>();
  return {
    hasAny: () => buckets.size > 0,
    waitOf(address) {
      const bucket = buckets.get(rateLimitGroup(address));
      if (!bucket) return 0;
      const milliseconds = bucket.getWaitTime(costIn(bucket, servers()));
      return milliseconds > 0 ? wholeSeconds(milliseconds) : 0;
    },
    note(address) {
      if (rate === 0) return;
      evictOldest(buckets);
      const customer = rateLimitGroup(address);
      const bucket = buckets.get(customer) ?? fullBucket(rate, burst);
      bucket.tryRemoveTokens(costIn(bucket, servers()));
      // Deleted and set again, so that the map is in the order of the last failure.
      buckets.delete(customer);
      buckets.set(customer, bucket);
    },
  };
}

/** Counts a use by a caller. Returns the seconds to wait before it is allowed; 0: it is allowed and was counted. */
export type CallerRate = (caller: string) => number;

/**
 * Creates a limit for each of many callers, such as the members of a site. Each server counts separately. `burst`: how
 * many intervals may be used at once.
 */
export function createCallerRate(rate: Rate | 0, burst = BURST_FACTOR): CallerRate {
  const buckets = new Map<string, TokenBucket>();
  return (caller) => {
    if (rate === 0) return 0;
    evictOldest(buckets);
    const bucket = buckets.get(caller) ?? fullBucket(rate, burst);
    const isAllowed = bucket.tryRemoveTokens(1);
    // Deleted and set again, so that the map is in the order of the last use.
    buckets.delete(caller);
    buckets.set(caller, bucket);
    return isAllowed ? 0 : wholeSeconds(bucket.getWaitTime(1));
  };
}

/** The allowance of one key, or of all keys of a reseller that has a rate of its own. */
class RequestAllowance implements Allowance {
  readonly bucket: TokenBucket | null;
  readonly policy: string | null;
  /** The reseller's own rate. */
  readonly own: string | null;
  readonly #limits: LimitedKey["limits"];
  readonly #policyLine: string;

  /** `bucket`: the one of an earlier allowance with the same rate; null: a full one. */
  constructor(
    readonly requests: Rate | 0,
    bucket: TokenBucket | null,
    { limits }: LimitedKey,
    orderPolicies: readonly string[],
    readonly servers: () => number,
  ) {
    this.#limits = limits;
    this.own = limits?.rateLimit ?? null;
    this.bucket = requests === 0 ? null : (bucket ?? fullBucket(requests, BURST_FACTOR));
    const policies = [...(requests === 0 ? [] : [requestPolicy(requests)]), ...orderPolicies];
    this.policy = policies.length === 0 ? null : policies.join(", ");
    this.#policyLine = this.policy === null ? "" : `ratelimit-policy: ${this.policy}\r\n`;
  }

  /** Returns whether the limits of the key have not changed. */
  isFor({ limits }: LimitedKey): boolean {
    return limits === this.#limits || isEqual(limits, this.#limits);
  }

  take(): void {
    const { bucket, requests } = this;
    if (bucket === null || requests === 0) return;
    const cost = costIn(bucket, this.servers());
    if (bucket.tryRemoveTokens(cost)) return;
    const retryAfterSeconds = wholeSeconds(bucket.getWaitTime(cost));
    throw exceeded("key", requests, BURST_FACTOR, retryAfterSeconds);
  }

  rate(): string | null {
    const { bucket, requests } = this;
    if (bucket === null || requests === 0) return null;
    const { content, bucketSize } = bucket;
    const cost = costIn(bucket, this.servers());
    const millisecondsToFull = ((bucketSize - content) * requests.milliseconds) / requests.requests;
    const seconds = wholeSeconds(millisecondsToFull);
    return rateItem("requests", Math.floor(content / cost), seconds);
  }

  lines(withRate: boolean): string {
    if (!withRate || this.bucket === null) return this.#policyLine;
    return `${this.#policyLine}ratelimit: ${this.rate()}\r\n`;
  }
}

function isEqual(a: LimitedKey["limits"], b: LimitedKey["limits"]): boolean {
  return (
    a !== null &&
    b !== null &&
    a.rateLimit === b.rateLimit &&
    a.ordersPerMinute === b.ordersPerMinute &&
    a.spendPerDayMicros === b.spendPerDayMicros &&
    a.spendPerMonthMicros === b.spendPerMonthMicros &&
    a.openOrders === b.openOrders
  );
}

/** The whole burst may be used again after the time in which it fills. */
function requestPolicy({ requests, milliseconds }: Rate): string {
  const seconds = (milliseconds * BURST_FACTOR) / 1000;
  return policyItem("requests", requests * BURST_FACTOR, { seconds });
}

function orderPolicies(limits: OrderLimits | undefined): string[] {
  if (!limits) return [];
  const { ordersPerMinute, spendPerDayMicros, spendPerMonthMicros, openOrders } = limits;
  const items: [LimitName, number, Parameters<typeof policyItem>[2]][] = [
    ["orders-per-minute", ordersPerMinute, { unit: "orders", seconds: 60 }],
    ["spend-per-day", spendPerDayMicros, { unit: "micro-usd", seconds: 86_400 }],
    // Months differ in length, so this policy has no window.
    ["spend-per-month", spendPerMonthMicros, { unit: "micro-usd" }],
    ["open-orders", openOrders, { unit: "orders" }],
  ];
  return items.filter(([, quota]) => quota > 0).map((item) => policyItem(...item));
}

function fullBucket({ requests, milliseconds }: Rate, burst: number): TokenBucket {
  const bucketSize = requests * burst;
  const bucket = new TokenBucket({
    bucketSize,
    tokensPerInterval: requests,
    interval: milliseconds,
  });
  bucket.content = bucketSize;
  return bucket;
}

/**
 * Returns the tokens that a request costs, at most the bucket's size: a full bucket always lets one request through.
 */
function costIn({ bucketSize }: TokenBucket, servers: number): number {
  return Math.min(servers, bucketSize);
}

/** Rounds up, to at least 1. */
function wholeSeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}

function exceeded(
  by: RateExceeded["by"],
  { requests, milliseconds }: Rate,
  burst: number,
  retryAfterSeconds: number,
): Refusal {
  const windowSeconds = milliseconds / 1000;
  const details = { by, requests, windowSeconds, burst: requests * burst, retryAfterSeconds };
  return new Refusal("too_many_requests", details);
}

/** Evicts buckets that are full again, and the oldest one when the map is full. */
function evictOldest(buckets: Map<string, TokenBucket>): void {
  for (const [address, bucket] of buckets) {
    const isFull = bucket.getWaitTime(bucket.bucketSize) === 0;
    if (!isFull && buckets.size < ADDRESS_LIMIT) return;
    buckets.delete(address);
  }
}
