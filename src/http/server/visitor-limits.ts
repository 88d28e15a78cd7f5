// Limits for the visitors of a demo that anybody may use, by address: requests, changes and sign-ins. They are counted
// before the request reaches a server.

import { type Network, rateLimitGroup } from "../../config/networks.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../domain/values/spans.ts";
import type { Rate } from "../../domain/values/units.ts";
import type { IncomingRequest } from "../../http1/request.ts";
import { clientAddress, FORWARDED_HEADER } from "./client-address.ts";
import { createCallerRate } from "./rate-limits.ts";

/** A limit: the rate at which it recovers, and how many intervals may be used at once. */
interface Limit {
  rate: Rate;
  burst: number;
  applies: (request: IncomingRequest) => boolean;
}

const LIMITS: readonly Limit[] = [
  { rate: { requests: 20, milliseconds: SECOND_MS }, burst: 10, applies: () => true },
  {
    rate: { requests: 60, milliseconds: MINUTE_MS },
    burst: 2,
    applies: ({ method }) => method !== "GET" && method !== "HEAD",
  },
  // Each sign-in costs memory and processor time by design, and ends the oldest session of the shared account.
  {
    rate: { requests: 20, milliseconds: HOUR_MS },
    burst: 1,
    applies: ({ method, path }) => method === "POST" && /\/sign-in(\/|\?|$)/.test(path),
  },
];

/** Returns what refuses the requests of a visitor who has used up a limit: a response, or null for all others. */
export function createVisitorLimits(
  trusted: readonly Network[],
): (request: IncomingRequest) => Response | null {
  const limits = LIMITS.map(({ rate, burst, applies }) => {
    return { applies, waitOf: createCallerRate(rate, burst) };
  });
  return (request) => {
    const forwarded = request.headers.get(FORWARDED_HEADER);
    const visitor = rateLimitGroup(clientAddress(request.address, forwarded, trusted));
    for (const { applies, waitOf } of limits) {
      const seconds = applies(request) ? waitOf(visitor) : 0;
      if (seconds > 0) return tooMany(seconds);
    }
    return null;
  };
}

function tooMany(seconds: number): Response {
  return new Response(`The demo limits each visitor. Try again in ${seconds} s.\n`, {
    status: 429,
    headers: { "content-type": "text/plain; charset=utf-8", "retry-after": String(seconds) },
  });
}
