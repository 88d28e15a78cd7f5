// Orders as the API returns them, with half of their columns, found by their ids or by the caller's reference. Orders
// that ended in another panel are found by the same ids.

import { PUBLIC_FIELDS, type PublicOrder } from "../../domain/orders/order-members.ts";
import { isOrderNumber } from "../../domain/orders/orders.ts";
import { isCuid } from "../../domain/values/text.ts";
import { pastOrderOutcome, publicPastOrder } from "../../domain/orders/past-orders.ts";
import { listPastOrders, type OwnedPastOrder } from "../imports/imports.ts";
import type { Order } from "./orders.ts";
import type { Reader } from "../port/port.ts";
import { byDialect, fields, isOneOf, query, select } from "../port/query.ts";
import { number, numbers, text, texts } from "../port/table-definition.ts";
import { orders } from "../tables/orders.ts";

/** The columns that the API returns, and the owner's account. */
export type OwnedPublicOrder = PublicOrder & Pick<Order, "resellerAccount">;

export const PUBLIC_COLUMNS = [...PUBLIC_FIELDS, "resellerAccount"] as const;

const SELECT_PUBLIC = `SELECT ${select(orders, ...PUBLIC_COLUMNS)} FROM orders`;

/** Queries for the most frequent requests. Unlike row look-ups they read only half of the columns. */
const PUBLIC_BY_ORDER_ID = query({
  parameters: { orderId: number },
  columns: fields(orders, ...PUBLIC_COLUMNS),
  text: `${SELECT_PUBLIC} WHERE order_id = :orderId`,
});
const PUBLIC_BY_ID = query({
  parameters: { id: text },
  columns: fields(orders, ...PUBLIC_COLUMNS),
  text: `${SELECT_PUBLIC} WHERE id = :id`,
});

const NAMED = query({
  parameters: { orderIds: numbers, ids: texts },
  columns: fields(orders, ...PUBLIC_COLUMNS),
  text: namedText(SELECT_PUBLIC),
});

/** SQL for the rows of `selected` whose number or cuid2 is among the given ids. */
function namedText(selected: string) {
  return byDialect(
    (dialect) => `${selected} WHERE ${isOneOf("order_id", ":orderIds", dialect)}
      UNION ALL ${selected} WHERE ${isOneOf("id", ":ids", dialect)}`,
  );
}

const OUTCOME_COLUMNS = [
  "orderId",
  "id",
  "resellerAccount",
  "quantity",
  "chargeMicros",
  "refundedMicros",
  "status",
  "startCount",
  "remains",
] as const;

/** The result of an order, and its charge and refunds. */
export type OrderOutcome = Pick<Order, (typeof OUTCOME_COLUMNS)[number]>;

const OUTCOMES = query({
  parameters: { orderIds: numbers, ids: texts },
  columns: fields(orders, ...OUTCOME_COLUMNS),
  text: namedText(`SELECT ${select(orders, ...OUTCOME_COLUMNS)} FROM orders`),
});

/** Finds an order by its number or its id, with only the columns that the API returns. */
export function findPublicOrder(reader: Reader, id: string): OwnedPublicOrder | undefined {
  const order = isOrderNumber(id)
    ? reader.one(PUBLIC_BY_ORDER_ID, { orderId: Number(id) })
    : isCuid(id)
      ? reader.one(PUBLIC_BY_ID, { id })
      : undefined;
  return order ?? publicPast(listPastOrders(reader, [id]).get(id));
}

function publicPast(order: OwnedPastOrder | undefined): OwnedPublicOrder | undefined {
  return order && { ...publicPastOrder(order), resellerAccount: order.resellerAccount };
}

/** Finds an order by its reseller's reference. */
export function findOrderByReference(
  reader: Reader,
  resellerAccount: number,
  reference: string,
): (OwnedPublicOrder & Pick<Order, "serviceId">) | undefined {
  return reader.row(orders.byReference, resellerAccount, reference);
}

/** Returns the orders with these ids, each under both of its ids. Leaves out missing orders. */
export function listOrdersById(
  reader: Reader,
  ids: readonly string[],
): Map<string, OwnedPublicOrder> {
  const found = byEitherId(reader.all(NAMED, idsByKind(ids)));
  return withPast(reader, ids, found, (order) => publicPast(order)!);
}

/** Like listOrdersById, with the outcomes of the orders. */
export function listOrderOutcomes(
  reader: Reader,
  ids: readonly string[],
): Map<string, OrderOutcome> {
  const found = byEitherId(reader.all(OUTCOMES, idsByKind(ids)));
  return withPast(reader, ids, found, pastOrderOutcome);
}

/** Adds the past orders among the ids that were not found. */
function withPast<T>(
  reader: Reader,
  ids: readonly string[],
  found: Map<string, T>,
  toOrder: (order: OwnedPastOrder) => T,
): Map<string, T> {
  const missing = ids.filter((id) => !found.has(id));
  if (missing.length === 0) return found;
  for (const [id, order] of listPastOrders(reader, missing)) found.set(id, toOrder(order));
  return found;
}

function idsByKind(ids: readonly string[]) {
  return {
    orderIds: ids.filter((id) => isOrderNumber(id)).map(Number),
    ids: ids.filter((id) => isCuid(id)),
  };
}

function byEitherId<T extends { orderId: number; id: string }>(found: readonly T[]) {
  return new Map(
    found.flatMap((order): [string, T][] => [
      [String(order.orderId), order],
      [order.id, order],
    ]),
  );
}
