// Tables of the operator: administrators, their sign-ins and the audit log.

import { integer, text } from "drizzle-orm/sqlite-core";
import type { Role } from "../../domain/administrators/administrators.ts";
import type { AuditAction } from "../../domain/administrators/audit.ts";
import { type RowOf, table } from "../port/table-definition.ts";
import { catalogueLock } from "./locks.ts";
import { credentials, signInTables } from "./sign-ins.ts";

export const administrators = table(
  "administrators",
  {
    name: text().primaryKey(),
    role: text().$type<Role>().notNull(),
    ...credentials,
    /** The time zone of the times that are shown; null: UTC. */
    timeZone: text(),
  },
  {
    key: ["name"],
    unique: { byInvitation: ["invitationHash"] },
    lock: catalogueLock,
  },
);

export type Administrator = RowOf<typeof administrators>;

/** Lists of orders with filters, which administrators saved by a name. */
export const savedViews = table(
  "saved_views",
  {
    administrator: text().notNull(),
    name: text().notNull(),
    /** The filters as a query string. */
    query: text().notNull(),
  },
  { key: ["administrator", "name"], lock: catalogueLock },
);

export type SavedView = RowOf<typeof savedViews>;

/** The tables of the panel's sign-ins. */
export const panelSignIns = signInTables(
  {
    codes: "recovery_codes",
    sessions: "panel_sessions",
    networks: "known_networks",
    attempts: "sign_in_attempts",
  },
  "administrator",
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
