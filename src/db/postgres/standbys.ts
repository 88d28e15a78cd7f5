// The standbys that are connected to the primary.

import { query } from "../query.ts";
import type { Reader } from "../port.ts";
import { number } from "../table-definition.ts";

export interface Standbys {
  /** For which commits wait. */
  synchronous: number;
  asynchronous: number;
  /** Their state is shown to administrators and members of pg_monitor alone. */
  hidden: number;
}

const STANDBYS = query({
  gives: { synchronous: number, asynchronous: number, hidden: number },
  text: `SELECT count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')) AS synchronous,
      count(*) FILTER (WHERE sync_state IN ('async', 'potential')) AS asynchronous,
      count(*) FILTER (WHERE sync_state IS NULL) AS hidden
    FROM pg_stat_replication`,
});

export function readStandbys(reader: Reader): Standbys {
  return reader.one(STANDBYS)!;
}
