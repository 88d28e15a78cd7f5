// Tables of the portal: members of resellers, their sign-ins, registrations, and what a reseller's portal allows.

import { integer, text } from "drizzle-orm/sqlite-core";
import type { Language } from "../../domain/members/languages.ts";
import type { MemberRole } from "../../domain/members/members.ts";
import type { KeyType } from "../../domain/users/keys.ts";
import { type RowOf, table } from "../port/table-definition.ts";
import { catalogueLock } from "./locks.ts";
import { credentials, signInTables } from "./sign-ins.ts";

export const members = table(
  "members",
  {
    id: text().primaryKey(),
    account: integer().notNull(),
    email: text().notNull(),
    name: text().notNull(),
    role: text().$type<MemberRole>().notNull(),
    language: text().$type<Language>().notNull(),
    timeZone: text().notNull(),
    /** Kinds of e-mails, separated by commas. */
    mails: text().notNull(),
    ...credentials,
    /** An address that the member wants instead, until a link proves it. */
    newEmail: text(),
    /** SHA-256 of the token of that link; null: it was not sent yet. */
    newEmailHash: text(),
    newEmailUntil: integer(),
  },
  {
    key: ["id"],
    unique: {
      byEmail: ["email"],
      byInvitation: ["invitationHash"],
      byNewEmail: ["newEmailHash"],
    },
    folded: ["byEmail"],
    // Whoever has accepted an invitation has proved the address, and signs in with it.
    where: {
      byEmail: { text: "password_hash IS NOT NULL", holds: (row) => row["passwordHash"] !== null },
    },
    lock: catalogueLock,
  },
);

export type Member = RowOf<typeof members>;

/** The tables of the portal's sign-ins. */
export const portalSignIns = signInTables(
  {
    codes: "member_recovery_codes",
    sessions: "member_sessions",
    networks: "member_networks",
    attempts: "member_attempts",
  },
  "member",
);

export const registrations = table(
  "registrations",
  {
    id: text().primaryKey(),
    email: text().notNull(),
    name: text().notNull(),
    language: text().$type<Language>().notNull(),
    createdAt: integer().notNull(),
    /** SHA-256 of the token that confirms the address; null: no mail was sent yet. */
    confirmHash: text(),
    /** When the registration ends unless the address is confirmed; null: it waits for the operator. */
    confirmUntil: integer(),
    /** The network of the visitor; null for those of earlier versions. */
    network: text(),
  },
  {
    key: ["id"],
    unique: { byEmail: ["email"], byConfirmation: ["confirmHash"] },
    folded: ["byEmail"],
    lock: catalogueLock,
  },
);

export type Registration = RowOf<typeof registrations>;

/** Notices of the operator on the first page of the portal. */
export const portalNotices = table(
  "portal_notices",
  {
    id: text().primaryKey(),
    /** Texts by language, as JSON: domain/members/notices.ts. */
    texts: text().notNull(),
    untilAt: integer(),
    createdAt: integer().notNull(),
  },
  { key: ["id"], lock: catalogueLock },
);

/** What the portal allows to a reseller, where it differs from the defaults. */
export const portalSettings = table(
  "portal_settings",
  {
    account: integer().primaryKey(),
    active: integer({ mode: "boolean" }).notNull().default(true),
    /** The most powerful keys that members may create. */
    keys: text().$type<KeyType>().notNull().default("order"),
    lowBalanceMicros: integer(),
  },
  { key: ["account"], lock: catalogueLock },
);

export type PortalSettings = RowOf<typeof portalSettings>;

/** Inspections ("View as"): at most one for each session of the panel. */
export const inspections = table(
  "inspections",
  {
    id: text().primaryKey(),
    /** SHA-256 of the token of its link; null once it was used. */
    tokenHash: text(),
    /** SHA-256 of the secret in its cookie; null until the link is used. */
    hash: text(),
    account: integer().notNull(),
    /** The role as whose member the administrator sees the portal. */
    role: text().$type<MemberRole>().notNull(),
    administrator: text().notNull(),
    /** The administrator's session in the panel. */
    session: text().notNull(),
    /** The panel's address for browsers, for the way back. */
    panelUrl: text().notNull(),
    createdAt: integer().notNull(),
    openedAt: integer(),
  },
  {
    key: ["id"],
    unique: { bySession: ["session"], byToken: ["tokenHash"] },
    lock: catalogueLock,
  },
);

export type Inspection = RowOf<typeof inspections>;
