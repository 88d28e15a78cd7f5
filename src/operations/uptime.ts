// Uptime: how long the service has run in all, stored across restarts. Unlike the wall clock it is never set.

import type { Tx } from "../db/port.ts";
import { statement } from "../db/query.ts";
import { number } from "../db/table.ts";
import { uptime } from "../db/tables.ts";

const ADD = statement({
  takes: { milliseconds: number },
  writes: [uptime],
  // Not read first: two servers may add at the same time.
  text: "UPDATE uptime SET milliseconds = milliseconds + :milliseconds",
});

export interface AddUptime {
  /** A whole number: the time since the last call, by a monotonic clock. */
  milliseconds: number;
}

/** Time that was not yet added when the process died is lost: uptime may lag behind real time, never run ahead. */
export function addUptime(tx: Tx, { milliseconds }: AddUptime): null {
  tx.run(ADD, { milliseconds });
  return null;
}
