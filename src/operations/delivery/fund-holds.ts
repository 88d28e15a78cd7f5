// Makes orders wait for funds at a provider that refused one for lack of them.
// docs/specification/delivery.md#fund-holds.

import type { SubmissionResult } from "../../domain/delivery/deliveries.ts";
import { mayHold } from "../../domain/providers/fund-holds.ts";
import { afterNoFunds } from "../../domain/providers/provider-pauses.ts";
import { isTestOrder } from "../../domain/orders/sandbox.ts";
import type { OrderWithDelivery } from "../../db/delivery/deliveries.ts";
import { heldMicrosBefore } from "../../db/delivery/held-orders.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import { getProvider } from "../../db/providers/providers.ts";
import { CATALOGUE_LOCK } from "../../db/tables/locks.ts";
import { providers } from "../../db/tables/providers.ts";

/** Returns whether an order with this result waits for funds at its provider, unless another route is ready. */
export function isHeldAfter(
  reader: Reader,
  order: OrderWithDelivery,
  result: SubmissionResult,
  now: number,
): boolean {
  if (result.outcome !== "refused" || !result.outOfFunds || isTestOrder(order)) return false;
  return fitsHold(reader, order, order.delivery.providerId, now);
}

/**
 * Returns whether the order would have to wait for funds at a provider where the limit for waiting orders is reached.
 */
export function exceedsHold(
  reader: Reader,
  order: OrderWithDelivery,
  providerId: number,
  now: number,
): boolean {
  const { pausedBy } = getProvider(reader, providerId);
  return pausedBy === "funds" && !fitsHold(reader, order, providerId, now);
}

function fitsHold(
  reader: Reader,
  order: OrderWithDelivery,
  providerId: number,
  now: number,
): boolean {
  const provider = getProvider(reader, providerId);
  // Orders are counted only where the setting needs it.
  if (provider.onNoFunds === "refund") return false;
  return mayHold(provider, order, heldMicrosBefore(reader, providerId, order.orderId), now);
}

/** Pauses the provider until it has funds, unless it is paused already. Returns whether this paused it. */
export function pauseForFunds(
  tx: Tx,
  { delivery: { providerId } }: OrderWithDelivery,
  now: number,
): boolean {
  // Several servers may do this at the same time.
  tx.lock(CATALOGUE_LOCK);
  const before = getProvider(tx, providerId);
  tx.update(providers, before, { ...afterNoFunds(before, now), outOfFundsAt: now });
  return before.pausedAt === null;
}
