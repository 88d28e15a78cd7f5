// Decides when a connection must make its plans anew. A plan suits the size that its tables had when it was made. A
// plan for an empty table may read a whole index, which costs nothing. As the table grows, the same plan reads ever
// more. So plans are discarded each time the inserts of this lane into a table have doubled.

import type { AnyTable } from "../../port/table-definition.ts";
import type { Write } from "../batch/write-transaction.ts";

/** Number of rows below which any plan is good enough. */
const FEW_ROWS = 64;

export class TableGrowth {
  readonly #tables = new Map<AnyTable, { rows: number; limit: number }>();

  /** Counts inserted rows. Returns whether the count of a table has doubled since the last time. */
  add(writes: readonly Write[]): boolean {
    let isDoubled = false;
    for (const { kind, table } of writes) {
      if (kind !== "insert") continue;
      let grown = this.#tables.get(table);
      if (!grown) this.#tables.set(table, (grown = { rows: 0, limit: FEW_ROWS }));
      grown.rows += 1;
      if (grown.rows < grown.limit) continue;
      grown.limit *= 2;
      isDoubled = true;
    }
    return isDoubled;
  }
}
