// Prepares a restored database before it goes live: some things must not go back in time with its rows.

import type { Actor } from "../../domain/ledger/ledger.ts";
import { type Numbers, raiseFloors } from "../../db/ledger/number-floors.ts";
import type { Tx } from "../../db/port/port.ts";
import { statement } from "../../db/port/query.ts";
import { panelSessions } from "../../db/tables/administrators.ts";
import { keepDisabled } from "../administrators/administrators.ts";
import type { Context } from "./context.ts";
import { setKeyActive } from "../users/keys.ts";
import { raiseSequences } from "../../db/orders/orders.ts";
import { countAllWaiting } from "../../db/webhooks/webhook-deliveries.ts";
import { markQueuedUnknown } from "../delivery/mark-unknown.ts";
import { markPerhapsSent } from "../delivery/order-request-deliveries.ts";

/** Signs everybody out who was signed in when the backup was made. */
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
  /** Waiting webhook deliveries: they are sent, although they may have been sent since the backup. */
  webhooksWaiting: number;
  /** Orders that are unknown now. */
  unknownOrders: number;
}

/**
 * Numbers continue above the floors, ended keys and disabled administrators stay so, queued orders and requests become
 * unknown. Waiting webhook deliveries are sent: receivers recognise a repeated event by its id; a lost event cannot be
 * recovered. Refuses: key_not_found.
 */
export function carryOver(tx: Tx, command: CarryOver, context: Context): CarriedOver {
  const { floors, endedKeys, disabledAdministrators = [], actor } = command;
  const webhooksWaiting = countAllWaiting(tx);
  // Statements come before every other write.
  tx.run(END_SESSIONS);
  // Before the audit entries below, so that they get numbers above the floor.
  raiseFloors(tx, floors);
  for (const id of endedKeys) setKeyActive(tx, { id, active: false, actor }, context);
  for (const name of disabledAdministrators) keepDisabled(tx, name, actor, context);
  const cause = "restored from a backup: it may have been sent since";
  const unknownOrders = markQueuedUnknown(tx, { cause }, context);
  markPerhapsSent(tx, cause, context);
  return { webhooksWaiting, unknownOrders };
}

/**
 * Raises the sequences of orders' events above those that may have been sent since the backup, or since an earlier
 * restore of it. A receiver ignores an event with a lower sequence than it has seen. No order has an event every
 * millisecond, so the current time is above all of them. Returns how many orders may still have events. Runs before
 * carryOver, in a transaction of its own.
 */
export function skipSequences(tx: Tx, _command: null, { now }: Context): number {
  return raiseSequences(tx, now);
}
