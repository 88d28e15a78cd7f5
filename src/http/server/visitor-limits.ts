// Limits for the visitors of a demo that anybody may use, by address: requests, changes and sign-ins. They are counted
// before the request reaches a server, which gets to know no visitor's address.

import { type Network, rateLimitGroup } from "../../config/networks.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../domain/values/spans.ts";
import type { Rate } from "../../domain/values/units.ts";
import type { Admission } from "../../http1/handover.ts";
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
    applies: ({ sentMethod }) => sentMethod !== "GET" && sentMethod !== "HEAD",
  },
  // Each sign-in costs memory and processor time by design.
  {
    rate: { requests: 20, milliseconds: HOUR_MS },
    burst: 1,
    applies: ({ method, path }) => method === "POST" && /\/sign-in(\/|\?|$)/.test(path),
  },
];

/** Limit for the requests of a visitor that are being answered. */
const AT_ONCE = 32;

/**
 * Returns what refuses the requests of a visitor who has used up a limit. Servers get all other requests under another
 * address for each visitor, because their pages show addresses to everybody who uses the shared accounts.
 */
export function createVisitorLimits(
  trusted: readonly Network[],
): (request: IncomingRequest) => Admission {
  const limits = LIMITS.map(({ rate, burst, applies }) => {
    return { applies, waitOf: createCallerRate(rate, burst) };
  });
  const secret = crypto.randomUUID();
  const atOnce = new Map<string, number>();
  return (request) => {
    const forwarded = request.headers.get(FORWARDED_HEADER);
    const visitor = rateLimitGroup(clientAddress(request.address, forwarded, trusted));
    for (const { applies, waitOf } of limits) {
      const seconds = applies(request) ? waitOf(visitor) : 0;
      if (seconds > 0) return { refused: tooMany(seconds) };
    }
    const others = atOnce.get(visitor) ?? 0;
    if (others >= AT_ONCE) return { refused: tooMany(1) };
    atOnce.set(visitor, others + 1);
    const end = () => {
      const left = atOnce.get(visitor)! - 1;
      if (left > 0) atOnce.set(visitor, left);
      else atOnce.delete(visitor);
    };
    return { request: request.withAddress(aliasOf(visitor, secret)), end };
  };
}

/** Returns an address of the network for documentation, from which nobody can tell the visitor's own. */
function aliasOf(visitor: string, secret: string): string {
  const hash = Bun.SHA256.hash(`${secret} ${visitor}`, "hex");
  const groups = [hash.slice(0, 4), hash.slice(4, 8)].map((group) => Number.parseInt(group, 16));
  return `2001:db8:${groups.map((group) => group.toString(16)).join(":")}::1`;
}

function tooMany(seconds: number): Response {
  return new Response(`The demo limits each visitor. Try again in ${seconds} s.\n`, {
    status: 429,
    headers: { "content-type": "text/plain; charset=utf-8", "retry-after": String(seconds) },
  });
}
