// Tables of the database itself: repeated requests, its clock, its servers and its numbers.

import { integer, text } from "drizzle-orm/sqlite-core";
import { type RowOf, table } from "../port/table-definition.ts";

export const idempotency = table(
  "idempotency",
  {
    seq: integer().primaryKey(),
    resellerAccount: integer().notNull(),
    key: text().notNull(),
    requestHash: text().notNull(),
    orderId: integer(),
    transferSeq: integer(),
    responseStatus: integer(),
    responseBody: text(),
    results: text(),
    createdAt: integer().notNull(),
    uptime: integer().notNull().default(0),
  },
  {
    key: ["seq"],
    numberField: "seq",
    unique: { byReseller: ["resellerAccount", "key"] },
    lock: ({ resellerAccount }) => resellerAccount,
  },
);

export type IdempotencyRecord = RowOf<typeof idempotency>;

export const uptime = table(
  "uptime",
  {
    id: integer().primaryKey(),
    milliseconds: integer().notNull(),
  },
  { key: ["id"], cacheable: true },
);

/** The running server processes. Each writes its own row. Any may delete a row whose lease has ended. */
export const servers = table(
  "servers",
  {
    id: text().primaryKey(),
    name: text().notNull(),
    startedAt: integer().notNull(),
    leaseUntil: integer().notNull(),
  },
  { key: ["id"] },
);

export type Server = RowOf<typeof servers>;

/**
 * The rows that have an earlier time than the row before, because the clock was set back. Exists only on SQLite, which
 * writes it in db/sqlite/clock-steps.ts.
 */
export const clockSteps = table(
  "clock_steps",
  {
    ledger: text().$type<"orders" | "transfers">().notNull(),
    first: integer().notNull(),
    time: integer().notNull(),
    timeBefore: integer().notNull(),
  },
  { key: ["ledger", "first"] },
);

/** The number up to which a table's numbers are never issued again. Exists only on SQLite. */
export const numberFloors = table(
  "number_floors",
  {
    tableName: text().primaryKey(),
    floor: integer().notNull(),
  },
  { key: ["tableName"] },
);
