// What a restored database must not take back although its rows went back in time.

import type { Actor } from "../domain/ledger.ts";
import type { Tx } from "../db/connection.ts";
import { NUMBERED_TABLES, type Numbers, raiseFloor } from "../db/numbers.ts";
import type { Context } from "./context.ts";
import { setKeyActive } from "./keys.ts";
import { markQueuedUnknown } from "./deliveries.ts";

export interface CarryOver {
  /** The highest numbers that may have been given out. */
  floors: Numbers;
  /** Ids of keys that were ended since the backup. */
  endedKeys: string[];
  actor: Actor;
}

/** Numbers go on above the floors, ended keys stay ended, and what was queued may have been sent. Refuses: key_not_found. */
export function carryOver(tx: Tx, command: CarryOver, context: Context): null {
  const { floors, endedKeys, actor } = command;
  // First: what is audited below is numbered already.
  for (const table of NUMBERED_TABLES) raiseFloor(tx, table, floors[table]);
  for (const id of endedKeys) setKeyActive(tx, { id, active: false, actor }, context);
  markQueuedUnknown(tx, { cause: "restored from a backup: it may have been sent since" }, context);
  return null;
}
