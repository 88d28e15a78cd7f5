// Rate limits for requests of a key and for unknown keys from an address. docs/specification/http.md#rate-limits.
// Each is a token bucket that fills at the rate and holds the burst, so no caller waits for a fixed window to end.

import { TokenBucket } from "limiter";
import { rateLimitGroup } from "../../config/networks.ts";
import { Refusal } from "../../domain/values/error-table.ts";
import type { RateExceeded } from "../../domain/values/request-refusals.ts";
import type { Rate } from "../../domain/values/units.ts";

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

export interface RateLimits {
  /** Counts a request of a key. Throws too_many_requests. */
  takeForKey(keyId: string): void;
  /** Returns whether any address has sent unknown keys lately. If none has, callers need not compute the address. */
  hasFailures(): boolean;
  /** Throws too_many_requests while an address is over its limit of unknown keys. */
  refuseGuessing(address: string): void;
  /** Counts an unknown key. */
  noteFailure(address: string): void;
}

const UNLIMITED: RateLimits = {
  takeForKey() {},
  hasFailures: () => false,
  refuseGuessing() {},
  noteFailure() {},
};

/**
 * Creates the limits. `rate` is the limit of a key; 0 turns every limit off. `servers` returns the number of servers
 * that share the load. Each counts separately, so a request costs as many tokens as there are servers. If requests are
 * spread evenly, all servers together allow what one server would.
 */
export function createRateLimits(rate: Rate | 0, servers: () => number = () => 1): RateLimits {
  if (rate === 0) return UNLIMITED;
  const keys = new Map<string, TokenBucket>();
  const failures = new Map<string, TokenBucket>();
  return {
    takeForKey(keyId) {
      let bucket = keys.get(keyId);
      if (!bucket) keys.set(keyId, (bucket = fullBucket(rate, BURST_FACTOR)));
      const cost = costIn(bucket, servers());
      if (!bucket.tryRemoveTokens(cost)) throw exceeded("key", rate, bucket, cost);
    },
    hasFailures: () => failures.size > 0,
    refuseGuessing(address) {
      const bucket = failures.get(rateLimitGroup(address));
      if (!bucket) return;
      const cost = costIn(bucket, servers());
      if (bucket.getWaitTime(cost) > 0) throw exceeded("address", FAILURE_RATE, bucket, cost);
    },
    noteFailure(address) {
      evictOldest(failures);
      const customer = rateLimitGroup(address);
      const bucket = failures.get(customer) ?? fullBucket(FAILURE_RATE, 1);
      bucket.tryRemoveTokens(costIn(bucket, servers()));
      // Deleted and set again, so that the map is in the order of the last failure.
      failures.delete(customer);
      failures.set(customer, bucket);
    },
  };
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

function exceeded(by: RateExceeded["by"], rate: Rate, bucket: TokenBucket, cost: number): Refusal {
  return new Refusal("too_many_requests", {
    by,
    requests: rate.requests,
    windowSeconds: rate.milliseconds / 1000,
    burst: bucket.bucketSize,
    retryAfterSeconds: Math.max(1, Math.ceil(bucket.getWaitTime(cost) / 1000)),
  });
}

/** Evicts buckets that are full again, and the oldest one when the map is full. */
function evictOldest(buckets: Map<string, TokenBucket>): void {
  for (const [address, bucket] of buckets) {
    const isFull = bucket.getWaitTime(bucket.bucketSize) === 0;
    if (!isFull && buckets.size < ADDRESS_LIMIT) return;
    buckets.delete(address);
  }
}
