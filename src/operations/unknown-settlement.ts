// Settlement: the operator decides whether an unknown submission reached the provider. docs/specification.md#delivery-settle.

import { Refusal, refusal } from "../domain/refusals.ts";
import { isSettlementCorrectable, refuseSettlement } from "../domain/deliveries.ts";
import type { Actor } from "../domain/ledger.ts";
import type { Reader, Tx } from "../db/port.ts";
import { type OrderWithDelivery, requireDelivery } from "../db/deliveries.ts";
import { findOrder, type Order, updateOrder } from "../db/orders.ts";
import { findByProviderOrder } from "../db/polling.ts";
import { attempts, CATALOGUE_LOCK } from "../db/tables.ts";
import { deleteUnrecognizedNumber } from "../db/unrecognized-numbers.ts";
import { audit } from "./audit.ts";
import type { Context } from "./context.ts";
import { applyAccepted, failUnplaced } from "./deliveries.ts";
import { requireOrder } from "./orders.ts";

export interface SettleOrder {
  /** Either id of the order. */
  id: string;
  /** The number that the provider gave it; null: the provider never received it. */
  providerOrder: string | null;
  actor: Actor;
}

/**
 * With a provider's order number the order is polled from now on; without one it fails and is refunded. A number that a
 * settlement gave is corrected while the provider has not reported anything.
 * Refuses: order_not_found, order_not_unknown, provider_order_taken.
 */
export function settleOrder(tx: Tx, command: SettleOrder, context: Context): Order {
  const { providerOrder, actor } = command;
  const found = requireOrder(tx, command.id);
  const isCorrection = refuseUnlessSettled(tx, found, providerOrder);
  const order = requireDelivery(found);
  if (providerOrder === null) {
    const cause = { actor, note: "settled: it was not placed" };
    return failUnplaced(tx, order, "refused", cause, context);
  }
  // Of another reseller's order, which no lock of this one's covers: no two settlements give the same number.
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

/** For whoever asks the provider first: the order that may be settled. Refuses: order_not_found, order_not_unknown. */
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

/** Returns whether it corrects a number. Refuses: order_not_unknown. */
function refuseUnlessSettled(reader: Reader, order: Order, providerOrder: string | null): boolean {
  const sent = reader.row(attempts.bySentOrder, order.orderId);
  if (providerOrder !== null && isSettlementCorrectable(order, sent?.outcome)) return true;
  refuseSettlement(order);
  return false;
}

/** Asked for under the new number from now on. No transition: the order is as it was. */
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
