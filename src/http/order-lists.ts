// GET /orders: the caller's orders, newest first, or those with the ids that it names.

import type { Connection } from "../db/sqlite/connection.ts";
import { listOrdersBelow, type OrderListQuery } from "../db/order-lists.ts";
import { type OwnedPublicOrder, findPublicOrder, findOrderByReference } from "../db/orders.ts";
import type { Page } from "../db/pages.ts";
import type { Call } from "./endpoint.ts";
import { orderStatus } from "../domain/responses.ts";
import {
  cursorFilter,
  formatCursor,
  idsFilter,
  limitFilter,
  queryOf,
  referenceFilter,
  serviceFilter,
  statusFilter,
  windowFilter,
} from "./query.ts";

/** Maximum number of steps for one page of a service's orders: at most 5,000 are examined, so that other requests hardly wait. */
const STEPS_A_PAGE = 5;

export function getOrders(
  { connection }: { connection: Connection },
  { request, key }: Call,
): object | Promise<object> {
  const query = queryOf(request);
  const ids = idsFilter(query);
  if (ids) return namedOrders(connection, key.resellerAccount, ids);
  const filters = {
    resellerAccount: key.resellerAccount,
    status: statusFilter(query),
    service: serviceFilter(query),
    window: windowFilter(query),
  };
  const reference = referenceFilter(query);
  const limit = limitFilter(query);
  const below = cursorFilter(query, "orders");
  if (reference !== null) return pageOf(withReference(connection, filters, reference, below));
  return listPage(connection, filters, below, limit);
}

/** In the order of `ids`; those that are not the caller's are listed as unknown. */
function namedOrders(connection: Connection, resellerAccount: number, ids: string[]): object {
  const found = ids.map((id) => {
    const order = findPublicOrder(connection, id);
    return order?.resellerAccount === resellerAccount ? order : id;
  });
  return {
    status: "success",
    orders: found.filter((each) => typeof each !== "string").map(orderStatus),
    nextCursor: null,
    unknown: found.filter((each) => typeof each === "string"),
  };
}

/** A page of at most one order: references are unique to a reseller. */
function withReference(
  connection: Connection,
  { resellerAccount, status, service, window: { from, to } }: OrderListQuery,
  reference: string,
  below: number,
): Page<OwnedPublicOrder> {
  const order = findOrderByReference(connection, resellerAccount, reference);
  const matches =
    order &&
    order.orderId < below &&
    (status === null || order.status === status) &&
    (service === null || order.serviceId === service) &&
    order.createdAt >= (from ?? -Infinity) &&
    order.createdAt <= (to ?? Infinity);
  return { rows: matches ? [order] : [], next: null };
}

/** In steps, so that other requests are handled in between. Without a service filter one step is enough. */
async function listPage(
  connection: Connection,
  filters: OrderListQuery,
  below: number,
  limit: number,
): Promise<object> {
  const rows: OwnedPublicOrder[] = [];
  let next: number | null = below;
  for (let step = 0; next !== null && rows.length < limit && step < STEPS_A_PAGE; step++) {
    if (step > 0) await new Promise(setImmediate);
    const page: Page<OwnedPublicOrder> = listOrdersBelow(
      connection,
      filters,
      next,
      limit - rows.length,
    );
    rows.push(...page.rows);
    next = page.next;
  }
  return pageOf({ rows, next });
}

function pageOf({ rows, next }: Page<OwnedPublicOrder>): object {
  return {
    status: "success",
    orders: rows.map(orderStatus),
    nextCursor: next === null ? null : formatCursor("orders", next),
  };
}
