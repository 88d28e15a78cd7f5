// Tries to sign in to the panel that failed, or are being judged.

import type { Failures } from "../domain/sign-ins.ts";
import type { Reader } from "./port.ts";
import { fields, query, select, statement } from "./query.ts";
import type { signInAttempts as schema } from "./schema.ts";
import { nullable, number, text } from "./table-definition.ts";
import { confirmations, signInAttempts } from "./tables.ts";

export type SignInAttempt = typeof schema.$inferSelect;

const COUNTS = {
  count: number,
  firstAt: nullable(number),
  lastAt: nullable(number),
};
const SELECTED = `count(*) AS "count", min(at) AS "firstAt", max(at) AS "lastAt"`;

const OF_NETWORK = query({
  takes: { network: text, since: number },
  gives: COUNTS,
  text: `SELECT ${SELECTED} FROM sign_in_attempts WHERE network = :network AND at > :since`,
});

const OF_NAME = query({
  takes: { nameTag: number, since: number },
  gives: COUNTS,
  text: `SELECT ${SELECTED} FROM sign_in_attempts WHERE name_tag = :nameTag AND at > :since`,
});

const LIST = query({
  takes: { below: number, limit: number },
  gives: fields(signInAttempts),
  text: `SELECT ${select(signInAttempts)} FROM sign_in_attempts WHERE seq < :below
    ORDER BY seq DESC LIMIT :limit`,
});

export const FORGET_ATTEMPTS = statement({
  takes: { before: number },
  writes: [signInAttempts],
  text: "DELETE FROM sign_in_attempts WHERE seq <= :before",
});

export const FORGET_CONFIRMATIONS = statement({
  takes: { before: number },
  writes: [confirmations],
  text: "DELETE FROM confirmations WHERE at < :before",
});

/** Since a time, of an address's network. */
export function failuresOfNetwork(reader: Reader, network: string, since: number): Failures {
  return reader.one(OF_NETWORK, { network, since })!;
}

/** Since a time, with a name. */
export function failuresOfName(reader: Reader, nameTag: number, since: number): Failures {
  return reader.one(OF_NAME, { nameTag, since })!;
}

/** Newest first. */
export function listSignInAttempts(reader: Reader, below: number, limit: number): SignInAttempt[] {
  return reader.all(LIST, { below, limit });
}
