// The connections of a server, as pg_stat_activity shows them.

import type { Reader } from "../../port/port.ts";
import { fields, query, select } from "../../port/query.ts";
import { number, text } from "../../port/table-definition.ts";
import { type Server, servers } from "../../tables/database.ts";
import { LEASE_MS } from "../../delivery/server-leases.ts";

/** Limit for the length of a name, which PostgreSQL would truncate. */
const NAME_LIMIT = 63;

const COUNT_SESSIONS = query({
  parameters: { prefix: text },
  columns: { sessions: number },
  text: `SELECT count(*) AS sessions FROM pg_stat_activity
    WHERE datname = current_database() AND starts_with(application_name, :prefix)`,
});

/**
 * Returns the name of a server's sessions in pg_stat_activity. It contains the server's name for people, and its id for
 * other servers.
 */
export function sessionName(id: string, name: string): string {
  return `reseller ${id} ${name}`.slice(0, NAME_LIMIT);
}

export function countSessions(reader: Reader, id: string): number {
  return reader.one(COUNT_SESSIONS, { prefix: sessionName(id, "") })!.sessions;
}

/**
 * Servers that have a connection, or a current lease by the clock of the database. A lease that ends more than LEASE_MS
 * from now was taken by the clock of another primary and does not count.
 */
const RUNNING_SERVERS = query({
  columns: fields(servers),
  text: `SELECT ${select(servers)} FROM servers,
      (SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now) AS clock
    WHERE (lease_until > now AND lease_until <= now + ${LEASE_MS})
      OR EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
        AND starts_with(application_name, 'reseller ' || servers.id || ' '))
    ORDER BY started_at, id`,
});

/**
 * Lists running servers, for commands that must not run beside one. Unlike a server, a command cannot watch leases for
 * long.
 */
export function listRunningServers(reader: Reader): Server[] {
  return reader.all(RUNNING_SERVERS);
}
