// Visitors who asked for an account and wait for the operator.

import type { Reader } from "../port/port.ts";
import { fields, query, select } from "../port/query.ts";
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

export function findRegistration(reader: Reader, id: string): Registration | undefined {
  return reader.row(registrations.byKey, id);
}

export function findRegistrationByEmail(reader: Reader, email: string): Registration | undefined {
  return reader.row(registrations.byEmail, email);
}

/** All registrations, the oldest first. A setting limits their number. */
export function listRegistrations(reader: Reader): Registration[] {
  return reader.all(ALL);
}

export function countRegistrations(reader: Reader): number {
  return reader.one(COUNT)!.count;
}
