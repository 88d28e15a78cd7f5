// HTTP requests that wait for the submission of their order, at whichever of its service's providers.

import type { Order } from "../db/orders/orders.ts";

export interface Waiting {
  /** Calls back with the order once no further try is made at once; returns a function that cancels. */
  watch(order: Order, callback: (order: Order) => void): () => void;
  notify(order: Order): void;
  /** Calls back with the unchanged order for each watched order that is not in flight. */
  release(isInFlight: (orderId: number) => boolean): void;
}

export function createWaiting(): Waiting {
  const watchers = new Map<number, { order: Order; callback: (order: Order) => void }>();
  return {
    watch(order, callback) {
      watchers.set(order.orderId, { order, callback });
      return () => watchers.delete(order.orderId);
    },
    notify: (order) => watchers.get(order.orderId)?.callback(order),
    release(isInFlight) {
      for (const [orderId, { order, callback }] of watchers) {
        if (!isInFlight(orderId)) callback(order);
      }
    },
  };
}
