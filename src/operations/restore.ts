// Runs on a restored database before it goes live: what must not go back in time with its rows.

import type { Actor } from "../domain/ledger.ts";
import { type Numbers, raiseFloors } from "../db/number-floors.ts";
import type { Tx } from "../db/port.ts";
import { statement } from "../db/query.ts";
import { panelSessions } from "../db/tables.ts";
import { keepDisabled } from "./administrators.ts";
import type { Context } from "./context.ts";
import { setKeyActive } from "./keys.ts";
import { raiseSequences } from "../db/orders.ts";
import { countAllWaiting } from "../db/webhook-deliveries.ts";
import { markQueuedUnknown } from "./mark-unknown.ts";
import { markPerhapsSent } from "./order-request-deliveries.ts";

/** Who was signed in when the backup was made signs in again. */
const END_SESSIONS = statement({ writes: [panelSessions], text: "DELETE FROM panel_sessions" });

export interface CarryOver {
  /** The highest numbers that may have been issued. */
  floors: Numbers;
  /** Ids of keys that were ended since the backup. */
  endedKeys: string[];
  /** Names of administrators of the panel who were disabled since the backup. */
  disabledAdministrators?: string[];
  actor: Actor;
}

export interface CarriedOver {
  /** Deliveries that are sent although they may have been since the backup. */
  webhooksWaiting: number;
  /** Orders that are unknown now. */
  unknownOrders: number;
}

/**
 * Numbers continue above the floors, ended keys and disabled administrators stay so, queued orders and requests become unknown. What waits to be sent to webhooks
 * is sent: an event twice is one that its receiver knows by its id, an event lost is none. Refuses: key_not_found.
 */
export function carryOver(tx: Tx, command: CarryOver, context: Context): CarriedOver {
  const { floors, endedKeys, disabledAdministrators = [], actor } = command;
  const webhooksWaiting = countAllWaiting(tx);
  // Statements come before every other write.
  tx.run(END_SESSIONS);
  // Next: the audit entries below get numbers above the floor.
  raiseFloors(tx, floors);
  for (const id of endedKeys) setKeyActive(tx, { id, active: false, actor }, context);
  for (const name of disabledAdministrators) keepDisabled(tx, name, actor, context);
  const cause = "restored from a backup: it may have been sent since";
  const unknownOrders = markQueuedUnknown(tx, { cause }, context);
  markPerhapsSent(tx, cause, context);
  return { webhooksWaiting, unknownOrders };
}

/**
 * Events of orders continue above those that may have been sent since the backup, or since an earlier restore of it: a receiver
 * ignores what has a lower sequence than it has seen. No order has an event a millisecond, so the time is above all of them.
 * Returns how many orders may have events yet. Before carryOver, in a transaction of its own.
 */
export function skipSequences(tx: Tx, _command: null, { now }: Context): number {
  return raiseSequences(tx, now);
}
