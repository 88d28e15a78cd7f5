// Prepares a restored database before it goes live: some things must not go back in time with its rows.

import { RESTORED_CAUSE } from "../../domain/delivery/deliveries.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { type Numbers, raiseFloors } from "../../db/ledger/number-floors.ts";
import { dropWaitingMails } from "../../db/mails/mails.ts";
import { PORTAL_SIGN_INS } from "../../db/members/members.ts";
import type { Tx } from "../../db/port/port.ts";
import { PANEL_SIGN_INS } from "../../db/administrators/administrators.ts";
import { keepAccess } from "../administrators/administrators.ts";
import type { LaterAccess } from "../sign-ins/credentials.ts";
import { keepMemberAccess, type LaterMember } from "../members/members.ts";
import type { Context } from "./context.ts";
import { setKeyActive } from "../users/keys.ts";
import { raiseSequences } from "../../db/orders/orders.ts";
import type { InvoicesSince } from "../../db/ledger/invoices.ts";
import { countAllWaiting } from "../../db/webhooks/webhook-deliveries.ts";
import { type CarriedInvoices, carryInvoices } from "../ledger/invoice-restore.ts";
import { markQueuedUnknown } from "../delivery/mark-unknown.ts";
import { markPerhapsSent } from "../delivery/order-request-deliveries.ts";

export interface CarryOver {
  /** The highest numbers that may have been issued. */
  floors: Numbers;
  /** Ids of keys that were ended since the backup. */
  endedKeys: string[];
  /** What administrators of the panel could do before the restore. */
  administrators?: LaterAccess[];
  /** What members of the portal could do before the restore. */
  members?: LaterMember[];
  /** The invoices issued since the backup; null or absent: it is not known which. */
  invoices?: InvoicesSince | null;
  actor: Actor;
}

export interface CarriedOver {
  invoices: CarriedInvoices;
  /** Number of waiting webhook deliveries. They are sent, although they may have been sent since the backup. */
  webhooksWaiting: number;
  /** Number of e-mails that waited in the backup. They are dropped. */
  mailsDropped: number;
  /** Number of queued orders whose submission was marked as unknown. */
  unknownOrders: number;
}

/**
 * Carries over what must not go back in time. Numbers continue above the floors, and those of invoices without a gap.
 * Ended keys stay so. Administrators and members get back no access that was taken from them since, no link that was used, and
 * members no e-mails that they turned off. Queued orders and requests become unknown. Waiting webhook deliveries are sent: receivers recognise a repeated event by its id, but a lost event
 * cannot be recovered. Waiting e-mails are dropped: most were sent since the backup, and an operator can send them again.
 * Refuses: key_not_found.
 */
export function carryOver(tx: Tx, command: CarryOver, context: Context): CarriedOver {
  const { floors, endedKeys, administrators = [], members = [], actor } = command;
  const webhooksWaiting = countAllWaiting(tx);
  // These statements, which end the sessions that the backup contains and drop its waiting mails, must come before every
  // other write.
  tx.run(PANEL_SIGN_INS.END_SESSIONS);
  tx.run(PORTAL_SIGN_INS.END_SESSIONS);
  const mailsDropped = dropWaitingMails(tx, context.now);
  // Before the audit entries below, so that they get numbers above the floor.
  raiseFloors(tx, floors);
  const invoices = carryInvoices(tx, command.invoices ?? null, context);
  for (const id of endedKeys) setKeyActive(tx, { id, active: false, actor }, context);
  for (const later of administrators) keepAccess(tx, later, actor, context);
  for (const later of members) keepMemberAccess(tx, later, actor, context);
  const unknownOrders = markQueuedUnknown(tx, { cause: RESTORED_CAUSE }, context);
  markPerhapsSent(tx, RESTORED_CAUSE, context);
  return { webhooksWaiting, mailsDropped, unknownOrders, invoices };
}

/**
 * Raises the sequences of orders' events above all that may have been sent: receivers ignore an event with a lower
 * sequence than they have seen. The current time in milliseconds is above all of them, because no order has an event
 * every millisecond. Returns how many orders may still have events. Runs before carryOver, in its own transaction.
 */
export function skipSequences(tx: Tx, _command: null, { now }: Context): number {
  return raiseSequences(tx, now);
}
