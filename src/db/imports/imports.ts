// What was imported from another panel: users, services and past orders, and the range of imported order numbers.

import type { Reader, Tx } from "../port/port.ts";
import { givenNames, listByFilters } from "../port/filtered-lists.ts";
import { byDialect, fields, isOneOf, query, select, statement } from "../port/query.ts";
import { bigint, nullable, number, numbers, text } from "../port/table-definition.ts";
import { panelImport, type PastOrder, pastOrders } from "../tables/imports.ts";
import { numberInPastId, type PastOrderFields } from "../../domain/orders/past-orders.ts";
import { isOrderNumber } from "../../domain/orders/orders.ts";
import { ERASED } from "../../domain/users/erasures.ts";

const ID = 1;

export interface PanelImport {
  ordersThrough: number;
  startedAt: number;
  finishedAt: number | null;
  runId: string | null;
  runUntil: number | null;
}

/** Returns the record of the import; undefined if nothing was imported. */
export function findPanelImport(reader: Reader): PanelImport | undefined {
  return reader.row(panelImport.byKey, ID);
}

/** Records that an import began. `ordersThrough` only grows. */
export function beginPanelImport(
  tx: Tx,
  run: { runId: string; runUntil: number },
  ordersThrough: number,
  now: number,
): void {
  const before = findPanelImport(tx);
  if (!before) tx.insert(panelImport, { id: ID, ordersThrough, startedAt: now, ...run });
  else {
    const through = Math.max(before.ordersThrough, ordersThrough);
    tx.update(panelImport, { id: ID }, { ordersThrough: through, finishedAt: null, ...run });
  }
}

/** Sets until when the running import counts as running. */
export function renewPanelImport(tx: Tx, runUntil: number): void {
  tx.update(panelImport, { id: ID }, { runUntil });
}

/** Records that no import is running. `finishedAt`: when it ran to its end; null if it did not. */
export function endPanelImport(tx: Tx, finishedAt: number | null): void {
  tx.update(panelImport, { id: ID }, { finishedAt, runId: null, runUntil: null });
}

/** SQL for the highest number of an imported order; 0 if none was imported. */
export const ORDERS_THROUGH = "(SELECT coalesce(max(orders_through), 0) FROM panel_import)";

/** SQL condition that leaves imported orders out of reports: they were sold in the other panel. */
export const SOLD_HERE_CONDITION = `orders.order_id > ${ORDERS_THROUGH}`;

const HIGHEST_ORDER = query({
  columns: { highest: number },
  text: `SELECT coalesce(max(order_id), 0) AS "highest" FROM orders`,
});

export function highestOrderNumber(reader: Reader): number {
  return reader.one(HIGHEST_ORDER)!.highest;
}

const HIGHEST_COMMITTED = query({
  columns: { highest: number },
  text: `SELECT coalesce(max(order_id), 0) AS "highest" FROM orders WHERE order_id > 0`,
});

/** Returns the same as `highestOrderNumber`, read anew after a statement of the same transaction. */
export function highestOrderNumberNow(tx: Tx): number {
  return tx.one(HIGHEST_COMMITTED)!.highest;
}

const NEIGHBOURS = query({
  parameters: { orderId: number },
  columns: { before: nullable(number), after: nullable(number) },
  text: `SELECT
      (SELECT created_at FROM orders WHERE order_id < :orderId ORDER BY order_id DESC LIMIT 1) AS "before",
      (SELECT created_at FROM orders WHERE order_id > :orderId ORDER BY order_id LIMIT 1) AS "after"`,
});

/** Returns the times of the orders before and after a number; null where there is none. */
export function timesAround(
  reader: Reader,
  orderId: number,
): { before: number | null; after: number | null } {
  return reader.one(NEIGHBOURS, { orderId })!;
}

const USERNAMES = query({
  columns: { source: text, username: text },
  text: `SELECT imported_users.source AS "source", users.username AS "username"
    FROM imported_users JOIN users ON users.account = imported_users.account`,
});

/** Returns the usernames of all imported users, by their ids in the other panel. */
export function listImportedUsernames(reader: Reader): Map<string, string> {
  return new Map(reader.all(USERNAMES).map(({ source, username }) => [source, username]));
}

const COUNTS = query({
  columns: {
    users: number,
    balance: bigint,
    services: number,
    keys: number,
    pastOrders: number,
    orders: number,
    openAtProviders: number,
    openByHand: number,
  },
  text: `SELECT (SELECT count(*) FROM imported_users) AS "users",
      CAST((SELECT coalesce(sum(balance_micros), 0) FROM imported_users) AS TEXT) AS "balance",
      (SELECT count(*) FROM imported_services) AS "services",
      (SELECT count(*) FROM keys WHERE imported = 1) AS "keys",
      (SELECT count(*) FROM past_orders) AS "pastOrders",
      (SELECT count(*) FROM orders WHERE order_id <= ${ORDERS_THROUGH}) AS "orders",
      (SELECT count(*) FROM orders WHERE order_id <= ${ORDERS_THROUGH} AND status = 'PROCESSING'
        AND placement = 'placed') AS "openAtProviders",
      (SELECT count(*) FROM orders WHERE order_id <= ${ORDERS_THROUGH} AND status = 'PROCESSING'
        AND placement = 'manual') AS "openByHand"`,
});

export interface ImportCounts {
  users: number;
  balance: bigint;
  services: number;
  keys: number;
  pastOrders: number;
  /** Orders that were open when they were imported. */
  orders: number;
  openAtProviders: number;
  openByHand: number;
}

export function countImported(reader: Reader): ImportCounts {
  return reader.one(COUNTS)!;
}

/** SQL for the number of imported keys that still work and were not rotated. */
export const KEYS_TO_ROTATE = `SELECT count(*) FROM keys
  WHERE imported = 1 AND active = 1 AND ended = 0 AND replaced_by IS NULL`;

const TO_ROTATE = query({
  columns: { keys: number },
  text: `SELECT (${KEYS_TO_ROTATE}) AS "keys"`,
});

export function countKeysToRotate(reader: Reader): number {
  return reader.one(TO_ROTATE)!.keys;
}

const PUBLIC_FIELDS = [
  "orderId",
  "resellerAccount",
  "serviceName",
  "link",
  "quantity",
  "chargeMicros",
  "status",
  "startCount",
  "remains",
  "createdAt",
] as const;

/** A past order as the API returns it, with its owner's account. */
export type OwnedPastOrder = PastOrderFields & { resellerAccount: number };

const NAMED = query({
  parameters: { orderIds: numbers },
  columns: fields(pastOrders, ...PUBLIC_FIELDS),
  text: byDialect(
    (dialect) => `SELECT ${select(pastOrders, ...PUBLIC_FIELDS)} FROM past_orders
      WHERE ${isOneOf("order_id", ":orderIds", dialect)}`,
  ),
});

/** Returns the number that an id names, if it may be that of a past order; null for any other id. */
export function pastNumberOf(id: string): number | null {
  return isOrderNumber(id) ? Number(id) : numberInPastId(id);
}

/** Returns the past orders with these ids (numbers or ids), each under the id that was given. */
export function listPastOrders(
  reader: Reader,
  ids: readonly string[],
): Map<string, OwnedPastOrder> {
  const numbersOf = new Map(ids.map((id) => [id, pastNumberOf(id)]));
  const orderIds = [...numbersOf.values()].filter((each) => each !== null);
  if (orderIds.length === 0) return new Map();
  const found = new Map(reader.all(NAMED, { orderIds }).map((order) => [order.orderId, order]));
  return new Map(
    [...numbersOf].flatMap(([id, orderId]): [string, OwnedPastOrder][] => {
      const order = orderId === null ? undefined : found.get(orderId);
      return order ? [[id, order]] : [];
    }),
  );
}

/** Finds a past order by its number or its id. */
export function findPastOrder(reader: Reader, id: string): PastOrder | undefined {
  const orderId = pastNumberOf(id);
  return orderId === null ? undefined : reader.row(pastOrders.byKey, orderId);
}

const AT_PROVIDER = query({
  parameters: { providerOrder: text, limit: number },
  columns: fields(pastOrders),
  text: `SELECT ${select(pastOrders)} FROM past_orders
    WHERE provider_order = :providerOrder ORDER BY order_id DESC LIMIT :limit`,
});

/** Lists the newest past orders that had this number at a provider. */
export function listPastOrdersAtProvider(
  reader: Reader,
  providerOrder: string,
  limit: number,
): PastOrder[] {
  return reader.all(AT_PROVIDER, { providerOrder, limit });
}

const LIST = listByFilters({
  columns: { ...fields(pastOrders), username: text },
  parameters: { account: number, before: number, limit: number },
  conditions: { account: "past_orders.reseller_account = :account" },
  text: (and) => `SELECT ${select(pastOrders)}, users.username AS "username"
    FROM past_orders JOIN users ON users.account = past_orders.reseller_account
    WHERE past_orders.order_id < :before${and} ORDER BY past_orders.order_id DESC LIMIT :limit`,
});

export type ListedPastOrder = PastOrder & { username: string };

/** Lists past orders with numbers below `before`, the newest first. `account` null: all resellers. */
export function listPastOrdersBefore(
  reader: Reader,
  filter: { account: number | null; before: number; limit: number },
): ListedPastOrder[] {
  const values = { ...filter, account: filter.account ?? undefined };
  return reader.all(LIST(givenNames(values, ["account"])), values);
}

const OF_ACCOUNT = query({
  parameters: { account: number, after: number, limit: number },
  columns: fields(pastOrders, "orderId"),
  text: `SELECT ${select(pastOrders, "orderId")} FROM past_orders
    WHERE reseller_account = :account AND order_id > :after ORDER BY order_id LIMIT :limit`,
});

const ERASE_LINKS = statement({
  parameters: { orderIds: numbers },
  writes: [pastOrders],
  text: `UPDATE past_orders SET link = '${ERASED}' WHERE order_id IN (:orderIds) AND link <> '${ERASED}'`,
});

/** Erases the links of a piece of an account's past orders. */
export function erasePastOrders(
  tx: Tx,
  piece: { account: number; after: number; limit: number },
): { rows: number; next: number | null } {
  const orderIds = tx.all(OF_ACCOUNT, piece).map(({ orderId }) => orderId);
  if (orderIds.length === 0) return { rows: 0, next: null };
  tx.run(ERASE_LINKS, { orderIds });
  return { rows: orderIds.length, next: orderIds.at(-1)! };
}

const OPEN_BY_PROVIDER = query({
  columns: { provider: nullable(text), orders: number, oldestAt: number },
  text: `SELECT providers.name AS "provider", count(*) AS "orders", min(orders.created_at) AS "oldestAt"
    FROM orders LEFT JOIN providers ON providers.provider_id = orders.provider_id
    WHERE orders.order_id <= ${ORDERS_THROUGH} AND orders.status = 'PROCESSING'
    GROUP BY providers.name ORDER BY providers.name`,
});

/** Counts the imported orders that are still open, by provider; null: by hand. */
export function countOpenByProvider(
  reader: Reader,
): { provider: string | null; orders: number; oldestAt: number }[] {
  return reader.all(OPEN_BY_PROVIDER);
}
