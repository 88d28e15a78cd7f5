// Uptime: how long services have run on this database in all. Unlike the wall clock it is never set.

import { sql } from "drizzle-orm";
import { type Connection, prepared, type Tx } from "./sqlite/connection.ts";
import { uptime } from "./schema.ts";

const queries = prepared((orm) => ({
  read: orm.select({ milliseconds: uptime.milliseconds }).from(uptime).prepare(),
  add: orm
    .update(uptime)
    .set({ milliseconds: sql`${uptime.milliseconds} + ${sql.placeholder("milliseconds")}` })
    .prepare(),
}));

/** In milliseconds. */
export function readUptime(connection: Connection): number {
  const row = queries(connection).read.get();
  if (!row) throw new Error("the database has no uptime");
  return row.milliseconds;
}

export function addToUptime(tx: Tx, milliseconds: number): void {
  queries(tx).add.run({ milliseconds });
}
