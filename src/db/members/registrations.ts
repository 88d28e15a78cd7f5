// Visitors who asked for an account and wait for the operator.

import type { Reader, Tx } from "../port/port.ts";
import { fields, query, select, statement } from "../port/query.ts";
import { number } from "../port/table-definition.ts";
import { type Registration, registrations } from "../tables/members.ts";

const ALL = query({
  columns: fields(registrations),
  text: `SELECT ${select(registrations)} FROM registrations WHERE confirm_until IS NULL
    ORDER BY created_at, id`,
});

const COUNT = query({
  columns: { count: number },
  text: `SELECT count(*) AS "count" FROM registrations`,
});

// Both counts read an index only.
const COUNT_WAITING = query({
  columns: { count: number },
  text: `SELECT (SELECT count(*) FROM registrations)
      - (SELECT count(*) FROM registrations WHERE confirm_until IS NOT NULL) AS "count"`,
});

const EXPIRE = statement({
  parameters: { now: number, limit: number },
  writes: [registrations],
  text: `DELETE FROM registrations WHERE id IN (
    SELECT id FROM registrations WHERE confirm_until <= :now ORDER BY confirm_until LIMIT :limit)`,
});

/** Deletes visitors who did not prove their address in time, at most `limit`. Returns how many. */
export function deleteUnconfirmed(tx: Tx, now: number, limit: number): number {
  return tx.run(EXPIRE, { now, limit });
}

export function findRegistration(reader: Reader, id: string): Registration | undefined {
  return reader.row(registrations.byKey, id);
}

export function findRegistrationByEmail(reader: Reader, email: string): Registration | undefined {
  return reader.row(registrations.byEmail, email);
}

/** Registrations that wait for the operator, the oldest first. A setting limits their number. */
export function listRegistrations(reader: Reader): Registration[] {
  return reader.all(ALL);
}

/** Counts all registrations, also those whose address is not proved yet. */
export function countRegistrations(reader: Reader): number {
  return reader.one(COUNT)!.count;
}

/** Counts the registrations that wait for the operator. */
export function countWaiting(reader: Reader): number {
  return reader.one(COUNT_WAITING)!.count;
}
