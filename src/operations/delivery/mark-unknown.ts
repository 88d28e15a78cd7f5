// Ends attempts whose outcome will never be reported: their orders become unknown and wait for settlement.
// docs/specification/delivery.md#delivery.

import { type Delivery, isInterrupted } from "../../domain/delivery/deliveries.ts";
import { isTestOrder } from "../../domain/orders/sandbox.ts";
import {
  getAttempt,
  finishAttemptRow,
  listQueued,
  listSending,
  getOrder,
} from "../../db/delivery/deliveries.ts";
import { updateOrder } from "../../db/orders/orders.ts";
import type { Tx } from "../../db/port/port.ts";
import type { Context } from "../batch/context.ts";
import { beginAttempt } from "./deliveries.ts";

export interface MarkInterruptedUnknown {
  cause: string;
  /** The id of the calling server, whose own attempts are still under way. */
  server: string;
}

/**
 * Ends attempts of servers that have ended, or are regarded as dead because no lease renewal was seen. On SQLite
 * these are all attempts of earlier starts. Returns the ids of the orders that are unknown now.
 */
export function markInterruptedUnknown(
  tx: Tx,
  { cause, server }: MarkInterruptedUnknown,
  context: Context,
): number[] {
  const interrupted = listSending(tx).filter((each) => isInterrupted(each, server));
  return tx
    .each(interrupted, ({ orderId, attemptId }) =>
      endAttempt(tx, orderId, attemptId, cause, context) === "unknown" ? orderId : null,
    )
    .filter((orderId) => orderId !== null);
}

export interface MarkQueuedUnknown {
  cause: string;
}

/**
 * After a restore: marks orders as unknown that are queued or being sent in the backup, because they may have been sent
 * since. Returns how many orders are unknown now.
 */
export function markQueuedUnknown(tx: Tx, { cause }: MarkQueuedUnknown, context: Context): number {
  const queued = listQueued(tx);
  const sending = listSending(tx);
  tx.each(queued, (orderId) => {
    const { attemptId } = beginAttempt(tx, getOrder(tx, orderId), null, context);
    endAttempt(tx, orderId, attemptId, cause, context);
  });
  const outcomes = tx.each(sending, ({ orderId, attemptId }) =>
    endAttempt(tx, orderId, attemptId, cause, context),
  );
  return queued.length + outcomes.filter((outcome) => outcome === "unknown").length;
}

/** Ends an attempt: its order becomes unknown. A test order is queued again, because it was certainly not sent. */
function endAttempt(
  tx: Tx,
  orderId: number,
  attemptId: number,
  cause: string,
  context: Context,
): "unknown" | "not_sent" {
  const order = getOrder(tx, orderId);
  const { now } = context;
  const outcome = isTestOrder(order) ? "not_sent" : "unknown";
  finishAttemptRow(tx, getAttempt(tx, attemptId), { outcome, cause, finishedAt: now });
  const delivery: Partial<Delivery> =
    outcome === "unknown" ? { placement: outcome } : { placement: "queued", nextSubmitAt: now };
  updateOrder(tx, { ...order, delivery: { ...order.delivery, ...delivery } });
  return outcome;
}
