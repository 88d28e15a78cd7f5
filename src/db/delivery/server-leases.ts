// The servers of a database. Each has a row with a lease that it renews while it runs. Clocks do not decide whether a
// server has ended: another server deletes the row after seeing no renewal for LEASE_MS (writer/lease.ts).

import type { Reader } from "../port/port.ts";
import { fields, query, select } from "../port/query.ts";
import { type Server, servers } from "../tables/database.ts";

/** Duration of a lease from each renewal. A server is considered dead if no renewal was seen for this time. */
export const LEASE_MS = 30_000;

const ALL = query({
  columns: fields(servers),
  text: `SELECT ${select(servers)} FROM servers ORDER BY started_at, id`,
});

/** All servers, the longest-running first. */
export function listServers(reader: Reader): Server[] {
  return reader.all(ALL);
}
