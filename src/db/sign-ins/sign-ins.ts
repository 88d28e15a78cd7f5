// Sessions of a site, failed and unfinished attempts to sign in to it, known networks, and used confirmations.

import type { Failures } from "../../domain/sign-ins/sign-ins.ts";
import type { Reader } from "../port/port.ts";
import { fields, query, select, statement } from "../port/query.ts";
import { nullable, number, text } from "../port/table-definition.ts";
import {
  confirmations,
  type SignInAttempt,
  type SignInSession,
  type SignInTables,
} from "../tables/sign-ins.ts";

const COUNTS = {
  count: number,
  firstAt: nullable(number),
  lastAt: nullable(number),
};
const SELECTED = `count(*) AS "count", min(at) AS "firstAt", max(at) AS "lastAt"`;

export const FORGET_CONFIRMATIONS = statement({
  parameters: { before: number },
  writes: [confirmations],
  text: "DELETE FROM confirmations WHERE at < :before",
});

export type SignInRows = ReturnType<typeof signInRows>;

/** Returns the queries of a site's sign-ins. */
export function signInRows({ codes, sessions, networks, attempts }: SignInTables) {
  const person = sessions.columns.find(({ field }) => field === "person")!.name;
  const SESSIONS = query({
    columns: fields(sessions),
    text: `SELECT ${select(sessions)} FROM ${sessions.name} ORDER BY seen_at DESC, id`,
  });
  const SESSIONS_OF = query({
    parameters: { person: text },
    columns: fields(sessions),
    text: `SELECT ${select(sessions)} FROM ${sessions.name} WHERE ${person} = :person
      ORDER BY seen_at DESC, id`,
  });
  const CODES_OF = query({
    parameters: { person: text },
    columns: fields(codes),
    text: `SELECT ${select(codes)} FROM ${codes.name} WHERE ${person} = :person`,
  });
  const OF_NETWORK = query({
    parameters: { network: text, since: number },
    columns: COUNTS,
    text: `SELECT ${SELECTED} FROM ${attempts.name} WHERE network = :network AND at > :since`,
  });
  const OF_NAME = query({
    parameters: { nameTag: number, since: number },
    columns: COUNTS,
    text: `SELECT ${SELECTED} FROM ${attempts.name} WHERE name_tag = :nameTag AND at > :since`,
  });
  // The sum keeps the index of names from being used: an attack on one name leaves thousands of rows there, but few of
  // one network.
  const OF_PAIR = query({
    parameters: { nameTag: number, network: text, since: number },
    columns: COUNTS,
    text: `SELECT ${SELECTED} FROM ${attempts.name}
      WHERE network = :network AND name_tag + 0 = :nameTag AND at > :since`,
  });
  const KNOWN_OF = query({
    parameters: { person: text },
    columns: fields(networks),
    text: `SELECT ${select(networks)} FROM ${networks.name} WHERE ${person} = :person
      ORDER BY signed_in_at DESC, network`,
  });
  const ATTEMPTS = query({
    parameters: { below: number, limit: number },
    columns: fields(attempts),
    text: `SELECT ${select(attempts)} FROM ${attempts.name} WHERE seq < :below
      ORDER BY seq DESC LIMIT :limit`,
  });
  return {
    /**
     * Deletes old attempts, except wrong codes that still count, so that a flood of other attempts cannot push them
     * out. `firstCodeTag`: tags from this number on are of codes.
     */
    FORGET_ATTEMPTS: statement({
      parameters: { before: number, firstCodeTag: number, since: number },
      writes: [attempts],
      text: `DELETE FROM ${attempts.name}
        WHERE seq <= :before AND NOT (name_tag >= :firstCodeTag AND at > :since)`,
    }),
    END_SESSIONS: statement({ writes: [sessions], text: `DELETE FROM ${sessions.name}` }),

    findSession: (reader: Reader, id: string): SignInSession | undefined =>
      reader.row(sessions.byKey, id),
    /** All sessions, the most recently used first. */
    listSessions: (reader: Reader): SignInSession[] => reader.all(SESSIONS),
    listSessionsOf: (reader: Reader, of: string): SignInSession[] =>
      reader.all(SESSIONS_OF, { person: of }),
    listRecoveryCodes: (reader: Reader, of: string) => reader.all(CODES_OF, { person: of }),
    /** Counts attempts from an address's network after `since`. */
    failuresOfNetwork: (reader: Reader, network: string, since: number): Failures =>
      reader.one(OF_NETWORK, { network, since })!,
    /** Counts attempts with a name after `since`. */
    failuresOfName: (reader: Reader, nameTag: number, since: number): Failures =>
      reader.one(OF_NAME, { nameTag, since })!,
    /** Counts attempts with a name from an address's network after `since`. */
    failuresOfPair: (reader: Reader, nameTag: number, network: string, since: number): Failures =>
      reader.one(OF_PAIR, { nameTag, network, since })!,
    findKnownNetwork: (reader: Reader, of: string, network: string) =>
      reader.row(networks.byKey, of, network),
    /** The networks from which a person signed in, the most recent first. */
    listKnownNetworks: (reader: Reader, of: string) => reader.all(KNOWN_OF, { person: of }),
    /** Attempts with numbers lower than `below`, newest first. */
    listAttempts: (reader: Reader, below: number, limit: number): SignInAttempt[] =>
      reader.all(ATTEMPTS, { below, limit }),
  };
}
