// Verifies the whole database: balances against the ledger, charges and refunds of orders, statuses against transfers,
// idempotency records against their effects, the schema against the migrations. docs/specification.md#verify.
// Reads only, also while a server runs; memory is bounded at any size and any number of problems.

import { decideTransition } from "../domain/order-transitions.ts";
import { chargeMicros, type OrderStatus } from "../domain/orders.ts";
import type { PriceUnit } from "../domain/services.ts";
import type { Connection } from "../db/sqlite/connection.ts";
import { SCHEMA_CHECK, schemaProblems } from "./schema-check.ts";
import { CHECKS } from "./verify-checks.ts";
import { transactionProblems } from "./verify-transactions.ts";
import { errorCode } from "../domain/refusals.ts";

/** Of one check; further problems are counted, not listed. */
const PROBLEMS_LISTED = 50;
/** 64 MiB: PRAGMA integrity_check reads tables and indexes in turn. */
const CACHE_KIB = 64 * 1024;

export interface Problem {
  /** The rule that is violated. */
  check: string;
  /** What it is about, e.g. `order 12`. */
  subject: string;
  /** What is wrong and by how much. */
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

/** The number of checks, for a progress display. */
export const CHECK_COUNT = Object.keys(CHECKS).length + 3;

/** `progress` is called with the number of checks that are done. */
export async function verify(
  connection: Connection,
  progress: (done: number) => void = () => {},
): Promise<Verification> {
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
    let problemsOfCheck = 0;
    for (const problem of unlessUnreadable(check, problems(), schema.length > 0)) {
      found.problemCount++;
      if (problemsOfCheck++ < PROBLEMS_LISTED) found.problems.push(problem);
    }
  }
  progress(CHECK_COUNT);
  return found;
}

function rowsOf({ sqlite }: Connection, table: string): number {
  return (sqlite.query(`SELECT count(*) AS rows FROM ${table}`).get() as { rows: number }).rows;
}

/**
 * A check that meets a damaged page, or a table that a differing schema lacks, is a problem itself; the other checks go
 * on.
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

/** Recomputes charges and partial refunds from price, quantity and remains: the products exceed SQLite's integers. */
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

/** The refund that the status of an order implies. */
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
