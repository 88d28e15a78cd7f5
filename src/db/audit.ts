// The audit log: entries are inserted in the transaction of the change and listed for the operator.

import type { AuditAction, AuditFacts } from "../domain/audit.ts";
import { readExactJson, writeExactJson } from "../domain/money.ts";
import type { Reader, Tx } from "./port.ts";
import { fields, listByConditions, select } from "./query.ts";
import { nullable, number, text } from "./table-definition.ts";
import { audit } from "./tables.ts";

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

const LIST = listByConditions(
  { ...fields(audit), username: nullable(text) },
  (where) => `SELECT ${select(audit)}, users.username AS username
    FROM audit LEFT JOIN users ON users.account = audit.account
    ${where} ORDER BY audit.seq DESC LIMIT :limit`,
);

export function insertAuditEntry(tx: Tx, entry: AuditEntry): void {
  const { before, after } = entry;
  tx.insert(audit, {
    ...entry,
    before: before && writeExactJson(before),
    after: after && writeExactJson(after),
  });
}

/** Newest first. */
export function listAuditEntries(reader: Reader, filter: AuditFilter): ListedAuditEntry[] {
  return reader
    .all(listBy(filter), { ...filter })
    .map((row) => ({ ...row, before: facts(row.before), after: facts(row.after) }));
}

function listBy({ account, since }: AuditFilter) {
  const conditions: string[] = [];
  const takes: Record<string, typeof number> = { limit: number };
  if (account !== undefined) {
    conditions.push("audit.account = :account");
    takes["account"] = number;
  }
  if (since !== undefined) {
    conditions.push("audit.created_at >= :since");
    takes["since"] = number;
  }
  return LIST(conditions, takes);
}

function facts(text: string | null): AuditFacts | null {
  return text === null ? null : (readExactJson(text) as AuditFacts);
}
