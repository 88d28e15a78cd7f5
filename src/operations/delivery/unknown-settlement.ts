// Settlement: the operator decides whether an unknown submission reached the provider.
// docs/specification/delivery.md#delivery-settle.

import { Refusal, refusal } from "../../domain/values/error-table.ts";
import { isSettlementCorrectable, refuseSettlement } from "../../domain/delivery/deliveries.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import type { Micros } from "../../domain/ledger/money.ts";
import { decideTransition } from "../../domain/orders/order-transitions.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import { type OrderWithDelivery, requireDelivery } from "../../db/delivery/deliveries.ts";
import { findOrder, type Order, updateOrder } from "../../db/orders/orders.ts";
import { findByProviderOrder } from "../../db/delivery/polling.ts";
import { attempts } from "../../db/tables/delivery.ts";
import { CATALOGUE_LOCK } from "../../db/tables/locks.ts";
import { deleteUnrecognizedNumber } from "../../db/delivery/unrecognized-numbers.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import { applyAccepted, failUnplaced } from "./deliveries.ts";
import { requireOrder } from "../orders/orders.ts";

export interface SettleOrder {
  /** Either id of the order. */
  id: string;
  /** The order's number at the provider; null: the provider never received it. */
  providerOrder: string | null;
  /** The refund that the operator confirmed; absent: whatever it is now. */
  refundMicros?: Micros;
  /** Refuses to correct the number of an order that was settled before. */
  isFirst?: true;
  actor: Actor;
}

/**
 * Settles an unknown submission. With a number at the provider the order is polled from now on; without one it fails
 * and is refunded. A number from a settlement can be corrected until the provider reports. Refuses: order_not_found,
 * order_not_unknown, order_changed, provider_order_taken.
 */
export function settleOrder(tx: Tx, command: SettleOrder, context: Context): Order {
  const { providerOrder, actor } = command;
  const found = requireOrder(tx, command.id);
  const isCorrection = refuseUnlessSettled(tx, found, providerOrder);
  if (isCorrection && command.isFirst) refuseSettlement(found);
  const order = requireDelivery(found);
  if (providerOrder === null) {
    const { refundMicros } = decideTransition(order, "FAILED");
    const { refundMicros: confirmed = refundMicros } = command;
    if (confirmed !== refundMicros) throw refusal("order_changed");
    const cause = { actor, note: "settled: it was not placed" };
    return failUnplaced(tx, order, "refused", cause, context);
  }
  // This order's lock does not cover orders of other resellers, one of which may get the same number. The catalogue
  // lock keeps two settlements from using the same number.
  tx.lock(CATALOGUE_LOCK);
  const duplicate = findByProviderOrder(
    tx,
    order.delivery.providerId,
    providerOrder,
    order.orderId,
  );
  if (duplicate !== undefined) throw new Refusal("provider_order_taken", { orderId: duplicate });
  if (isCorrection) return correctNumber(tx, order, providerOrder, actor, context);
  return applyAccepted(tx, order, providerOrder, actor, "settled: it was placed", context);
}

/**
 * Returns the order if it may be settled, for a caller that asks the provider first. Refuses: order_not_found,
 * order_not_unknown.
 */
export function requireSettleable(
  reader: Reader,
  id: string,
  providerOrder: string | null,
): OrderWithDelivery {
  const order = findOrder(reader, id);
  if (!order) throw refusal("order_not_found");
  refuseUnlessSettled(reader, order, providerOrder);
  return requireDelivery(order);
}

/** Returns whether the settlement corrects a number. Refuses: order_not_unknown. */
function refuseUnlessSettled(reader: Reader, order: Order, providerOrder: string | null): boolean {
  const sent = reader.row(attempts.bySentOrder, order.orderId);
  if (providerOrder !== null && isSettlementCorrectable(order, sent?.outcome)) return true;
  refuseSettlement(order);
  return false;
}

/**
 * Corrects the number, by which the order is polled from now on. The status of the order does not change.
 */
function correctNumber(
  tx: Tx,
  order: OrderWithDelivery,
  providerOrder: string,
  actor: Actor,
  context: Context,
): Order {
  const { delivery } = order;
  const { now } = context;
  const corrected = {
    ...order,
    delivery: { ...delivery, providerOrder, nextPollAt: now, polledAt: now, changedAt: now },
  };
  updateOrder(tx, corrected);
  deleteUnrecognizedNumber(tx, order.orderId);
  audit(tx, context, {
    actor,
    action: "order.settle",
    subject: String(order.orderId),
    account: order.resellerAccount,
    before: { providerOrder: delivery.providerOrder },
    after: { providerOrder },
  });
  return corrected;
}
