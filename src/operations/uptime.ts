// The service's own clock, which outlives restarts.

import type { Tx } from "../db/connection.ts";
import { addToUptime } from "../db/uptime.ts";

export interface AddUptime {
  /** Whole; how long the service has run since it last counted, by a monotonic clock. */
  milliseconds: number;
}

/** What was not counted before the process died is lost: uptime falls behind real time, never ahead of it. */
export function addUptime(tx: Tx, { milliseconds }: AddUptime): null {
  addToUptime(tx, milliseconds);
  return null;
}
