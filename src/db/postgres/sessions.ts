// The connections of a server, as PostgreSQL shows them.

import type { Reader } from "../port.ts";
import { query } from "../query.ts";
import { number, text } from "../table-definition.ts";

/** PostgreSQL cuts a longer one off. */
const NAME_LIMIT = 63;

const COUNT = query({
  takes: { prefix: text },
  gives: { sessions: number },
  text: `SELECT count(*) AS sessions FROM pg_stat_activity
    WHERE datname = current_database() AND starts_with(application_name, :prefix)`,
});

/** What pg_stat_activity shows of a server: for people by its name, for other servers by its id. */
export function sessionName(id: string, name: string): string {
  return `reseller ${id} ${name}`.slice(0, NAME_LIMIT);
}

export function countSessions(reader: Reader, id: string): number {
  return reader.one(COUNT, { prefix: sessionName(id, "") })!.sessions;
}
