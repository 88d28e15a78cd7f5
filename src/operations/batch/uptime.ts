// Uptime: how long servers of this database have run in total, stored across restarts. Unlike a wall clock it is never
// set.

import type { Tx } from "../../db/port/port.ts";
import { statement } from "../../db/port/query.ts";
import { number } from "../../db/port/table-definition.ts";
import { uptime } from "../../db/tables/database.ts";

/** The condition is part of the write, because another server may add at the same moment. */
const ADD = statement({
  parameters: { milliseconds: number, seen: number },
  writes: [uptime],
  text: "UPDATE uptime SET milliseconds = milliseconds + :milliseconds WHERE milliseconds = :seen",
});

export interface AddUptime {
  /** The whole milliseconds since the uptime was `seen`, by a monotonic clock. */
  milliseconds: number;
  /** The uptime that the last call returned; null for the first call of a process. */
  seen: number | null;
}

export interface Uptime {
  milliseconds: number;
  added: boolean;
}

/**
 * Adds to the uptime. If the uptime has changed since it was seen, another server has counted that time, and nothing is
 * added. Time that a process had not added before it died is lost: the uptime may be too low, never too high.
 */
export function addUptime(tx: Tx, { milliseconds, seen }: AddUptime): Uptime {
  const found = tx.row(uptime.byKey, 1)!.milliseconds;
  const added = seen === found && tx.run(ADD, { milliseconds, seen }) === 1;
  return { milliseconds: added ? found + milliseconds : found, added };
}
