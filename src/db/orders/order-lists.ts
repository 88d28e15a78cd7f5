// A reseller's orders, newest first, in pages. A page costs the same at ten orders and at ten million. A filter has an
// index, or examines a bounded number of orders and returns where the next page continues.

import { ORDER_STATUSES, type OrderStatus } from "../../domain/orders/order-statuses.ts";
import {
  isTimed,
  LIST_PARAMETERS,
  type Page,
  ROWS_LIMIT,
  spansBelow,
  timesOf,
  WINDOW_PARAMETERS,
} from "../port/pages.ts";
import { contains, lowerAscii } from "../port/filtered-lists.ts";
import { newestOf, rowsInWindow } from "../port/newest-entries.ts";
import type { Reader, TimeWindow } from "../port/port.ts";
import { type OwnedPublicOrder, PUBLIC_COLUMNS } from "./public-orders.ts";
import { byDialect, type Dialect, fields, isOneOf, query, select } from "../port/query.ts";
import { type Kinds, number, text } from "../port/table-definition.ts";
import { orders } from "../tables/orders.ts";

/**
 * Limit for orders examined at a time by the filters for a service and a link, which takes about a millisecond. An index
 * by reseller and service would make every new order a fifth more expensive.
 */
export const EXAMINED_LIMIT = 1000;

export interface OrderListQuery {
  resellerAccount: number;
  status: OrderStatus | null;
  /** The id of a service. */
  service: string | null;
  /** A part of the link, ignoring the case of ASCII letters. Only without a service. */
  link?: string | null;
  window: TimeWindow;
}

/** The filters that change the text of a query. */
interface Filtered {
  byStatus: boolean;
  byTime: boolean;
}

/** SQL for the newest order numbers, from the index. Without a status, merges the numbers of all statuses. */
function newest({ byStatus, byTime }: Filtered, most: number, dialect: Dialect): string {
  const statuses = byStatus ? [":status"] : ORDER_STATUSES.map((status) => `'${status}'`);
  const parts = statuses.map((status) => ({
    values: { reseller_account: ":account", status },
    where: [],
  }));
  return newestOf({ table: "orders", number: "order_id", parts, byTime, most }, dialect);
}

const takesOf = ({ byStatus, byTime }: Filtered, others: Kinds = {}): Kinds => ({
  ...LIST_PARAMETERS,
  ...(byStatus && { status: text }),
  ...(byTime && WINDOW_PARAMETERS),
  ...others,
});

const makePage = (filtered: Filtered) =>
  query({
    parameters: takesOf(filtered),
    columns: fields(orders, ...PUBLIC_COLUMNS),
    text: byDialect(
      (dialect) => `SELECT ${select(orders, ...PUBLIC_COLUMNS)} FROM orders
        WHERE ${isOneOf("order_id", newest(filtered, ROWS_LIMIT + 1, dialect), dialect)}
          ${rowsInWindow(filtered.byTime, dialect)}
        ORDER BY order_id DESC`,
    ),
  });

/** Makes the query for the newest orders that match. Its last row is the last examined order, even if it does not. */
const makeExamined = (matches: (dialect: Dialect) => string) => (filtered: Filtered) =>
  query({
    parameters: takesOf(filtered, { wanted: text, shown: number }),
    columns: { ...fields(orders, ...PUBLIC_COLUMNS, "serviceId"), examined: number },
    text: byDialect(
      (dialect) => `WITH examined AS (${newest(filtered, EXAMINED_LIMIT, dialect)})
        SELECT ${select(orders, ...PUBLIC_COLUMNS, "serviceId")},
          (SELECT count(*) FROM examined) AS "examined"
        FROM orders
        WHERE ${isOneOf("order_id", "SELECT order_id FROM examined", dialect)}
          ${rowsInWindow(filtered.byTime, dialect)}
          AND (${matches(dialect)} OR order_id = (SELECT min(order_id) FROM examined))
        ORDER BY order_id DESC LIMIT :shown`,
    ),
  });

const PAGES = byFilters(makePage);
const OF_SERVICE = byFilters(makeExamined(() => "service_id = :wanted"));
const WITH_LINK = byFilters(makeExamined(contains("link", ":wanted")));

/** Makes a query for each combination of filters. The result selects the one for a list. */
function byFilters<Made>(make: (filtered: Filtered) => Made): (query: OrderListQuery) => Made {
  const made = [false, true].map((byStatus) =>
    [false, true].map((byTime) => make({ byStatus, byTime })),
  );
  return ({ status, window }) => made[Number(status !== null)]![Number(isTimed(window))]!;
}

/**
 * Returns the newest orders with numbers lower than `below`, at most `limit`. With a service or a link, a page may have
 * fewer although more follow: only a null `next` means the end of the list.
 */
export function listOrdersBelow(
  reader: Reader,
  filters: OrderListQuery,
  below: number,
  limit: number,
): Page<OwnedPublicOrder> {
  const { service, link = null } = filters;
  if (service !== null) {
    const matches = (order: Examined) => order.serviceId === service;
    return examine(
      reader,
      filters,
      { query: OF_SERVICE(filters), wanted: service, matches },
      below,
      limit,
    );
  }
  if (link !== null) {
    const wanted = lowerAscii(link);
    const matches = (order: Examined) => lowerAscii(order.link).includes(wanted);
    return examine(reader, filters, { query: WITH_LINK(filters), wanted, matches }, below, limit);
  }
  const rows: OwnedPublicOrder[] = [];
  for (const values of valuesOf(reader, filters, below)) {
    const more = { ...values, limit: limit + 1 - rows.length };
    rows.push(...reader.all(PAGES(filters), more));
    if (rows.length > limit) return { rows: rows.slice(0, limit), next: rows[limit - 1]!.orderId };
  }
  return { rows, next: null };
}

type Examined = OwnedPublicOrder & { serviceId: string };

interface Search {
  query: ReturnType<typeof OF_SERVICE>;
  wanted: string;
  matches: (order: Examined) => boolean;
}

function examine(
  reader: Reader,
  filters: OrderListQuery,
  { query: examined, wanted, matches }: Search,
  below: number,
  limit: number,
): Page<OwnedPublicOrder> {
  const rows: OwnedPublicOrder[] = [];
  let left = EXAMINED_LIMIT;
  for (const values of valuesOf(reader, filters, below)) {
    // One more than the page, plus the last examined order.
    const shown = limit - rows.length + 2;
    const found = reader.all(examined, { ...values, wanted, limit: left, shown });
    for (const { examined: _, ...each } of found) {
      const { serviceId: __, ...order } = each;
      if (matches(each)) rows.push(order);
    }
    if (rows.length > limit) return { rows: rows.slice(0, limit), next: rows[limit - 1]!.orderId };
    left -= found[0]?.examined ?? 0;
    if (left === 0) return { rows, next: found.at(-1)!.orderId };
  }
  return { rows, next: null };
}

/** The parameters that both kinds of queries take, one set for each span of the list. */
function valuesOf(reader: Reader, filters: OrderListQuery, below: number) {
  const { resellerAccount: account, status, window } = filters;
  const spans = spansBelow(reader, "orders", { account, window, below });
  return spans.map((span) => ({ account, status, ...timesOf(window), ...span }));
}

// Each status by itself, so that the index reads no more than `most` rows of it.
const BY_STATUS = query({
  parameters: { account: number, most: number },
  columns: Object.fromEntries(ORDER_STATUSES.map((status) => [status, number])) as Record<
    OrderStatus,
    typeof number
  >,
  text: `SELECT ${ORDER_STATUSES.map(
    (status) => `(SELECT count(*) FROM (SELECT 1 AS one FROM orders
      WHERE reseller_account = :account AND status = '${status}' LIMIT :most) AS counted) AS "${status}"`,
  ).join(", ")}`,
});

/** Counts the orders of a reseller by status, each up to `most`. */
export function countOrdersByStatus(
  reader: Reader,
  account: number,
  most: number,
): Record<OrderStatus, number> {
  return reader.one(BY_STATUS, { account, most })!;
}
