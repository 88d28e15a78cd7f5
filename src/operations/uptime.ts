// Uptime: how long the service has run in all, stored across restarts.

import type { Tx } from "../db/sqlite/connection.ts";
import { addToUptime } from "../db/uptime.ts";

export interface AddUptime {
  /** A whole number: the time since the last call, by a monotonic clock. */
  milliseconds: number;
}

/** Time that was not yet added when the process died is lost: uptime may lag behind real time, never run ahead. */
export function addUptime(tx: Tx, { milliseconds }: AddUptime): null {
  addToUptime(tx, milliseconds);
  return null;
}
