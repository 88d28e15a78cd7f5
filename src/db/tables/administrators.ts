// Tables of the operator: administrators, their sessions and the audit log.

import { integer, text } from "drizzle-orm/sqlite-core";
import type { Role } from "../../domain/administrators/administrators.ts";
import type { AuditAction } from "../../domain/administrators/audit.ts";
import { type RowOf, table } from "../port/table-definition.ts";
import { catalogueLock } from "./locks.ts";

export const administrators = table(
  "administrators",
  {
    name: text().primaryKey(),
    role: text().$type<Role>().notNull(),
    active: integer({ mode: "boolean" }).notNull(),
    /** Null: invited, no password chosen yet. */
    passwordHash: text(),
    invitationHash: text(),
    invitedUntil: integer(),
    totpSecret: text(),
    /** A secret that was shown to the administrator and not yet confirmed with a code. */
    offeredSecret: text(),
    totpStep: integer().notNull().default(0),
    createdAt: integer().notNull(),
    signedInAt: integer(),
  },
  {
    key: ["name"],
    unique: { byInvitation: ["invitationHash"] },
    lock: catalogueLock,
  },
);

export type Administrator = RowOf<typeof administrators>;

export const recoveryCodes = table(
  "recovery_codes",
  { administrator: text().notNull(), hash: text().notNull() },
  {
    key: ["administrator", "hash"],
    lock: catalogueLock,
  },
);

export const panelSessions = table(
  "panel_sessions",
  {
    id: text().primaryKey(),
    hash: text().notNull(),
    administrator: text().notNull(),
    awaitsCode: integer({ mode: "boolean" }).notNull(),
    createdAt: integer().notNull(),
    seenAt: integer().notNull(),
    provedAt: integer().notNull(),
    address: text().notNull(),
    userAgent: text().notNull(),
    failures: integer().notNull().default(0),
  },
  {
    key: ["id"],
    lock: catalogueLock,
    unlocked: ["seenAt"],
  },
);

export type PanelSession = RowOf<typeof panelSessions>;

export const knownNetworks = table(
  "known_networks",
  {
    administrator: text().notNull(),
    network: text().notNull(),
    signedInAt: integer().notNull(),
  },
  {
    key: ["administrator", "network"],
    lock: catalogueLock,
  },
);

export const signInAttempts = table(
  "sign_in_attempts",
  {
    seq: integer().primaryKey(),
    at: integer().notNull(),
    address: text().notNull(),
    network: text().notNull(),
    /** Hash of the typed name and the step: see tagOfName. */
    nameTag: integer().notNull(),
    administrator: text(),
    userAgent: text().notNull(),
  },
  {
    key: ["seq"],
    numberField: "seq",
    lock: catalogueLock,
  },
);

export type SignInAttempt = RowOf<typeof signInAttempts>;

/** Ids of used confirmations, so that none is used twice. */
export const confirmations = table(
  "confirmations",
  {
    id: text().primaryKey(),
    at: integer().notNull(),
  },
  { key: ["id"], lock: catalogueLock },
);

export const audit = table(
  "audit",
  {
    seq: integer().primaryKey(),
    createdAt: integer().notNull(),
    keyId: text(),
    operator: text(),
    action: text().$type<AuditAction>().notNull(),
    subject: text().notNull(),
    account: integer(),
    /** AuditFacts as JSON. */
    before: text(),
    after: text(),
  },
  { key: ["seq"], numberField: "seq" },
);
