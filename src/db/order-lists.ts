// A reseller's orders, newest first, in pages. A page costs the same at ten orders and at ten million: every filter
// either has an index or examines a bounded number of orders and returns where the next page continues.

import { and, between, desc, eq, sql } from "drizzle-orm";
import { ORDER_STATUSES, type OrderStatus } from "../domain/orders.ts";
import { type Connection, prepared } from "./sqlite/connection.ts";
import { readInSnapshot } from "./sqlite/snapshot.ts";
import { mergeNewest, type Page } from "./pages.ts";
import { PUBLIC_COLUMNS, type OwnedPublicOrder } from "./orders.ts";
import { orders } from "./schema.ts";
import type { TimeWindow } from "./port.ts";

/**
 * Orders that are examined at a time for the filter by service, in about a millisecond. There is no index by reseller and
 * service: it would make every new order a fifth more expensive.
 */
const EXAMINED_LIMIT = 1000;

export interface OrderListQuery {
  resellerAccount: number;
  status: OrderStatus | null;
  /** The id of a service. */
  service: string | null;
  window: TimeWindow;
}

const queries = prepared((orm) => {
  const isOneOf = sql`${orders.orderId} in (select value from json_each(${sql.placeholder("orderIds")}))`;
  return {
    orderIds: orm
      .select({ orderId: orders.orderId })
      .from(orders)
      .where(
        and(
          eq(orders.resellerAccount, sql.placeholder("resellerAccount")),
          eq(orders.status, sql.placeholder("status")),
          between(orders.orderId, sql.placeholder("first"), sql.placeholder("last")),
        ),
      )
      .orderBy(desc(orders.orderId))
      .limit(sql.placeholder("limit"))
      .prepare(),
    rows: orm
      .select(PUBLIC_COLUMNS)
      .from(orders)
      .where(isOneOf)
      .orderBy(desc(orders.orderId))
      .prepare(),
    rowsOfService: orm
      .select(PUBLIC_COLUMNS)
      .from(orders)
      .where(and(isOneOf, eq(orders.serviceId, sql.placeholder("service"))))
      .orderBy(desc(orders.orderId))
      .limit(sql.placeholder("limit"))
      .prepare(),
  };
});

/**
 * The newest orders below number `below`, at most `limit`. With a service a page may have fewer although more follow:
 * only a null `next` means the end of the list.
 */
export function listOrdersBelow(
  connection: Connection,
  query: OrderListQuery,
  below: number,
  limit: number,
): Page<OwnedPublicOrder> {
  return readInSnapshot(connection, () => {
    if (query.service !== null) return examine(connection, query, query.service, below, limit);
    const orderIds = newestBelow(connection, query, below, limit + 1);
    const shown = orderIds.slice(0, limit);
    return {
      rows: queries(connection).rows.all({ orderIds: JSON.stringify(shown) }),
      next: orderIds.length > limit ? shown.at(-1)! : null,
    };
  });
}

function examine(
  connection: Connection,
  query: OrderListQuery,
  service: string,
  below: number,
  limit: number,
): Page<OwnedPublicOrder> {
  const orderIds = newestBelow(connection, query, below, EXAMINED_LIMIT);
  const found = queries(connection).rowsOfService.all({
    orderIds: JSON.stringify(orderIds),
    service,
    limit: limit + 1,
  });
  const rows = found.slice(0, limit);
  if (found.length > limit) return { rows, next: rows.at(-1)!.orderId };
  return { rows, next: orderIds.length < EXAMINED_LIMIT ? null : orderIds.at(-1)! };
}

/** Order numbers from the index. Without a status, those of every status, merged. */
function newestBelow(
  connection: Connection,
  { resellerAccount, status, window }: OrderListQuery,
  below: number,
  limit: number,
): number[] {
  const statuses = status === null ? ORDER_STATUSES : [status];
  const orderIds: number[] = [];
  for (const { first, last } of connection.store.reader.spans("orders", 0, window)) {
    if (first >= below) continue;
    const bounds = { resellerAccount, first, last: Math.min(last, below - 1) };
    const left = limit - orderIds.length;
    const lists = statuses.map((each) =>
      queries(connection)
        .orderIds.all({ ...bounds, status: each, limit: left })
        .map(({ orderId }) => orderId),
    );
    orderIds.push(...mergeNewest(lists, left));
    if (orderIds.length >= limit) break;
  }
  return orderIds;
}
