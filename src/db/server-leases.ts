// The servers of a database: each has a row with a lease that it renews while it runs.

import type { Reader } from "./port.ts";
import { fields, query, select } from "./query.ts";
import type { servers as schema } from "./schema.ts";
import { number } from "./table-definition.ts";
import { servers } from "./tables.ts";

export type Server = typeof schema.$inferSelect;

const LIVE = query({
  takes: { now: number },
  gives: fields(servers),
  text: `SELECT ${select(servers)} FROM servers WHERE lease_until > :now ORDER BY started_at, id`,
});

const LAPSED = query({
  takes: { before: number },
  gives: fields(servers),
  text: `SELECT ${select(servers)} FROM servers WHERE lease_until < :before ORDER BY id`,
});

/** Those whose lease has not ended, the longest-serving first. */
export function listLiveServers(reader: Reader, now: number): Server[] {
  return reader.all(LIVE, { now });
}

/** Those whose lease ended before a time. */
export function listLapsedServers(reader: Reader, before: number): Server[] {
  return reader.all(LAPSED, { before });
}
