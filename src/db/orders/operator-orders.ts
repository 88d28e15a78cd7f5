// All resellers' orders for the operator, newest first, in pages. A page costs the same at ten million orders, because
// the list is read from an index. Filters without an index (service, provider, most placements, text in the link)
// examine a bounded number of orders. The next page then continues after the last examined order.

import type { OrderStatus } from "../../domain/orders/order-statuses.ts";
import { isOrderNumber } from "../../domain/orders/orders.ts";
import type { OperatorOrderFilter } from "./operator-order-filter.ts";
import { orderSource, type Source } from "./operator-order-sources.ts";
import { IS_TEST_ORDER, type ListedOrder, LIVE_ORDER_CONDITION, toOrder } from "./orders.ts";
import { contains, lowerAscii, queryNaming } from "../port/filtered-lists.ts";
import { isTimed, type Page, timesOf, WINDOW_PARAMETERS } from "../port/pages.ts";
import type { Reader, Span, TimeWindow } from "../port/port.ts";
import { type Dialect, fields, isOneOf, type Query, select } from "../port/query.ts";
import {
  type Kinds,
  nullable,
  number,
  numbers,
  text,
  textOf,
  texts,
  type Typed,
} from "../port/table-definition.ts";
import { halvesOf, microsOf } from "../reports/reports.ts";
import { orders } from "../tables/orders.ts";

const LISTED = { ...fields(orders), username: text };
const EXTENT = { examined: number, lowest: nullable(number) };

/** The parameters of all filters. A query takes only those that its text names. */
const PARAMETERS: Kinds = {
  first: number,
  last: number,
  limit: number,
  shown: number,
  account: number,
  status: text,
  service: text,
  providerId: number,
  placement: text,
  numbers,
  ids: texts,
  reference: text,
  providerOrder: text,
  link: text,
  ...WINDOW_PARAMETERS,
};

/** The number and the charges of the orders with a status. */
const SUMS = {
  status: textOf<OrderStatus>(),
  orders: number,
  thousands: number,
  rest: number,
};

interface Queries {
  page: Query<Typed<typeof LISTED>, Kinds>;
  /** Counts the orders that the page's query examined, and returns the lowest number among them. */
  extent: Query<Typed<typeof EXTENT>, Kinds>;
  sums: Query<Typed<typeof SUMS>, Kinds>;
}

/**
 * Returns the newest orders with numbers lower than `below`, at most `limit` (which is at most ROWS_LIMIT). A page may
 * have fewer although more follow: only a null `next` means the end of the list.
 */
export function listOperatorOrders(
  reader: Reader,
  filter: OperatorOrderFilter,
  below: number,
  limit: number,
): Page<ListedOrder> {
  const source = orderSource(filter);
  const isBounded = source.remaining.length > 0;
  const { page, extent } = queriesFor(source, isTimed(windowOf(filter)));
  const rows: ListedOrder[] = [];
  let left = source.most;
  for (const span of spansOf(reader, filter, below)) {
    const shown = limit + 1 - rows.length;
    const values = { ...valuesOf(filter), ...span, limit: isBounded ? left : shown, shown };
    for (const { username, ...row } of reader.all(page, values)) {
      rows.push({ ...toOrder(row), username });
    }
    if (rows.length > limit) return { rows: rows.slice(0, limit), next: rows[limit - 1]!.orderId };
    if (!isBounded) continue;
    const { examined, lowest } = reader.one(extent, values)!;
    left -= examined;
    if (left <= 0) return { rows, next: lowest };
  }
  return { rows, next: null };
}

/** Limit for orders that are examined to count a list, which takes about 5 ms. */
export const COUNTED_LIMIT = 5000;

export interface OrderSums {
  /** Statuses without orders are left out. */
  byStatus: ReadonlyMap<OrderStatus, { orders: number; chargedMicros: bigint }>;
  /** False if there are more orders than were examined. */
  isWhole: boolean;
}

/**
 * Counts the orders of a list by status, whatever status the filter names, and sums their charges. Only the newest
 * orders are examined, COUNTED_LIMIT of them.
 */
export function sumOperatorOrders(reader: Reader, filter: OperatorOrderFilter): OrderSums {
  const isUnknown = filter.placement === "unknown" && filter.status === "PENDING";
  const all = isUnknown ? filter : { ...filter, status: null };
  const source = orderSource(all, COUNTED_LIMIT);
  const { sums, extent } = queriesFor(source, isTimed(windowOf(filter)));
  const byStatus = new Map<OrderStatus, { orders: number; chargedMicros: bigint }>();
  let left = COUNTED_LIMIT;
  for (const span of spansOf(reader, filter, Number.MAX_SAFE_INTEGER)) {
    const values = { ...valuesOf(all), ...span, limit: left, shown: 0 };
    let counted = 0;
    for (const { status, orders, thousands, rest } of reader.all(sums, values)) {
      counted += orders;
      const sum = byStatus.get(status) ?? { orders: 0, chargedMicros: 0n };
      const chargedMicros = sum.chargedMicros + microsOf(thousands, rest);
      byStatus.set(status, { orders: sum.orders + orders, chargedMicros });
    }
    // Without other conditions every order that was examined is counted.
    left -= source.remaining.length === 0 ? counted : reader.one(extent, values)!.examined;
    if (left <= 0) break;
  }
  return { byStatus, isWhole: left > 0 };
}

/** The parts of the list inside the time window, newest first. */
function spansOf(reader: Reader, filter: OperatorOrderFilter, below: number): Span[] {
  return reader
    .spans("orders", filter.resellerAccount ?? null, windowOf(filter))
    .filter(({ first }) => first < below)
    .map(({ first, last }) => ({ first, last: Math.min(last, below - 1) }));
}

function windowOf({ window }: OperatorOrderFilter): TimeWindow {
  return window ?? { from: null, to: null };
}

function valuesOf(filter: OperatorOrderFilter) {
  const ids = filter.ids ?? [];
  return {
    account: filter.resellerAccount ?? 0,
    status: filter.status ?? "",
    service: filter.service ?? "",
    providerId: filter.providerId ?? 0,
    placement: filter.placement ?? "",
    numbers: ids.filter((id) => isOrderNumber(id)).map(Number),
    ids: ids.filter((id) => !isOrderNumber(id)),
    reference: filter.reference ?? "",
    providerOrder: filter.providerOrder ?? "",
    link: lowerAscii(filter.link ?? ""),
    ...timesOf(windowOf(filter)),
  };
}

/** The queries, made once for each set of filters. */
const made = new Map<string, Queries>();

function queriesFor(source: Source, byTime: boolean): Queries {
  const key = JSON.stringify([source.key, source.remaining, byTime]);
  let queries = made.get(key);
  if (!queries) {
    queries = {
      page: queryNaming(PARAMETERS, LISTED, (dialect) => pageText(source, byTime, dialect)),
      extent: queryNaming(PARAMETERS, EXTENT, (dialect) => {
        const examined = `(${source.numbers(byTime, dialect)}) AS examined`;
        // Always true. It names the parameters of the window, which not every source uses.
        const named = byTime ? "WHERE :from <= :to" : "";
        return `SELECT count(*) AS "examined", min(order_id) AS "lowest" FROM ${examined} ${named}`;
      }),
      sums: queryNaming(PARAMETERS, SUMS, (dialect) => sumsText(source, byTime, dialect)),
    };
    made.set(key, queries);
  }
  return queries;
}

function sumsText(source: Source, byTime: boolean, dialect: Dialect): string {
  return `SELECT orders.status AS "status", count(*) AS "orders", ${halvesOf("orders.charge_micros")}
    FROM orders WHERE ${conditionsOf(source, byTime, dialect)} GROUP BY orders.status`;
}

function conditionsOf(source: Source, byTime: boolean, dialect: Dialect): string {
  return [
    isOneOf("orders.order_id", source.numbers(byTime, dialect), dialect),
    ...source.remaining.map((condition) => REMAINING[condition](dialect)),
    ...(byTime ? ["orders.created_at BETWEEN :from AND :to"] : []),
  ].join(" AND ");
}

function pageText(source: Source, byTime: boolean, dialect: Dialect): string {
  return `SELECT ${select(orders)}, users.username AS username
    FROM orders JOIN users AS owners ON owners.account = orders.reseller_account
      JOIN users ON users.account = coalesce(owners.test_of, owners.account)
    WHERE ${conditionsOf(source, byTime, dialect)} ORDER BY orders.order_id DESC LIMIT :shown`;
}

/** SQL of the filters that the source of the numbers does not apply itself. */
const REMAINING: Record<Source["remaining"][number], (dialect: Dialect) => string> = {
  status: () => "orders.status = :status",
  resellerAccount: () => "orders.reseller_account = :account",
  service: () => "orders.service_id = :service",
  providerId: () => "orders.provider_id = :providerId",
  placement: () => "orders.placement = :placement",
  reference: () => "orders.reference = :reference",
  providerOrder: () => "orders.provider_order = :providerOrder",
  late: () =>
    "EXISTS (SELECT 1 FROM late_reports WHERE late_reports.order_id = orders.order_id AND decision IS NULL)",
  link: contains("orders.link", ":link"),
  test: () => IS_TEST_ORDER,
  live: () => LIVE_ORDER_CONDITION,
};
