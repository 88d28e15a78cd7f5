// What the magic links of test orders ask of a response: an error in place of the order, or no response at all.
// docs/specification.md#sandbox-links.

import type { CallerKey } from "../db/keys.ts";
import type { Order } from "../db/orders.ts";
import { Refusal, refusal } from "../domain/refusals.ts";
import { isTestOrder, magicOf } from "../domain/sandbox.ts";

/** A limit as a live key may meet it. */
const EXCEEDED = {
  by: "key",
  requests: 100,
  windowSeconds: 1,
  burst: 200,
  retryAfterSeconds: 1,
} as const;

/** For the first link that asks for one; nothing is written. Refuses: too_many_requests, service_unavailable, internal_error. */
export function refuseAsAsked(
  { testOf }: Pick<CallerKey, "testOf">,
  orders: readonly { link: string }[],
): void {
  if (testOf === null) return;
  for (const { link } of orders) {
    switch (magicOf(link).refusal) {
      case "too_many_requests":
        throw new Refusal("too_many_requests", EXCEEDED);
      case "service_unavailable":
        throw refusal("service_unavailable");
      case "internal_error":
        throw refusal("internal_error");
    }
  }
}

/** Whether the response to the request that made the order is not to be sent. */
export function isLostOrder(order: Order): boolean {
  return isTestOrder(order) && magicOf(order.link).isLost;
}
