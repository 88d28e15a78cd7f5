// The drizzle schema of the operator's panel: see schema.ts.

import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Role } from "../../domain/administrators/administrators.ts";

export const administrators = sqliteTable("administrators", {
  name: text().primaryKey(),
  role: text().$type<Role>().notNull(),
  active: integer({ mode: "boolean" }).notNull(),
  /** Null: invited, no password chosen yet. */
  passwordHash: text("password_hash"),
  invitationHash: text("invitation_hash"),
  invitedUntil: integer("invited_until"),
  totpSecret: text("totp_secret"),
  offeredSecret: text("offered_secret"),
  totpStep: integer("totp_step").notNull().default(0),
  createdAt: integer("created_at").notNull(),
  signedInAt: integer("signed_in_at"),
});

export const recoveryCodes = sqliteTable(
  "recovery_codes",
  { administrator: text().notNull(), hash: text().notNull() },
  ({ administrator, hash }) => [primaryKey({ columns: [administrator, hash] })],
);

export const panelSessions = sqliteTable("panel_sessions", {
  id: text().primaryKey(),
  hash: text().notNull(),
  administrator: text().notNull(),
  awaitsCode: integer("awaits_code", { mode: "boolean" }).notNull(),
  createdAt: integer("created_at").notNull(),
  seenAt: integer("seen_at").notNull(),
  provedAt: integer("proved_at").notNull(),
  address: text().notNull(),
  userAgent: text("user_agent").notNull(),
  failures: integer().notNull().default(0),
});

export const knownNetworks = sqliteTable(
  "known_networks",
  {
    administrator: text().notNull(),
    network: text().notNull(),
    signedInAt: integer("signed_in_at").notNull(),
  },
  ({ administrator, network }) => [primaryKey({ columns: [administrator, network] })],
);

export const signInAttempts = sqliteTable("sign_in_attempts", {
  seq: integer().primaryKey(),
  at: integer().notNull(),
  address: text().notNull(),
  network: text().notNull(),
  nameTag: integer("name_tag").notNull(),
  administrator: text(),
  userAgent: text("user_agent").notNull(),
});

/** Ids of confirmations that were used, so that none is used twice. */
export const confirmations = sqliteTable("confirmations", {
  id: text().primaryKey(),
  at: integer().notNull(),
});
