// Counts the standbys that are connected to the primary.

import { query } from "../../port/query.ts";
import type { Reader } from "../../port/port.ts";
import { number } from "../../port/table-definition.ts";

export interface Standbys {
  /** Standbys for which commits wait. */
  synchronous: number;
  asynchronous: number;
  /** Standbys whose state is hidden: only administrators and members of pg_monitor see it. */
  hidden: number;
}

const STANDBYS = query({
  columns: { synchronous: number, asynchronous: number, hidden: number },
  text: `SELECT count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')) AS synchronous,
      count(*) FILTER (WHERE sync_state IN ('async', 'potential')) AS asynchronous,
      count(*) FILTER (WHERE sync_state IS NULL) AS hidden
    FROM pg_stat_replication`,
});

export function readStandbys(reader: Reader): Standbys {
  return reader.one(STANDBYS)!;
}
