// Tables of sign-ins. Each site has its own set: the panel for administrators, the portal for members of resellers.

import { integer, text } from "drizzle-orm/sqlite-core";
import { type RowOf, table } from "../port/table-definition.ts";
import { catalogueLock } from "./locks.ts";

/** The columns by which a person signs in. They are part of the table of the persons. */
export const credentials = {
  active: integer({ mode: "boolean" }).notNull(),
  /** Null: invited, no password chosen yet. */
  passwordHash: text(),
  invitationHash: text(),
  invitedUntil: integer(),
  totpSecret: text(),
  /** A secret that was shown to the person and not yet confirmed with a code. */
  offeredSecret: text(),
  totpStep: integer().notNull().default(0),
  createdAt: integer().notNull(),
  signedInAt: integer(),
};

/** Returns the tables of a site. `person`: the name of their column with the key of a person. */
export function signInTables(
  names: { codes: string; sessions: string; networks: string; attempts: string },
  person: string,
) {
  return {
    codes: table(
      names.codes,
      { person: text(person).notNull(), hash: text().notNull() },
      { key: ["person", "hash"], lock: catalogueLock },
    ),
    sessions: table(
      names.sessions,
      {
        id: text().primaryKey(),
        hash: text().notNull(),
        person: text(person).notNull(),
        awaitsCode: integer({ mode: "boolean" }).notNull(),
        createdAt: integer().notNull(),
        seenAt: integer().notNull(),
        provedAt: integer().notNull(),
        address: text().notNull(),
        userAgent: text().notNull(),
        failures: integer().notNull().default(0),
      },
      { key: ["id"], lock: catalogueLock, unlocked: ["seenAt"] },
    ),
    networks: table(
      names.networks,
      {
        person: text(person).notNull(),
        network: text().notNull(),
        signedInAt: integer().notNull(),
      },
      { key: ["person", "network"], lock: catalogueLock },
    ),
    attempts: table(
      names.attempts,
      {
        seq: integer().primaryKey(),
        at: integer().notNull(),
        address: text().notNull(),
        network: text().notNull(),
        /** Hash of the typed name and the step: see tagOfName. */
        nameTag: integer().notNull(),
        person: text(person),
        userAgent: text().notNull(),
      },
      { key: ["seq"], numberField: "seq", lock: catalogueLock },
    ),
  };
}

export type SignInTables = ReturnType<typeof signInTables>;
export type SignInSession = RowOf<SignInTables["sessions"]>;
export type SignInAttempt = RowOf<SignInTables["attempts"]>;

/** Ids of used confirmations of all sites, so that none is used twice. */
export const confirmations = table(
  "confirmations",
  {
    id: text().primaryKey(),
    at: integer().notNull(),
  },
  { key: ["id"], lock: catalogueLock },
);
