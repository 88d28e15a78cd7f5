// The transitions of orders: each with its actor and time.

import type { Actor } from "../../domain/ledger/ledger.ts";
import type { OrderStatus } from "../../domain/orders/order-statuses.ts";
import type { Reader, Tx } from "../port/port.ts";
import { fields, query, select } from "../port/query.ts";
import { number } from "../port/table-definition.ts";
import { orderEvents } from "../tables/orders.ts";

export interface OrderEvent {
  orderId: number;
  fromStatus: OrderStatus;
  toStatus: OrderStatus;
  actor: Actor;
  note: string | null;
  createdAt: number;
}

const EVENTS = query({
  parameters: { orderId: number },
  columns: fields(orderEvents),
  text: `SELECT ${select(orderEvents)} FROM order_events WHERE order_id = :orderId ORDER BY seq`,
});

export function listOrderEvents(reader: Reader, orderId: number): OrderEvent[] {
  return reader
    .all(EVENTS, { orderId })
    .map(({ keyId, operator, ...event }) => ({ ...event, actor: { keyId, operator } }));
}

export function insertOrderEvent(tx: Tx, event: OrderEvent): void {
  const { actor, ...rest } = event;
  tx.insert(orderEvents, { ...rest, keyId: actor.keyId, operator: actor.operator });
}
