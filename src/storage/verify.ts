// docs/specification.md#verify. Recomputes what the database claims: every balance from the ledger, every order's charge and refunds, every
// status against its transfers, every used key against its effect, its schema from the migrations. Reads only, beside a running server too;
// memory stays bounded whatever the size and however much is off.

import { decideTransition } from "../domain/order-transitions.ts";
import { chargeMicros, type OrderStatus } from "../domain/orders.ts";
import type { PriceUnit } from "../domain/services.ts";
import type { Connection } from "../db/connection.ts";
import { SCHEMA_CHECK, schemaProblems } from "./schema-check.ts";
import { CHECKS } from "./verify-checks.ts";
import { transactionProblems } from "./verify-transactions.ts";
import { errorCode } from "../domain/errors.ts";

/** Of one check: what is off beyond this is counted, not listed. */
const PROBLEMS_LISTED = 50;
/** Three times the default: the check of the file goes back and forth between tables and indexes. */
const CACHE_KIB = 64 * 1024;

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
  usedKeys: number;
  /** The first PROBLEMS_LISTED of each check. */
  problems: Problem[];
  problemCount: number;
}

/** How many checks there are, for whoever shows the progress. */
export const CHECK_COUNT = Object.keys(CHECKS).length + 3;

/** `progress` is told how many checks are done. */
export function verify(
  connection: Connection,
  progress: (done: number) => void = () => {},
): Verification {
  const { sqlite } = connection;
  sqlite.run(`PRAGMA cache_size = -${CACHE_KIB}`);
  const schema = schemaProblems(sqlite);
  const count = (table: string) =>
    schema.some(({ subject }) => subject === `table ${table}`) ? 0 : rowsOf(connection, table);
  const found: Verification = {
    users: count("users"),
    orders: count("orders"),
    transfers: count("transfers"),
    usedKeys: count("idempotency"),
    problems: [],
    problemCount: 0,
  };
  const checks = [
    { check: SCHEMA_CHECK, problems: () => schema },
    ...Object.entries(CHECKS).map(([check, query]) => ({
      check,
      problems: () => queryProblems(connection, check, query),
    })),
    { check: "charges and refunds", problems: () => termProblems(connection) },
    { check: "statements add up", problems: () => transactionProblems(connection) },
  ];
  for (const [done, { check, problems }] of checks.entries()) {
    progress(done);
    let ofThis = 0;
    for (const problem of unlessUnreadable(check, problems(), schema.length > 0)) {
      found.problemCount++;
      if (ofThis++ < PROBLEMS_LISTED) found.problems.push(problem);
    }
  }
  progress(CHECK_COUNT);
  return found;
}

function rowsOf({ sqlite }: Connection, table: string): number {
  return (sqlite.query(`SELECT count(*) AS rows FROM ${table}`).get() as { rows: number }).rows;
}

/**
 * A check that meets a damaged page, or a schema that differs and lacks what it asks for, is a problem itself; the
 * others still tell what they find.
 */
function* unlessUnreadable(
  check: string,
  problems: Iterable<Problem>,
  schemaDiffers: boolean,
): Generator<Problem> {
  try {
    yield* problems;
  } catch (error) {
    const code = errorCode(error);
    const lacksTable = schemaDiffers && code === "SQLITE_ERROR";
    if (!code.startsWith("SQLITE_CORRUPT") && !lacksTable) throw error;
    yield { check, subject: "file", problem: `cannot be read: ${String(error)}` };
  }
}

function* queryProblems({ sqlite }: Connection, check: string, query: string): Generator<Problem> {
  for (const row of sqlite.query(query).iterate()) {
    yield { check, ...(row as Omit<Problem, "check">) };
  }
}

interface Terms {
  orderId: number;
  priceMicros: number;
  per: PriceUnit;
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
      return decideTransition(before, "PARTIAL", order.remains).refundMicros;
    }
    default:
      return 0;
  }
}
