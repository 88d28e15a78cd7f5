// Recomputes what the database claims: every balance from the ledger, every order's charge and refunds,
// every status against its transfers. Reads only; needs one consistent view, so it runs in one transaction.

import { chargeMicros, decideMove, type OrderStatus } from "../domain/orders.ts";
import type { Per } from "../domain/services.ts";
import type { Connection } from "./connection.ts";

export interface Problem {
  /** Which rule is broken. */
  check: string;
  /** What it is about, e.g. `order 12`. */
  subject: string;
  /** What is off and by how much. */
  problem: string;
}

export interface Verification {
  users: number;
  orders: number;
  transfers: number;
  problems: Problem[];
}

/** Each query returns a row (subject, problem) for everything that breaks its rule. */
const CHECKS: Record<string, string> = {
  "balances equal the ledger": `
    SELECT 'user ' || username AS subject,
      'balance is ' || balance_micros || ' micros, its transfers add up to ' || total AS problem
    FROM (
      SELECT username, balance_micros,
        coalesce((SELECT sum(amount_micros) FROM transfers WHERE credit_account = users.account AND credit_account > 2), 0)
        - coalesce((SELECT sum(amount_micros) FROM transfers WHERE debit_account = users.account AND debit_account > 2), 0)
        AS total
      FROM users
    ) WHERE balance_micros <> total`,
  "every charge is one transfer": `
    SELECT 'order ' || orders.order_id AS subject,
      'charge is ' || charge_micros || ' micros, transferred from its reseller were '
        || coalesce(amount_micros, 0) AS problem
    FROM orders LEFT JOIN transfers
      ON transfers.order_id = orders.order_id AND kind = 'order'
      AND debit_account = reseller_account AND credit_account = 2
    WHERE charge_micros <> coalesce(amount_micros, 0)`,
  "refunds are what was transferred back": `
    SELECT 'order ' || order_id AS subject,
      'refunded is ' || refunded_micros || ' micros, transferred back were ' || total AS problem
    FROM (
      SELECT orders.order_id, refunded_micros,
        coalesce((
          SELECT sum(amount_micros) FROM transfers
          WHERE transfers.order_id = orders.order_id AND kind IN ('refund', 'partial_refund')
            AND debit_account = 2 AND credit_account = reseller_account
        ), 0) AS total
      FROM orders
    ) WHERE refunded_micros <> total`,
  "refunds never exceed the charge": `
    SELECT 'order ' || order_id AS subject,
      'refunded ' || refunded_micros || ' of ' || charge_micros || ' micros' AS problem
    FROM orders WHERE refunded_micros > charge_micros`,
  "order transfers are between the order's reseller and sales": `
    SELECT 'transfer ' || seq AS subject, kind || ' between accounts ' || debit_account || ' and ' || credit_account AS problem
    FROM transfers JOIN orders USING (order_id)
    WHERE NOT CASE kind
      WHEN 'order' THEN debit_account = reseller_account AND credit_account = 2
      ELSE debit_account = 2 AND credit_account = reseller_account END`,
  "credits and debits are between a user and cash": `
    SELECT 'transfer ' || seq AS subject, kind || ' between accounts ' || debit_account || ' and ' || credit_account AS problem
    FROM transfers
    WHERE order_id IS NULL AND NOT (
      (debit_account = 1 AND credit_account > 2)
      OR (kind = 'adjustment' AND credit_account = 1 AND debit_account > 2))`,
  "the last event of an order is its status": `
    SELECT 'order ' || order_id AS subject, 'status is ' || status || ', its last event led to ' || to_status AS problem
    FROM orders JOIN order_events USING (order_id)
    WHERE seq = (SELECT max(seq) FROM order_events AS later WHERE later.order_id = orders.order_id)
      AND status <> to_status`,
  "an order that moved has an event": `
    SELECT 'order ' || order_id AS subject, 'status is ' || status || ' without an event' AS problem
    FROM orders
    WHERE status NOT IN ('PENDING', 'PROCESSING')
      AND NOT EXISTS (SELECT 1 FROM order_events WHERE order_events.order_id = orders.order_id)`,
  "events are moves of the state table": `
    SELECT 'order ' || order_id AS subject, 'an event moved it from ' || from_status || ' to ' || to_status AS problem
    FROM order_events
    WHERE (from_status, to_status) NOT IN (VALUES
      ('PENDING', 'PROCESSING'), ('PENDING', 'FAILED'), ('PENDING', 'CANCELLED'),
      ('PROCESSING', 'COMPLETED'), ('PROCESSING', 'PARTIAL'), ('PROCESSING', 'FAILED'), ('PROCESSING', 'CANCELLED'),
      ('COMPLETED', 'REFUNDED'), ('PARTIAL', 'REFUNDED'))`,
  "every event begins where the one before it ended": `
    SELECT 'order ' || order_id AS subject, 'an event begins at ' || from_status || ', the one before it ended at ' || before AS problem
    FROM (
      SELECT order_id, from_status, lag(to_status) OVER (PARTITION BY order_id ORDER BY seq) AS before
      FROM order_events
    ) WHERE before <> from_status`,
  "nothing remains of a completed order": `
    SELECT 'order ' || order_id AS subject, 'COMPLETED with ' || remains || ' remaining' AS problem
    FROM orders WHERE status = 'COMPLETED' AND remains <> 0`,
  "orders belong to resellers": `
    SELECT 'order ' || order_id AS subject, 'belongs to the child user ' || username AS problem
    FROM orders JOIN users ON account = reseller_account WHERE parent_account IS NOT NULL`,
  "keys belong to resellers": `
    SELECT 'key ' || keys.id AS subject, 'belongs to the child user ' || username AS problem
    FROM keys JOIN users ON account = reseller_account WHERE parent_account IS NOT NULL`,
  "parents are resellers": `
    SELECT 'user ' || child.username AS subject, 'parent ' || parent.username || ' is a child user' AS problem
    FROM users AS child JOIN users AS parent ON parent.account = child.parent_account
    WHERE parent.parent_account IS NOT NULL`,
  "references lead somewhere": `
    SELECT "table" || ' row ' || coalesce(rowid, '?') AS subject, 'refers to a missing row of ' || parent AS problem
    FROM pragma_foreign_key_check`,
  "the file is intact": `
    SELECT 'file' AS subject, integrity_check AS problem
    FROM pragma_integrity_check WHERE integrity_check <> 'ok'`,
};

export function verify(connection: Connection): Verification {
  const { sqlite } = connection;
  sqlite.run("BEGIN");
  try {
    const count = (table: string) =>
      (sqlite.query(`SELECT count(*) AS rows FROM ${table}`).get() as { rows: number }).rows;
    const problems = Object.entries(CHECKS).flatMap(([check, query]) =>
      unlessUnreadable(check, () => {
        const found = sqlite.query(query).all() as Omit<Problem, "check">[];
        return found.map((problem) => ({ check, ...problem }));
      }),
    );
    problems.push(...unlessUnreadable("terms", () => [...termProblems(connection)]));
    return {
      users: count("users"),
      orders: count("orders"),
      transfers: count("transfers"),
      problems,
    };
  } finally {
    // A commit reports a damaged page again.
    sqlite.run("ROLLBACK");
  }
}

/** A check that meets a damaged page is a problem itself; the others still tell what they find. */
function unlessUnreadable(check: string, find: () => Problem[]): Problem[] {
  try {
    return find();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (!code.startsWith("SQLITE_CORRUPT")) throw error;
    return [{ check, subject: "file", problem: `cannot be read: ${String(error)}` }];
  }
}

interface Terms {
  orderId: number;
  priceMicros: number;
  per: Per;
  quantity: number;
  chargeMicros: number;
  refundedMicros: number;
  status: OrderStatus;
  remains: number;
}

/** Charges and partial refunds again from price, quantity and remains: products beyond SQL's integers. */
function* termProblems({ sqlite }: Connection): Generator<Problem> {
  const rows = sqlite
    .query(
      `SELECT order_id AS orderId, price_micros AS priceMicros, per, quantity,
        charge_micros AS chargeMicros, refunded_micros AS refundedMicros, status, remains FROM orders`,
    )
    .iterate() as IterableIterator<Terms>;
  for (const order of rows) {
    const subject = `order ${order.orderId}`;
    const charge = chargeMicros(order.priceMicros, order.per, order.quantity);
    if (charge !== order.chargeMicros) {
      const problem = `charge is ${order.chargeMicros} micros, price and quantity make ${charge}`;
      yield { check: "charges follow from the price", subject, problem };
    }
    const refunded = refundOf(order);
    if (refunded !== order.refundedMicros) {
      const problem = `refunded is ${order.refundedMicros} micros, ${order.status} makes ${refunded}`;
      yield { check: "refunds follow from the status", subject, problem };
    }
  }
}

/** What an order in its state must have refunded by now. */
function refundOf(order: Terms): number {
  switch (order.status) {
    case "FAILED":
    case "CANCELLED":
    case "REFUNDED":
      return order.chargeMicros;
    case "PARTIAL": {
      const before = { ...order, status: "PROCESSING" as const, refundedMicros: 0 };
      return decideMove(before, "PARTIAL", order.remains).refundMicros;
    }
    default:
      return 0;
  }
}
