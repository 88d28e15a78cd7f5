// Keeps the HTTP requests that wait until a provider has taken or refused their order.

import type { Order } from "../db/orders/orders.ts";

export interface Waiting {
  /** Calls back with the order after `notify` or `release`. Returns a function that ends the wait. */
  watch(order: Order, callback: (order: Order) => void): () => void;
  /** The numbers of the orders that are waited for. */
  orderIds(): number[];
  /** Ends the wait for an order, with its new state. */
  notify(order: Order): void;
  /** Ends the wait for every order that is not in flight, with its state before the wait. */
  release(isInFlight: (orderId: number) => boolean): void;
}

export function createWaiting(): Waiting {
  const watchers = new Map<number, { order: Order; callback: (order: Order) => void }>();
  return {
    watch(order, callback) {
      watchers.set(order.orderId, { order, callback });
      return () => watchers.delete(order.orderId);
    },
    orderIds: () => [...watchers.keys()],
    notify: (order) => watchers.get(order.orderId)?.callback(order),
    release(isInFlight) {
      for (const [orderId, { order, callback }] of watchers) {
        if (!isInFlight(orderId)) callback(order);
      }
    },
  };
}
