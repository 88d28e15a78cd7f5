// Tables of e-mails.

import { integer, text } from "drizzle-orm/sqlite-core";
import type { MailKind, MailState } from "../../domain/mails/mails.ts";
import { type RowOf, table } from "../port/table-definition.ts";
import { CATALOGUE_LOCK, OUTBOX_LOCK } from "./locks.ts";

export const mails = table(
  "mails",
  {
    mailId: integer().primaryKey(),
    id: text().notNull(),
    kind: text().$type<MailKind>().notNull(),
    /** Null: the mail is for the operator or a visitor. */
    account: integer(),
    member: text(),
    email: text().notNull(),
    data: text().notNull(),
    state: text().$type<MailState>().notNull(),
    dueAt: integer(),
    server: text(),
    attempts: integer().notNull().default(0),
    triedAt: integer(),
    error: text(),
    reply: text(),
    createdAt: integer().notNull(),
    endedAt: integer(),
  },
  {
    key: ["mailId"],
    numberField: "mailId",
    unique: { byId: ["id"] },
    lock: (_, isNew) => (isNew ? null : OUTBOX_LOCK),
  },
);

export type Mail = RowOf<typeof mails>;

/** One row: whether servers send e-mails, and the operator's address. */
export const mailSettings = table(
  "mail_settings",
  {
    id: integer().primaryKey(),
    active: integer({ mode: "boolean" }).notNull(),
    operator: text(),
  },
  { key: ["id"], lock: () => CATALOGUE_LOCK, cacheable: true },
);

export type MailSettings = RowOf<typeof mailSettings>;
