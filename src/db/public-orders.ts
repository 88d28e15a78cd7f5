// Orders as the API returns them: half their columns, by their ids and by the caller's reference.

import type { PublicOrderStatus } from "../domain/responses.ts";
import { CUID, NUMERIC_ID, type Order } from "./orders.ts";
import type { Reader } from "./port.ts";
import { byDialect, fields, isOneOf, query, select } from "./query.ts";
import { number, numbers, text, texts } from "./table-definition.ts";
import { orders } from "./tables.ts";

/** The columns that the API returns, and the owner. */
export type OwnedPublicOrder = PublicOrderStatus & Pick<Order, "resellerAccount">;

export const PUBLIC_COLUMNS = [
  "orderId",
  "id",
  "resellerAccount",
  "serviceName",
  "link",
  "quantity",
  "chargeMicros",
  "status",
  "startCount",
  "remains",
  "createdAt",
  "reference",
  "extra",
] as const;

const SELECT_PUBLIC = `SELECT ${select(orders, ...PUBLIC_COLUMNS)} FROM orders`;

/** Queries and not rows: half the columns, for what callers ask most often. */
const PUBLIC_BY_ORDER_ID = query({
  takes: { orderId: number },
  gives: fields(orders, ...PUBLIC_COLUMNS),
  text: `${SELECT_PUBLIC} WHERE order_id = :orderId`,
});
const PUBLIC_BY_ID = query({
  takes: { id: text },
  gives: fields(orders, ...PUBLIC_COLUMNS),
  text: `${SELECT_PUBLIC} WHERE id = :id`,
});

const NAMED = query({
  takes: { orderIds: numbers, ids: texts },
  gives: fields(orders, ...PUBLIC_COLUMNS),
  text: namedText(SELECT_PUBLIC),
});

/** The rows of `selected` with one of the given ids, of either kind. */
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

/** What became of an order and what it costs after refunds. */
export type OrderOutcome = Pick<Order, (typeof OUTCOME_COLUMNS)[number]>;

const OUTCOMES = query({
  takes: { orderIds: numbers, ids: texts },
  gives: fields(orders, ...OUTCOME_COLUMNS),
  text: namedText(`SELECT ${select(orders, ...OUTCOME_COLUMNS)} FROM orders`),
});

/** Only the columns that the API returns; by either of its ids. */
export function findPublicOrder(reader: Reader, id: string): OwnedPublicOrder | undefined {
  if (NUMERIC_ID.test(id)) return reader.one(PUBLIC_BY_ORDER_ID, { orderId: Number(id) });
  if (CUID.test(id)) return reader.one(PUBLIC_BY_ID, { id });
  return undefined;
}

/** By the reference that its reseller gave it. */
export function findOrderByReference(
  reader: Reader,
  resellerAccount: number,
  reference: string,
): (OwnedPublicOrder & Pick<Order, "serviceId">) | undefined {
  const row = reader.row(orders.byReference, resellerAccount, reference);
  if (!row) return undefined;
  const { orderId, id, serviceId, serviceName, link, quantity, chargeMicros, status } = row;
  const order = { orderId, id, resellerAccount, serviceId, serviceName, link, quantity };
  const { startCount, remains, createdAt, extra } = row;
  return { ...order, chargeMicros, status, startCount, remains, createdAt, reference, extra };
}

/** The orders with these ids of either kind, by the id as it was given; without those that do not exist. */
export function listOrdersById(
  reader: Reader,
  ids: readonly string[],
): Map<string, OwnedPublicOrder> {
  return byEitherId(reader.all(NAMED, idsByKind(ids)));
}

/** The same of what became of them. */
export function listOrderOutcomes(
  reader: Reader,
  ids: readonly string[],
): Map<string, OrderOutcome> {
  return byEitherId(reader.all(OUTCOMES, idsByKind(ids)));
}

function idsByKind(ids: readonly string[]) {
  return {
    orderIds: ids.filter((id) => NUMERIC_ID.test(id)).map(Number),
    ids: ids.filter((id) => CUID.test(id)),
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
