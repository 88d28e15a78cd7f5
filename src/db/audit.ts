// The audit log: entries are inserted in the transaction of the change and listed for the operator.

import { and, desc, eq, getTableColumns, gte, sql } from "drizzle-orm";
import type { AuditAction, AuditFacts } from "../domain/audit.ts";
import { readExactJson, writeExactJson } from "../domain/money.ts";
import { type Connection, prepared, type Tx } from "./sqlite/connection.ts";
import { nextNumber } from "./sqlite/numbers.ts";
import { audit, users } from "./schema.ts";

export interface AuditEntry {
  createdAt: number;
  /** Exactly one of the two is given. */
  keyId: string | null;
  operator: string | null;
  action: AuditAction;
  /** What was changed: a username, an id, an order number. */
  subject: string;
  /** The user concerned; null when the change concerns all users. */
  account: number | null;
  before: AuditFacts | null;
  after: AuditFacts | null;
}

export interface ListedAuditEntry extends AuditEntry {
  seq: number;
  username: string | null;
}

export interface AuditFilter {
  account?: number | undefined;
  /** Not before this time. */
  since?: number | undefined;
  limit: number;
}

const queries = prepared((orm) => ({
  insert: orm
    .insert(audit)
    .values({
      seq: sql.raw(nextNumber("audit")),
      createdAt: sql.placeholder("createdAt"),
      keyId: sql.placeholder("keyId"),
      operator: sql.placeholder("operator"),
      action: sql.placeholder("action"),
      subject: sql.placeholder("subject"),
      account: sql.placeholder("account"),
      before: sql.placeholder("before"),
      after: sql.placeholder("after"),
    })
    .prepare(),
}));

export function insertAuditEntry(tx: Tx, entry: AuditEntry): void {
  const { before, after } = entry;
  queries(tx).insert.run({
    ...entry,
    before: before && writeExactJson(before),
    after: after && writeExactJson(after),
  });
}

/** Newest first. */
export function listAuditEntries(connection: Connection, filter: AuditFilter): ListedAuditEntry[] {
  return connection.orm
    .select({ ...getTableColumns(audit), username: users.username })
    .from(audit)
    .leftJoin(users, eq(users.account, audit.account))
    .where(
      and(
        filter.account === undefined ? undefined : eq(audit.account, filter.account),
        filter.since === undefined ? undefined : gte(audit.createdAt, filter.since),
      ),
    )
    .orderBy(desc(audit.seq))
    .limit(filter.limit)
    .all()
    .map((row) => ({ ...row, before: facts(row.before), after: facts(row.after) }));
}

function facts(text: string | null): AuditFacts | null {
  return text === null ? null : (readExactJson(text) as AuditFacts);
}
