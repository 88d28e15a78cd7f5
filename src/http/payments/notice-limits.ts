// Limits forged notices by address, without ever refusing a genuine one: an address that has sent a genuine notice may be a
// proxy that others use too, and so may one whose proxy is not trusted. Their notices are verified, whatever they sent
// before. docs/specification/payments.md#payment-callback.

import { rateLimitGroup } from "../../config/networks.ts";
import type { Rate } from "../../domain/values/units.ts";
import { createFailureLimit } from "../server/rate-limits.ts";

/** Limit for the notices from one address that are not genuine, in bursts of twice that. */
export const FORGED_RATE: Rate = { requests: 60, milliseconds: 60_000 };
/** Limit for the addresses of genuine notices that are known. */
const GENUINE_LIMIT = 1000;

export interface NoticeLimits {
  /** Returns the seconds after which the address may send notices again; 0: its notice is verified. */
  waitOf(address: string, isShared: boolean): number;
  /** Counts a notice that was not genuine. Returns the seconds of its refusal; 0: it is below the limit. */
  noteForged(address: string): number;
  noteGenuine(address: string): void;
}

/** `isOn`: whether there are limits at all. */
export function createNoticeLimits(isOn: boolean): NoticeLimits {
  const forged = createFailureLimit(isOn ? FORGED_RATE : 0);
  const genuine = new Set<string>();
  return {
    waitOf(address, isShared) {
      if (isShared || !forged.hasAny() || genuine.has(rateLimitGroup(address))) return 0;
      return forged.waitOf(address);
    },
    noteForged(address) {
      const seconds = forged.waitOf(address);
      forged.note(address);
      return seconds;
    },
    noteGenuine(address) {
      const group = rateLimitGroup(address);
      genuine.delete(group);
      genuine.add(group);
      const [oldest] = genuine;
      if (genuine.size > GENUINE_LIMIT && oldest !== undefined) genuine.delete(oldest);
    },
  };
}
