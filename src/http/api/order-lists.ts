// GET /orders: the caller's orders, newest first, or those with given ids.

import { listOrdersBelow, type OrderListQuery } from "../../db/orders/order-lists.ts";
import type { Page } from "../../db/port/pages.ts";
import { after, type Awaitable, type Reader, type ReadStore } from "../../db/port/port.ts";
import {
  findOrderByReference,
  listOrdersById,
  type OwnedPublicOrder,
} from "../../db/orders/public-orders.ts";
import type { Call } from "../server/endpoint.ts";
import { orderStatus } from "../../domain/orders/order-members.ts";
import { wantsCsv } from "../server/csv.ts";
import { fewOrdersCsv, ordersCsv } from "./orders-csv.ts";
import { idsFilter, queryOf, referenceFilter, serviceFilter, statusFilter } from "../read/query.ts";
import { type InternalErrorDeps, noteInternalError } from "../server/request-context.ts";
import { cursorFilter, formatCursor, limitFilter } from "../read/paging.ts";
import { windowFilter } from "../read/time-windows.ts";
import { listOrders } from "../../api-docs/endpoints/orders.ts";
import { ORDER, type Route } from "../server/api-route.ts";

/** Maximum number of steps for one page of a service's orders. Together the steps examine at most 5,000 orders. */
const STEPS_A_PAGE = 5;

function getOrders(
  deps: InternalErrorDeps & { store: ReadStore },
  { request, key, requestId }: Call,
): Awaitable<object> {
  const { store } = deps;
  const query = queryOf(request);
  const isCsv = wantsCsv(request);
  const ids = idsFilter(query);
  if (ids) return store.read((reader) => namedOrders(reader, key.resellerAccount, ids, isCsv));
  const filters = {
    resellerAccount: key.resellerAccount,
    status: statusFilter(query),
    service: serviceFilter(query),
    window: windowFilter(query),
  };
  const reference = referenceFilter(query);
  const limit = limitFilter(query);
  const below = cursorFilter(query, "orders");
  if (reference !== null) {
    const found = store.read((reader) => withReference(reader, filters, reference, below));
    return after(found, (page) => (isCsv ? fewOrdersCsv(page.rows) : pageOf(page)));
  }
  if (isCsv) {
    return ordersCsv(store, filters, below, (error) => noteInternalError(deps, requestId, error));
  }
  return after(listPage(store, filters, below, limit, STEPS_A_PAGE), pageOf);
}

/** Lists orders in the sequence of `ids`; ids that are not the caller's are listed as unknown. */
function namedOrders(
  reader: Reader,
  resellerAccount: number,
  ids: string[],
  isCsv: boolean,
): object {
  const orders = listOrdersById(reader, ids);
  const found = ids.map((id) => {
    const order = orders.get(id);
    return order?.resellerAccount === resellerAccount ? order : id;
  });
  const orderRows = found.filter((each) => typeof each !== "string");
  if (isCsv) return fewOrdersCsv(orderRows);
  return {
    status: "success",
    orders: orderRows.map(orderStatus),
    nextCursor: null,
    unknown: found.filter((each) => typeof each === "string"),
  };
}

/** Returns a page of at most one order: a reseller uses a reference once. */
function withReference(
  reader: Reader,
  { resellerAccount, status, service, window: { from, to } }: OrderListQuery,
  reference: string,
  below: number,
): Page<OwnedPublicOrder> {
  const order = findOrderByReference(reader, resellerAccount, reference);
  const matches =
    order &&
    order.orderId < below &&
    (status === null || order.status === status) &&
    (service === null || order.serviceId === service) &&
    order.createdAt >= (from ?? -Infinity) &&
    order.createdAt <= (to ?? Infinity);
  return { rows: matches ? [order] : [], next: null };
}

/**
 * Reads a page in steps, so that other requests are handled in between. Without a service filter one step is enough.
 */
function listPage(
  store: ReadStore,
  filters: OrderListQuery,
  below: number,
  limit: number,
  steps: number,
): Awaitable<Page<OwnedPublicOrder>> {
  const found = store.read((reader) => listOrdersBelow(reader, filters, below, limit));
  return after(found, (page) => {
    const { rows, next } = page;
    if (next === null || rows.length === limit || steps === 1) return page;
    return followingPage(store, filters, page, next, limit, steps);
  });
}

async function followingPage(
  store: ReadStore,
  filters: OrderListQuery,
  { rows }: Page<OwnedPublicOrder>,
  below: number,
  limit: number,
  steps: number,
): Promise<Page<OwnedPublicOrder>> {
  await new Promise(setImmediate);
  const more = await listPage(store, filters, below, limit - rows.length, steps - 1);
  return { rows: [...rows, ...more.rows], next: more.next };
}

function pageOf({ rows, next }: Page<OwnedPublicOrder>): object {
  return {
    status: "success",
    orders: rows.map(orderStatus),
    nextCursor: next === null ? null : formatCursor("orders", next),
  };
}

export const routes: readonly Route<InternalErrorDeps & { store: ReadStore }>[] = [
  ["GET", "/api/v1/orders", ORDER, getOrders, listOrders],
];
