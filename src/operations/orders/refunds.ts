// Writes the refund of an order as a transfer from the sales account to its reseller. A partial refund gives back what
// remains undelivered, any other what is left of the charge. docs/specification/ledger.md#amounts-refund

import { salesAccount, type Transfer } from "../../domain/ledger/ledger.ts";
import { refundIn } from "../../domain/orders/order-statuses.ts";
import { isTestOrder } from "../../domain/orders/sandbox.ts";
import type { OrderTransition } from "../../domain/orders/order-transitions.ts";
import { postTransfer } from "../../db/ledger/ledger.ts";
import type { Order } from "../../db/orders/orders.ts";
import type { Tx } from "../../db/port/port.ts";

/** Writes the refund that a transition decided. A refund of 0 has no transfer. */
export function writeRefund(
  tx: Tx,
  order: Order,
  { status, refundMicros }: OrderTransition,
  cause: Pick<Transfer, "actor" | "note" | "publicNote">,
  now: number,
): void {
  postTransfer(tx, {
    ...cause,
    debitAccount: salesAccount(isTestOrder(order)),
    creditAccount: order.resellerAccount,
    amountMicros: refundMicros,
    kind: refundIn(status) === "remains" ? "partial_refund" : "refund",
    orderId: order.orderId,
    createdAt: now,
  });
}
