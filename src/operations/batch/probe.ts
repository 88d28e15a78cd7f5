// A write without effect, to find out whether the database is writable.

import type { Tx } from "../../db/port/port.ts";
import { statement } from "../../db/port/query.ts";

const TOUCH = statement({
  writes: [],
  text: "UPDATE uptime SET milliseconds = milliseconds",
});

/** Writes without changing anything. Like every write, it needs disk space and a flush to disk. */
export function probe(tx: Tx): null {
  tx.run(TOUCH);
  return null;
}
