// Floors below which no number is issued again. SQLite alone has them: PostgreSQL's own tools restore its sequences.

import type { Tx } from "./port.ts";
import { numberFloors } from "./tables.ts";

/** A number for each table whose numbers callers and operators know. */
export type Numbers = Record<
  "orders" | "transfers" | "audit" | "services" | "order_requests" | "service_changes",
  number
>;

/** The numbers of `table` continue above `floor`. Only before the database is in use: prepared statements ignore it. */
export function raiseFloor(tx: Tx, table: keyof Numbers, floor: number): void {
  const row = tx.row(numberFloors.byKey, table);
  if (!row) tx.insert(numberFloors, { tableName: table, floor });
  else if (row.floor < floor) tx.update(numberFloors, row, { floor });
}
