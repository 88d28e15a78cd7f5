// Failed and unfinished attempts to sign in to the panel, known networks, and used confirmations.

import type { Failures } from "../../domain/sign-ins/sign-ins.ts";
import type { Reader } from "../port/port.ts";
import { fields, query, select, statement } from "../port/query.ts";
import { nullable, number, text } from "../port/table-definition.ts";
import {
  confirmations,
  knownNetworks,
  type SignInAttempt,
  signInAttempts,
} from "../tables/administrators.ts";

const COUNTS = {
  count: number,
  firstAt: nullable(number),
  lastAt: nullable(number),
};
const SELECTED = `count(*) AS "count", min(at) AS "firstAt", max(at) AS "lastAt"`;

const OF_NETWORK = query({
  parameters: { network: text, since: number },
  columns: COUNTS,
  text: `SELECT ${SELECTED} FROM sign_in_attempts WHERE network = :network AND at > :since`,
});

const OF_NAME = query({
  parameters: { nameTag: number, since: number },
  columns: COUNTS,
  text: `SELECT ${SELECTED} FROM sign_in_attempts WHERE name_tag = :nameTag AND at > :since`,
});

const OF_PAIR = query({
  parameters: { nameTag: number, network: text, since: number },
  columns: COUNTS,
  text: `SELECT ${SELECTED} FROM sign_in_attempts
    WHERE network = :network AND name_tag = :nameTag AND at > :since`,
});

const KNOWN_OF = query({
  parameters: { administrator: text },
  columns: fields(knownNetworks),
  text: `SELECT ${select(knownNetworks)} FROM known_networks WHERE administrator = :administrator
    ORDER BY signed_in_at DESC, network`,
});

const LIST = query({
  parameters: { below: number, limit: number },
  columns: fields(signInAttempts),
  text: `SELECT ${select(signInAttempts)} FROM sign_in_attempts WHERE seq < :below
    ORDER BY seq DESC LIMIT :limit`,
});

/**
 * Deletes old attempts, except wrong codes that still count, so that a flood of other attempts cannot make them
 * forgotten. `firstCodeTag`: tags from this number on are of codes.
 */
export const FORGET_ATTEMPTS = statement({
  parameters: { before: number, firstCodeTag: number, since: number },
  writes: [signInAttempts],
  text: `DELETE FROM sign_in_attempts
    WHERE seq <= :before AND NOT (name_tag >= :firstCodeTag AND at > :since)`,
});

export const FORGET_CONFIRMATIONS = statement({
  parameters: { before: number },
  writes: [confirmations],
  text: "DELETE FROM confirmations WHERE at < :before",
});

/** Counts attempts from an address's network after `since`. */
export function failuresOfNetwork(reader: Reader, network: string, since: number): Failures {
  return reader.one(OF_NETWORK, { network, since })!;
}

/** Counts attempts with a name after `since`. */
export function failuresOfName(reader: Reader, nameTag: number, since: number): Failures {
  return reader.one(OF_NAME, { nameTag, since })!;
}

/** Counts attempts with a name from an address's network after `since`. */
export function failuresOfPair(
  reader: Reader,
  nameTag: number,
  network: string,
  since: number,
): Failures {
  return reader.one(OF_PAIR, { nameTag, network, since })!;
}

export function findKnownNetwork(reader: Reader, administrator: string, network: string) {
  return reader.row(knownNetworks.byKey, administrator, network);
}

/** The networks from which an administrator signed in, the most recent first. */
export function listKnownNetworks(reader: Reader, administrator: string) {
  return reader.all(KNOWN_OF, { administrator });
}

/** Attempts with numbers lower than `below`, newest first. */
export function listSignInAttempts(reader: Reader, below: number, limit: number): SignInAttempt[] {
  return reader.all(LIST, { below, limit });
}
