// Numbers far above those that were given, within a transaction that has written before.

import type { Numbers } from "../../../src/db/ledger/number-floors.ts";
import type { Tx } from "../../../src/db/port/port.ts";
import { numberFloors } from "../../../src/db/tables/database.ts";

/** SQLite's numbers of `table` continue above `floor`. Only before the database is in use: prepared statements ignore it. */
export function raiseFloor(tx: Tx, table: keyof Numbers, floor: number): void {
  const row = tx.row(numberFloors.byKey, table);
  if (!row) tx.insert(numberFloors, { tableName: table, floor });
  else if (row.floor < floor) tx.update(numberFloors, row, { floor });
}
