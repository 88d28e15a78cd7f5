// The findings of `doctor` that do not depend on the engine of the database, and their type.

import { counted } from "../../domain/values/text.ts";

/** If a row is further than this in the future, the clock was set back. */
const CLOCK_FAIL_MS = 5 * 60_000;
const LATE_POLL_WARN_MS = 3_600_000;

export type State = "ok" | "warn" | "fail";

export interface Finding {
  check: string;
  state: State;
  found: string;
  /** Empty when there is nothing to do. */
  advice: string;
}

/** Facts from the rows of a database. */
export interface RowFacts {
  /** The latest time of a transfer, order or user, in milliseconds since 1970; null if there is none. */
  lastRowAt: number | null;
  /** Number of PENDING orders whose submission is unknown. */
  unknownPlacements: number;
  /** Number of open orders whose provider does not know their number. */
  unrecognizedNumbers: number;
  /** When the most overdue poll was due, in the future if none is overdue; null if no poll is scheduled. */
  oldestDuePollAt: number | null;
  /** Number of webhook endpoints that were disabled because they failed. */
  failedWebhooks: number;
  /** Number of usable keys that can add credit to a user. */
  creditKeys: number;
  /** Number of those keys that can add it to any user without a daily limit. */
  unlimitedCreditKeys: number;
}

export function finding(check: string, state: State, found: string, advice = ""): Finding {
  return { check, state, found, advice };
}

export function clock({ lastRowAt }: RowFacts, now: number): Finding {
  if (lastRowAt === null) return finding("clock", "ok", "nothing was written yet");
  const ahead = lastRowAt - now;
  const found = `it is ${new Date(now).toISOString()}, the last row says ${new Date(lastRowAt).toISOString()}`;
  if (ahead <= CLOCK_FAIL_MS) return finding("clock", "ok", found);
  return finding(
    "clock",
    "fail",
    found,
    "the clock was put back: set it, and see that it is kept (NTP)",
  );
}

export function unknown({ unknownPlacements: count }: RowFacts): Finding {
  if (count === 0) return finding("unknown placements", "ok", "none");
  const advice = "`reseller admin order list --unknown`, then `order settle` each";
  return finding("unknown placements", "warn", counted(count, "order"), advice);
}

export function unrecognized({ unrecognizedNumbers: count }: RowFacts): Finding {
  if (count === 0)
    return finding("unknown numbers", "ok", "providers know the orders that they have");
  const has = count === 1 ? "has" : "have";
  const found = `${counted(count, "order")} ${has} a number that their provider does not know`;
  const advice =
    "`reseller admin provider list` names them; correct each with `order settle --placed`";
  return finding("unknown numbers", "warn", found, advice);
}

export function polling({ oldestDuePollAt }: RowFacts, now: number): Finding {
  if (oldestDuePollAt === null) return finding("oldest unchecked order", "ok", "none waits");
  const late = now - oldestDuePollAt;
  const found = late <= 0 ? "none is late" : `${Math.round(late / 1000)} s late`;
  if (late <= LATE_POLL_WARN_MS) return finding("oldest unchecked order", "ok", found);
  const advice = "is the server running, and does its provider answer? see `admin provider list`";
  return finding("oldest unchecked order", "warn", found, advice);
}

export function webhooks({ failedWebhooks: count }: RowFacts): Finding {
  if (count === 0) return finding("webhooks", "ok", "none disabled by failures");
  const advice = "tell its owner; see `reseller admin webhook list`";
  return finding("webhooks", "warn", `${count} disabled by failures`, advice);
}

export function creditKeys({ creditKeys: count, unlimitedCreditKeys }: RowFacts): Finding {
  const check = "keys that add credit";
  if (count === 0) return finding(check, "ok", "none");
  if (unlimitedCreditKeys === 0) {
    return finding(check, "ok", `${count}, limited to a daily amount or to child users`);
  }
  const found = `${count}, ${unlimitedCreditKeys} of them for any user without a daily limit`;
  const advice =
    "whoever has one can add money to any balance: see `reseller admin key list`, then limit it with `key update --recharge-daily` or deactivate it";
  return finding(check, "warn", found, advice);
}
