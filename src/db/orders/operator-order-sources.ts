// Sources of order numbers for the operator's list: SQL for the newest `:limit` order numbers from `:first` to `:last`,
// read from the index that fits the filters best.

import type { Placement } from "../../domain/delivery/deliveries.ts";
import { ORDER_STATUSES, type OrderStatus } from "../../domain/orders/order-statuses.ts";
import { newestOf } from "../port/newest-entries.ts";
import type { OperatorOrderFilter } from "./operator-order-filter.ts";
import { ROWS_LIMIT } from "../port/pages.ts";
import { type Dialect, isOneOf } from "../port/query.ts";

/** Limit for orders examined for a page when no index serves the filters, which takes 5 ms. */
const EXAMINED_LIMIT = 5000;
/** Limit for lists by status: up to this many orders are merged from each of this many resellers. */
const EXAMINED_OF_STATUS_LIMIT = 100;

/** A filter with a single value, which can be checked for each order. */
type Given = Exclude<keyof OperatorOrderFilter, "window" | "ids">;
/** A filter, or `live`, which excludes test orders. */
type Condition = Given | "live";

/** An index from which the numbers of a list are read, and the filters that are still to be applied. */
export interface Source {
  /** Sources with the same key have the same SQL. */
  key: string;
  numbers(byTime: boolean, dialect: Dialect): string;
  /** The filters that the source does not apply. The list applies them to the orders with these numbers. */
  remaining: Condition[];
  /** Maximum of `:limit`. */
  most: number;
}

/** The statuses that orders with a placement can have, by a CHECK of the table. */
const STATUSES_OF: Partial<Record<Placement, readonly OrderStatus[]>> = {
  queued: ["PENDING", "CANCELLED"],
  sending: ["PENDING"],
  unknown: ["PENDING", "CANCELLED"],
  refused: ["FAILED"],
  expired: ["FAILED"],
};

const CONDITIONS: readonly Given[] = [
  "status",
  "resellerAccount",
  "service",
  "providerId",
  "placement",
  "reference",
  "providerOrder",
  "late",
  "link",
  "test",
];

/**
 * Chooses the source that fits a filter best. `counted`: limit for orders that are examined to be counted. Lists by
 * status only, which merge the orders of many resellers, are too slow for that.
 */
export function orderSource(filter: OperatorOrderFilter, counted?: number): Source {
  const given: Condition[] = CONDITIONS.filter((name) => isGiven(filter[name]));
  // An id also finds test orders, and an account has either only test orders or only live ones.
  if (!filter.test && !filter.ids && !isGiven(filter.resellerAccount)) given.push("live");
  const source = (
    key: string,
    applied: readonly Condition[],
    numbers: (byTime: boolean, dialect: Dialect, most: number) => string,
    examined = EXAMINED_LIMIT,
  ): Source => {
    const remaining = given.filter((name) => !applied.includes(name));
    const most = counted ?? (remaining.length > 0 ? examined : ROWS_LIMIT + 1);
    return { key: `${key} ${most}`, remaining, most, numbers: (...how) => numbers(...how, most) };
  };
  if (filter.ids) return source("ids", [], named);
  if (isGiven(filter.reference)) return source("reference", ["reference"], withReference);
  if (isGiven(filter.providerOrder)) return source("provider order", ["providerOrder"], atProvider);
  if (filter.late) return source("late", ["late"], reportedLate);
  if (filter.status === "PENDING" && filter.placement === "unknown") {
    return source("unknown", ["status", "placement"], unknown);
  }
  const statuses = filter.status
    ? [filter.status]
    : ((filter.placement && STATUSES_OF[filter.placement]) ?? null);
  if (isGiven(filter.resellerAccount)) {
    return source(
      `reseller ${statuses?.join() ?? "all"}`,
      ["status", "resellerAccount"],
      (byTime, dialect, most) =>
        selectOfReseller(statuses ?? ORDER_STATUSES, byTime, dialect, most),
    );
  }
  if (statuses === null || counted !== undefined) return source("all", [], all);
  return source(
    `statuses ${statuses.join()}`,
    ["status"],
    (byTime, dialect) => selectOfStatuses(statuses, byTime, dialect),
    EXAMINED_OF_STATUS_LIMIT,
  );
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false;
}

/** SQL for the time window. Only for PostgreSQL, where a span may contain rows of other times, which must not count. */
function inWindow(byTime: boolean, dialect: Dialect): string {
  return byTime && dialect === "postgres"
    ? "AND coalesce(created_at BETWEEN :from AND :to, FALSE)"
    : "";
}

const NEWEST_FIRST = "ORDER BY order_id DESC LIMIT :limit";

function all(byTime: boolean, dialect: Dialect): string {
  return `SELECT order_id FROM orders
    WHERE order_id BETWEEN :first AND :last ${inWindow(byTime, dialect)} ${NEWEST_FIRST}`;
}

function named(byTime: boolean, dialect: Dialect): string {
  const window = inWindow(byTime, dialect);
  return `SELECT order_id FROM (
      SELECT order_id FROM orders WHERE order_id IN (:numbers) ${window}
      UNION SELECT order_id FROM orders WHERE id IN (:ids) ${window}
    ) AS named WHERE order_id BETWEEN :first AND :last ${NEWEST_FIRST}`;
}

/** SQL for the orders with a reference. References are unique per reseller: the index is searched for each reseller. */
function withReference(byTime: boolean, dialect: Dialect): string {
  const resellers = "SELECT account FROM users WHERE parent_account IS NULL";
  return `SELECT order_id FROM orders
    WHERE ${isOneOf("reseller_account", resellers, dialect)} AND reference = :reference
      AND order_id BETWEEN :first AND :last ${inWindow(byTime, dialect)} ${NEWEST_FIRST}`;
}

function atProvider(byTime: boolean, dialect: Dialect): string {
  const providers = "SELECT provider_id FROM providers";
  return `SELECT order_id FROM orders
    WHERE ${isOneOf("provider_id", providers, dialect)} AND provider_order = :providerOrder
      AND order_id BETWEEN :first AND :last ${inWindow(byTime, dialect)} ${NEWEST_FIRST}`;
}

function reportedLate(byTime: boolean, dialect: Dialect): string {
  // The window applies to the time of the order, not to that of the report.
  const order = `SELECT 1 FROM orders WHERE orders.order_id = late_reports.order_id`;
  const isInWindow = `AND EXISTS (${order} AND orders.created_at BETWEEN :from AND :to)`;
  return `SELECT DISTINCT order_id FROM late_reports
    WHERE decision IS NULL AND order_id BETWEEN :first AND :last
    ${byTime && dialect === "postgres" ? isInWindow : ""} ${NEWEST_FIRST}`;
}

/** SQL for the orders whose submission is unknown. Repeats the conditions of orders_unknown, so that it is used. */
function unknown(byTime: boolean, dialect: Dialect): string {
  return `SELECT order_id FROM orders WHERE placement = 'unknown' AND status = 'PENDING'
      AND order_id BETWEEN :first AND :last ${inWindow(byTime, dialect)} ${NEWEST_FIRST}`;
}

function selectOfReseller(
  statuses: readonly OrderStatus[],
  byTime: boolean,
  dialect: Dialect,
  most: number,
): string {
  const parts = statuses.map((status) => ({
    values: { reseller_account: ":account", status: `'${status}'` },
    where: [],
  }));
  return newestOf({ table: "orders", number: "order_id", parts, byTime, most }, dialect);
}

/**
 * SQL for the orders with these statuses. The only index by status begins with the reseller. The newest `:limit` orders
 * belong to the `:limit` resellers whose last orders are newest. One search for each reseller finds those resellers,
 * and `:limit` entries of each are merged.
 */
function selectOfStatuses(
  statuses: readonly OrderStatus[],
  byTime: boolean,
  dialect: Dialect,
): string {
  const wanted = statuses.map((status) => `SELECT '${status}' AS wanted`).join(" UNION ALL ");
  const entries = `SELECT order_id FROM orders
    WHERE reseller_account = account AND ${spanOfStatus(dialect)} ${inWindow(byTime, dialect)}
    ORDER BY ${dialect === "sqlite" ? "" : "status DESC, "}order_id DESC`;
  const heads = `SELECT account, wanted FROM (
      SELECT account, wanted, (${entries} LIMIT 1) AS newest
      FROM users CROSS JOIN (${wanted}) AS statuses WHERE parent_account IS NULL
    ) AS resellers WHERE newest IS NOT NULL ORDER BY newest DESC LIMIT :limit`;
  const found =
    dialect === "sqlite"
      ? `SELECT found.order_id FROM (${heads}) AS heads CROSS JOIN orders AS found
          ON found.order_id IN (${entries} LIMIT :limit)`
      : `SELECT found.order_id FROM (${heads}) AS heads
          CROSS JOIN LATERAL (${entries} LIMIT :limit) AS found`;
  return `SELECT order_id FROM (${found}) AS entries ${NEWEST_FIRST}`;
}

/** SQL for a span of a status. Comparing both columns makes PostgreSQL use the index: see newest-entries.ts. */
function spanOfStatus(dialect: Dialect): string {
  return dialect === "sqlite"
    ? "status = wanted AND order_id BETWEEN :first AND :last"
    : "(status, order_id) >= (wanted, :first) AND (status, order_id) <= (wanted, :last)";
}
