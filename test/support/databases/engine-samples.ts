// Rules are the same on both engines, and `check` tries each on SQLite. PostgreSQL needs few rows of a table to show that its
// statements do the same; .ci/nightly tries all there too.

import { sampleOf } from "../runs.ts";
import { ENGINE } from "./engine.ts";

/** Returns all rows on SQLite, and on PostgreSQL every `step`-th, at night all. */
export function sampledOnPostgres<Row>(table: readonly Row[], step: number): Row[] {
  return ENGINE === "sqlite" ? [...table] : sampleOf(table, step);
}
