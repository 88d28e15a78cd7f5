// Effects of magic links on the response to a test order: an error instead of the order, or no response at all.
// docs/specification/sandbox.md#sandbox-links.

import type { CallerKey } from "../../db/users/keys.ts";
import type { Order } from "../../db/orders/orders.ts";
import { Refusal, refusal } from "../../domain/values/error-table.ts";
import { RATE_EXAMPLE } from "../server/rate-limits.ts";
import { isTestOrder, parseMagicLink } from "../../domain/orders/sandbox.ts";

/**
 * Throws the refusal that the first magic link among the orders asks for. Nothing is written.
 * Refuses: too_many_requests, service_unavailable, internal_error.
 */
export function refuseByMagicLink(
  { testOf }: Pick<CallerKey, "testOf">,
  orders: readonly { link: string }[],
): void {
  if (testOf === null) return;
  for (const { link } of orders) {
    switch (parseMagicLink(link).refusal) {
      case "too_many_requests":
        throw new Refusal("too_many_requests", RATE_EXAMPLE);
      case "service_unavailable":
        throw refusal("service_unavailable");
      case "internal_error":
        throw refusal("internal_error");
    }
  }
}

/** Whether to send no response to the request that placed the order. */
export function isLostOrder(order: Order): boolean {
  return isTestOrder(order) && parseMagicLink(order.link).isLost;
}
