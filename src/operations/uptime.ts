// Uptime: how long the service has run in all, stored across restarts. Unlike the wall clock it is never set.

import type { Tx } from "../db/port.ts";
import { statement } from "../db/query.ts";
import { number } from "../db/table-definition.ts";
import { uptime } from "../db/tables.ts";

/** The condition is a part of the write: another server may add in this moment. */
const ADD = statement({
  takes: { milliseconds: number, seen: number },
  writes: [uptime],
  text: "UPDATE uptime SET milliseconds = milliseconds + :milliseconds WHERE milliseconds = :seen",
});

export interface AddUptime {
  /** A whole number: the time since the uptime was `seen`, by a monotonic clock. */
  milliseconds: number;
  /** The uptime as of the last call; null for the first call of a process. */
  seen: number | null;
}

export interface Uptime {
  milliseconds: number;
  added: boolean;
}

/**
 * Adds nothing when the uptime is not what it was: then another server has counted the time since. So no two servers
 * count the same time, whoever they are. What a process that died had not added yet is lost: uptime may lag behind real
 * time, never run ahead.
 */
export function addUptime(tx: Tx, { milliseconds, seen }: AddUptime): Uptime {
  const found = tx.row(uptime.byKey, 1)!.milliseconds;
  const added = seen === found && tx.run(ADD, { milliseconds, seen }) === 1;
  return { milliseconds: added ? found + milliseconds : found, added };
}
