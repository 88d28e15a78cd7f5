// When the plans that a connection keeps are to be made anew. A plan suits the size that its tables had when it was made: of
// an empty table reading all of any index costs as little as searching the right one, and such a plan, kept, reads the
// whole of a table that has grown since. So plans end each time a table has doubled by what was inserted here.

import type { AnyTable } from "../table-definition.ts";
import type { Write } from "./write-transaction.ts";

/** Up to so many rows any plan is good enough. */
const FEW_ROWS = 64;

export class TableGrowth {
  readonly #tables = new Map<AnyTable, { rows: number; limit: number }>();

  /** Whether the rows that a table got here have doubled since the last time that one of its had. */
  note(writes: readonly Write[]): boolean {
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
