// Settlement: the operator decides whether an unknown submission reached the provider. docs/specification.md#delivery-settle.

import { Refusal } from "../domain/refusals.ts";
import { refuseSettlement } from "../domain/deliveries.ts";
import type { Actor } from "../domain/ledger.ts";
import type { Tx } from "../db/port.ts";
import { requireDelivery } from "../db/deliveries.ts";
import type { Order } from "../db/orders.ts";
import { findByProviderOrder } from "../db/polling.ts";
import { CATALOGUE_LOCK } from "../db/tables.ts";
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
 * With a provider's order number the order is polled from now on; without one it fails and is refunded.
 * Refuses: order_not_found, order_not_unknown, provider_order_taken.
 */
export function settleOrder(tx: Tx, command: SettleOrder, context: Context): Order {
  const { providerOrder, actor } = command;
  const found = requireOrder(tx, command.id);
  refuseSettlement(found);
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
  return applyAccepted(tx, order, providerOrder, actor, "settled: it was placed", context);
}
