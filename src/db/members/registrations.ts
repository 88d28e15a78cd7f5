// Visitors who asked for an account and wait for the operator.

import type { Reader, Tx } from "../port/port.ts";
import { fields, query, select, statement } from "../port/query.ts";
import { number, text } from "../port/table-definition.ts";
import { type Registration, registrations } from "../tables/members.ts";

const ALL = query({
  columns: fields(registrations),
  text: `SELECT ${select(registrations)} FROM registrations WHERE confirm_until IS NULL
    ORDER BY created_at, id`,
});

// Each reads an index only.
const COUNT_ALL = `(SELECT count(*) FROM registrations)`;
const COUNT_UNPROVED = `(SELECT count(*) FROM registrations WHERE confirm_until IS NOT NULL)`;

const COUNTS = query({
  columns: { waiting: number, unproved: number },
  text: `SELECT ${COUNT_ALL} - ${COUNT_UNPROVED} AS "waiting", ${COUNT_UNPROVED} AS "unproved"`,
});

const OF_NETWORK = query({
  parameters: { network: text },
  columns: { waiting: number, unproved: number },
  text: `SELECT count(CASE WHEN confirm_until IS NULL THEN 1 END) AS "waiting",
      count(CASE WHEN confirm_until IS NOT NULL THEN 1 END) AS "unproved"
    FROM registrations WHERE network = :network`,
});

const CONDITIONS: Record<RegistrationState, string> = {
  waiting: "confirm_until IS NULL",
  unproved: "confirm_until IS NOT NULL",
};

/** The network with the most visitors, with its newest or oldest one. */
const busiest = (state: RegistrationState, order: "min" | "max") =>
  query({
    columns: { count: number, createdAt: number, network: text },
    text: `SELECT count(*) AS "count", ${order}(created_at) AS "createdAt", network AS "network"
      FROM registrations WHERE network IS NOT NULL AND ${CONDITIONS[state]}
      GROUP BY network ORDER BY count(*) DESC, ${order}(created_at), network LIMIT 1`,
  });
const BUSIEST = { waiting: busiest("waiting", "max"), unproved: busiest("unproved", "min") };

const at = (state: RegistrationState) =>
  query({
    parameters: { network: text, createdAt: number },
    columns: fields(registrations),
    text: `SELECT ${select(registrations)} FROM registrations
      WHERE network = :network AND created_at = :createdAt AND ${CONDITIONS[state]} ORDER BY id LIMIT 1`,
  });
const AT = { waiting: at("waiting"), unproved: at("unproved") };

const OLDEST_UNPROVED = query({
  columns: fields(registrations),
  text: `SELECT ${select(registrations)} FROM registrations WHERE confirm_until IS NOT NULL
    ORDER BY created_at, id LIMIT 1`,
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

/** `waiting`: for the operator. `unproved`: those who have not opened the link that proves their address. */
export type RegistrationState = "waiting" | "unproved";

export function countRegistrations(reader: Reader): Record<RegistrationState, number> {
  return reader.one(COUNTS)!;
}

/** Counts the registrations that wait for the operator. */
export function countWaiting(reader: Reader): number {
  return countRegistrations(reader).waiting;
}

/**
 * Finds the registration that makes room for one from `network`: the newest that waits, or the oldest that is unproved,
 * of the network that has the most, if that has more than the other would then have. So one network cannot take all
 * places, and who is alone at its network is never pushed out by one who is too.
 */
export function findOfBusiest(
  reader: Reader,
  state: RegistrationState,
  network: string,
): Registration | undefined {
  const found = reader.one(BUSIEST[state]);
  const own = reader.one(OF_NETWORK, { network })![state];
  if (!found || found.count <= own + 1) return undefined;
  return reader.one(AT[state], found);
}

export function findOldestUnproved(reader: Reader): Registration | undefined {
  return reader.one(OLDEST_UNPROVED);
}
