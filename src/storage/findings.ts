// What `doctor` finds, and the findings that do not depend on the engine of the database.

import { counted } from "../domain/text.ts";

/** A row further in the future means that the clock was put back. */
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

/** What the rows of a database tell. */
export interface RowFacts {
  /** The latest time of a transfer, order or user, in milliseconds; null without one. */
  lastRowAt: number | null;
  /** PENDING orders whose placement is unknown. */
  unknownPlacements: number;
  /** Open orders whose provider does not know the number that they have. */
  unrecognizedNumbers: number;
  /** When the most overdue poll was due; in the future when none is overdue, null without a scheduled poll. */
  oldestDuePollAt: number | null;
  /** Endpoints of webhooks that were disabled because they failed. */
  failedWebhooks: number;
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
