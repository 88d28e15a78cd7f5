// Figures of a user for the operator: orders by status, last use of a key, child users and granted prices.

import { ORDER_STATUSES, type OrderStatus } from "../../domain/orders/order-statuses.ts";
import type { Reader } from "../port/port.ts";
import { fields, query, selectAs } from "../port/query.ts";
import { nullable, number, text, textOf } from "../port/table-definition.ts";
import { users } from "../tables/users.ts";

export interface UserFigures {
  /** Orders by status, each counted up to the requested limit. */
  orders: Record<OrderStatus, number>;
  lastOrderAt: number | null;
  keyUsedAt: number | null;
}

const ORDERS = query({
  parameters: { account: number, most: number },
  columns: { status: textOf<OrderStatus>(), orders: number, last: nullable(number) },
  text: ORDER_STATUSES.map(
    (status) => `SELECT '${status}' AS "status",
      (SELECT count(*) FROM (SELECT 1 AS one FROM orders
        WHERE reseller_account = :account AND status = '${status}' LIMIT :most) AS counted) AS "orders",
      (SELECT created_at FROM orders WHERE reseller_account = :account AND status = '${status}'
        ORDER BY order_id DESC LIMIT 1) AS "last"`,
  ).join(" UNION ALL "),
});

const KEY_USED = query({
  parameters: { account: number },
  columns: { keyUsedAt: nullable(number) },
  text: `SELECT max(last_used_at) AS "keyUsedAt" FROM keys WHERE reseller_account = :account`,
});

const CHILDREN = query({
  parameters: { account: number, after: number, limit: number },
  columns: fields(users),
  text: `SELECT ${selectAs(users, "users")} FROM users
    WHERE parent_account IS NOT NULL AND parent_account = :account AND account > :after
    ORDER BY account LIMIT :limit`,
});

const GRANTS = query({
  parameters: { account: number },
  columns: {
    serviceId: text,
    name: text,
    per: text,
    priceMicros: nullable(number),
    listPriceMicros: number,
    isPrivate: number,
  },
  text: `SELECT services.id AS "serviceId", services.name AS "name", services.per AS "per",
      grants.price_micros AS "priceMicros", services.price_micros AS "listPriceMicros",
      services.private AS "isPrivate"
    FROM grants JOIN services ON services.id = grants.service_id
    WHERE grants.reseller_account = :account ORDER BY services.name, services.id`,
});

/** Reads the figures of a user. Counts orders of each status up to `most`. Ten thousand take a millisecond. */
export function readUserFigures(reader: Reader, account: number, most: number): UserFigures {
  const found = reader.all(ORDERS, { account, most });
  const { keyUsedAt } = reader.one(KEY_USED, { account })!;
  const orders = Object.fromEntries(found.map(({ status, orders: count }) => [status, count]));
  const last = Math.max(0, ...found.map((row) => row.last ?? 0)) || null;
  return { orders: orders as Record<OrderStatus, number>, lastOrderAt: last, keyUsedAt };
}

/** A reseller's child users after the account `after`, in the order of creation. */
export function listChildren(reader: Reader, account: number, after: number, limit: number) {
  return reader.all(CHILDREN, { account, after, limit });
}

export interface OwnPrice {
  serviceId: string;
  name: string;
  per: string;
  /** Null: the list price applies. */
  priceMicros: number | null;
  listPriceMicros: number;
  isPrivate: number;
}

/** The services that are granted to a reseller, with or without a price of its own. */
export function listOwnPrices(reader: Reader, account: number): OwnPrice[] {
  return reader.all(GRANTS, { account });
}
