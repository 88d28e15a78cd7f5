// Orders, and the events of their transitions.

import type { Statement } from "bun:sqlite";
import { and, asc, desc, eq, getTableColumns, sql } from "drizzle-orm";
import type { PublicOrderStatus } from "../domain/responses.ts";
import type { Actor } from "../domain/ledger.ts";
import { ORDER_ID_PATTERN, ORDER_STATUSES, type OrderStatus } from "../domain/orders.ts";
import type { Delivery } from "../domain/deliveries.ts";
import type { PriceUnit } from "../domain/services.ts";
import { type Connection, prepared, type Tx } from "./sqlite/connection.ts";
import { prepareInsert, selectList } from "./raw-rows.ts";
import { preparedNumber } from "./sqlite/numbers.ts";
import { orderEvents, orders, users } from "./schema.ts";

export interface Order {
  /** The numeric order number; only grows. */
  orderId: number;
  /** The cuid2. */
  id: string;
  resellerAccount: number;
  serviceId: string;
  serviceName: string;
  priceMicros: number;
  per: PriceUnit;
  link: string;
  quantity: number;
  chargeMicros: number;
  refundedMicros: number;
  status: OrderStatus;
  startCount: number;
  remains: number;
  createdAt: number;
  /** The caller's own name for it; null when it gave none. */
  reference: string | null;
  /** Null: of a manual service. */
  delivery: Delivery | null;
}

/** As the table holds it: with its delivery in the same row. */
export type OrderRow = typeof orders.$inferSelect;

/** Columns that every new order has alike. */
const NEW_ORDER_DEFAULTS = { refundedMicros: 0, startCount: 0 } satisfies Partial<Order>;

/** The delivery columns of an order without a delivery. */
const NO_DELIVERY = {
  providerId: null,
  providerService: null,
  placement: "manual",
  providerOrder: null,
  reported: null,
  nextSubmitAt: null,
  nextPollAt: null,
  polledAt: null,
  changedAt: null,
} as const satisfies Record<keyof Delivery, unknown>;

export type NewOrder = Omit<Order, "orderId" | keyof typeof NEW_ORDER_DEFAULTS>;

export interface ListedOrder extends Order {
  username: string;
}

export interface OrderEvent {
  orderId: number;
  fromStatus: OrderStatus;
  toStatus: OrderStatus;
  actor: Actor;
  note: string | null;
  createdAt: number;
}

export interface OrderFilter {
  status?: OrderStatus | undefined;
  resellerAccount?: number | undefined;
  /** Only PENDING ones whose placement is unknown. */
  unknown?: boolean | undefined;
  /** Only orders with a late report. */
  late?: boolean | undefined;
  limit: number;
}

const NUMERIC_ID = /^[1-9][0-9]{0,15}$/;
const CUID = new RegExp(ORDER_ID_PATTERN);

/** The columns that the API returns, and the owner. */
export type OwnedPublicOrder = PublicOrderStatus & Pick<Order, "resellerAccount">;

export const PUBLIC_COLUMNS = {
  orderId: orders.orderId,
  id: orders.id,
  resellerAccount: orders.resellerAccount,
  serviceName: orders.serviceName,
  link: orders.link,
  quantity: orders.quantity,
  chargeMicros: orders.chargeMicros,
  status: orders.status,
  startCount: orders.startCount,
  remains: orders.remains,
  createdAt: orders.createdAt,
  reference: orders.reference,
};
const SELECT_PUBLIC = `SELECT ${selectList(PUBLIC_COLUMNS)} FROM orders`;

const SELECT_ORDER = `SELECT ${selectList(getTableColumns(orders))} FROM orders`;

const queries = prepared((orm, sqlite) => ({
  byOrderId: sqlite.query<OrderRow, [number]>(`${SELECT_ORDER} WHERE order_id = ?`),
  byId: sqlite.query<OrderRow, [string]>(`${SELECT_ORDER} WHERE id = ?`),
  publicByOrderId: sqlite.query<OwnedPublicOrder, [number]>(`${SELECT_PUBLIC} WHERE order_id = ?`),
  publicById: sqlite.query<OwnedPublicOrder, [string]>(`${SELECT_PUBLIC} WHERE id = ?`),
  byReference: orm
    .select({ ...PUBLIC_COLUMNS, serviceId: orders.serviceId })
    .from(orders)
    .where(
      and(
        eq(orders.resellerAccount, sql.placeholder("resellerAccount")),
        eq(orders.reference, sql.placeholder("reference")),
      ),
    )
    .prepare(),
  append: prepareInsert<OrderRow, "orderId">(
    sqlite,
    orders,
    "orderId",
    preparedNumber(sqlite, "orders"),
  ),
  update: orm
    .update(orders)
    .set({
      status: sql`${sql.placeholder("status")}`,
      startCount: sql`${sql.placeholder("startCount")}`,
      remains: sql`${sql.placeholder("remains")}`,
      refundedMicros: sql`${sql.placeholder("refundedMicros")}`,
      placement: sql`${sql.placeholder("placement")}`,
      providerOrder: sql`${sql.placeholder("providerOrder")}`,
      reported: sql`${sql.placeholder("reported")}`,
      nextSubmitAt: sql`${sql.placeholder("nextSubmitAt")}`,
      nextPollAt: sql`${sql.placeholder("nextPollAt")}`,
      polledAt: sql`${sql.placeholder("polledAt")}`,
      changedAt: sql`${sql.placeholder("changedAt")}`,
    })
    .where(eq(orders.orderId, sql.placeholder("orderId")))
    .prepare(),
  insertEvent: orm
    .insert(orderEvents)
    .values({
      orderId: sql.placeholder("orderId"),
      fromStatus: sql.placeholder("fromStatus"),
      toStatus: sql.placeholder("toStatus"),
      keyId: sql.placeholder("keyId"),
      operator: sql.placeholder("operator"),
      note: sql.placeholder("note"),
      createdAt: sql.placeholder("createdAt"),
    })
    .prepare(),
  events: orm
    .select()
    .from(orderEvents)
    .where(eq(orderEvents.orderId, sql.placeholder("orderId")))
    .orderBy(asc(orderEvents.seq))
    .prepare(),
}));

/** By either of its ids: the order number as digits without a leading zero, or the cuid. */
export function findOrder(connection: Connection, id: string): Order | undefined {
  const { byOrderId, byId } = queries(connection);
  const row = findByEither(byOrderId, byId, id);
  return row && toOrder(row);
}

/** Only the columns that the API returns; by either of its ids. */
export function findPublicOrder(connection: Connection, id: string): OwnedPublicOrder | undefined {
  const { publicByOrderId, publicById } = queries(connection);
  return findByEither(publicByOrderId, publicById, id);
}

function findByEither<Found>(
  byOrderId: Statement<Found, [number]>,
  byId: Statement<Found, [string]>,
  id: string,
): Found | undefined {
  if (NUMERIC_ID.test(id)) return byOrderId.get(Number(id)) ?? undefined;
  if (CUID.test(id)) return byId.get(id) ?? undefined;
  return undefined;
}

/** By the reference that its reseller gave it. */
export function findOrderByReference(
  connection: Connection,
  resellerAccount: number,
  reference: string,
): (OwnedPublicOrder & Pick<Order, "serviceId">) | undefined {
  return queries(connection).byReference.get({ resellerAccount, reference });
}

/** Newest first. */
export function listOrders(connection: Connection, filter: OrderFilter): ListedOrder[] {
  const rows = connection.orm
    .select({ ...getTableColumns(orders), username: users.username })
    .from(orders)
    .innerJoin(users, eq(users.account, orders.resellerAccount))
    .where(
      and(
        filter.status && eq(orders.status, filter.status),
        filter.late
          ? sql`EXISTS (SELECT 1 FROM late_reports WHERE late_reports.order_id = ${orders.orderId})`
          : undefined,
        filter.unknown
          ? sql`${orders.placement} = 'unknown' AND ${orders.status} = 'PENDING'`
          : undefined,
        filter.resellerAccount === undefined
          ? undefined
          : ofReseller(filter.resellerAccount, filter),
      ),
    )
    .orderBy(desc(orders.orderId))
    .limit(filter.limit)
    .all();
  return rows.map(({ username, ...row }) => ({ ...toOrder(row), username }));
}

/** Without another filter: among the newest of each status, since the only index by reseller is by status too. */
function ofReseller(account: number, { status, unknown, late, limit }: OrderFilter) {
  const isTheirs = eq(orders.resellerAccount, account);
  if (status || unknown || late) return isTheirs;
  const newest = ORDER_STATUSES.map(
    (each) => sql`SELECT order_id FROM (SELECT order_id FROM orders
      WHERE reseller_account = ${account} AND status = ${each} ORDER BY order_id DESC LIMIT ${limit})`,
  );
  return and(isTheirs, sql`${orders.orderId} IN (${sql.join(newest, sql` UNION ALL `)})`);
}

export function listOrderEvents(connection: Connection, orderId: number): OrderEvent[] {
  return queries(connection)
    .events.all({ orderId })
    .map(({ keyId, operator, ...event }) => ({ ...event, actor: { keyId, operator } }));
}

/** Returns the order with its number. */
export function insertOrder(tx: Tx, order: NewOrder): Order {
  const row = { ...order, ...NEW_ORDER_DEFAULTS, ...(order.delivery ?? NO_DELIVERY) };
  return { ...order, ...NEW_ORDER_DEFAULTS, orderId: queries(tx).append(row) };
}

/** Writes the columns that may change: status, counts, refunded amount and delivery. */
export function updateOrder(tx: Tx, order: Order): void {
  queries(tx).update.run({ ...order, ...(order.delivery ?? NO_DELIVERY) });
}

/** By a CHECK of the table a row has provider, service and a placement other than `manual`, or none of these. */
export function toOrder(row: OrderRow): Order {
  const { providerId, providerService, placement, providerOrder, reported, ...rest } = row;
  const { nextSubmitAt, nextPollAt, polledAt, changedAt, ...order } = rest;
  if (providerId === null || providerService === null || placement === "manual") {
    return { ...order, delivery: null };
  }
  const times = { nextSubmitAt, nextPollAt, polledAt, changedAt };
  const delivery = { providerId, providerService, placement, providerOrder, reported, ...times };
  return { ...order, delivery };
}

export function insertOrderEvent(tx: Tx, event: OrderEvent): void {
  const { actor, ...rest } = event;
  queries(tx).insertEvent.run({ ...rest, keyId: actor.keyId, operator: actor.operator });
}
