// Attempts whose outcome will never be reported: their orders become unknown and wait for settlement. docs/specification.md#delivery.

import { type Delivery, isInterrupted } from "../domain/deliveries.ts";
import { isTestOrder } from "../domain/sandbox.ts";
import { attemptOf, finishAttemptRow, listQueued, listSending, orderOf } from "../db/deliveries.ts";
import { updateOrder } from "../db/orders.ts";
import type { Tx } from "../db/port.ts";
import type { Context } from "./context.ts";
import { beginAttempt } from "./deliveries.ts";

export interface MarkInterruptedUnknown {
  cause: string;
  /** The id of the server that asks: its own attempts are under way. */
  server: string;
}

/**
 * Attempts of servers that have ended, or are taken for dead because their lease has. On SQLite these are all attempts of
 * earlier starts. Returns the orders that are unknown.
 */
export function markInterruptedUnknown(
  tx: Tx,
  { cause, server }: MarkInterruptedUnknown,
  context: Context,
): number[] {
  const interrupted = listSending(tx, context.now).filter((each) => isInterrupted(each, server));
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
 * After a restore: orders that are queued in the backup may have been sent since, so they are unknown, like those that
 * were being sent. Returns how many orders that are.
 */
export function markQueuedUnknown(tx: Tx, { cause }: MarkQueuedUnknown, context: Context): number {
  const queued = listQueued(tx);
  const sending = listSending(tx, context.now);
  tx.each(queued, (orderId) => {
    const { attemptId } = beginAttempt(tx, orderOf(tx, orderId), null, context);
    endAttempt(tx, orderId, attemptId, cause, context);
  });
  const outcomes = tx.each(sending, ({ orderId, attemptId }) =>
    endAttempt(tx, orderId, attemptId, cause, context),
  );
  return queued.length + outcomes.filter((outcome) => outcome === "unknown").length;
}

/** The order is unknown from now on; a test order, which was certainly sent nowhere, is queued again. */
function endAttempt(
  tx: Tx,
  orderId: number,
  attemptId: number,
  cause: string,
  context: Context,
): "unknown" | "not_sent" {
  const order = orderOf(tx, orderId);
  const { now } = context;
  const outcome = isTestOrder(order) ? "not_sent" : "unknown";
  finishAttemptRow(tx, attemptOf(tx, attemptId), { outcome, cause, finishedAt: now });
  const delivery: Partial<Delivery> =
    outcome === "unknown" ? { placement: outcome } : { placement: "queued", nextSubmitAt: now };
  updateOrder(tx, { ...order, delivery: { ...order.delivery, ...delivery } });
  return outcome;
}
