// The audit log. Entries are inserted in the transaction of the change, and listed for the operator.

import { type AuditAction, type AuditFacts, isAuthor } from "../../domain/administrators/audit.ts";
import { readExactJson, writeExactJson } from "../../domain/ledger/money.ts";
import type { Reader, Tx } from "../port/port.ts";
import { fields, listByConditions, query, select } from "../port/query.ts";
import { nullable, number, text, texts } from "../port/table-definition.ts";
import { audit } from "../tables/administrators.ts";

export interface AuditEntry {
  createdAt: number;
  /** Exactly one of `keyId` and `operator` is given. */
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
  action?: AuditAction | undefined;
  subject?: string | undefined;
  /** A whole author, or one of the names in it, such as alice in `reseller (alice)`: see isAuthor. */
  by?: string | undefined;
  /** Earliest time, included. */
  since?: number | undefined;
  /** Latest time, included. */
  until?: number | undefined;
  /** Entries with this number or a higher one are left out. */
  below?: number | undefined;
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

/** All operators in the log, with one index look-up for each. */
const OPERATORS = query({
  columns: { operator: text },
  text: `WITH RECURSIVE found(operator) AS (
      SELECT min(audit.operator) FROM audit WHERE audit.operator IS NOT NULL
      UNION ALL
      SELECT (SELECT min(audit.operator) FROM audit WHERE audit.operator > found.operator)
      FROM found WHERE found.operator IS NOT NULL
    )
    SELECT found.operator AS operator FROM found WHERE found.operator IS NOT NULL`,
});

const KEY_CREATORS = query({
  parameters: { ids: texts },
  columns: { subject: text, operator: nullable(text) },
  text: `SELECT audit.subject AS subject, audit.operator AS operator FROM audit
    WHERE audit.subject IN (:ids) AND audit.action = 'key.create'`,
});

/** Returns who created each of these keys; null for a key that is older than the log. */
export function readKeyCreators(
  reader: Reader,
  ids: readonly string[],
): (id: string) => string | null {
  const found = reader.all(KEY_CREATORS, { ids });
  const creators = new Map(found.map(({ subject, operator }) => [subject, operator]));
  return (id) => creators.get(id) ?? null;
}

/** The entries that match the filter, newest first. */
export function listAuditEntries(reader: Reader, filter: AuditFilter): ListedAuditEntry[] {
  const { by: name } = filter;
  const by = name === undefined ? undefined : operatorsNamed(reader, name);
  if (by?.length === 0) return [];
  return reader
    .all(listBy({ ...filter, by }), { ...filter, by })
    .map((row) => ({ ...row, before: facts(row.before), after: facts(row.after) }));
}

function operatorsNamed(reader: Reader, name: string): string[] {
  return reader
    .all(OPERATORS)
    .map(({ operator }) => operator)
    .filter((operator) => isAuthor(operator, name));
}

const CONDITIONS = {
  account: ["audit.account = :account", number],
  action: ["audit.action = :action", text],
  subject: ["audit.subject = :subject", text],
  by: ["audit.operator IN (:by)", texts],
  since: ["audit.created_at >= :since", number],
  until: ["audit.created_at <= :until", number],
  below: ["audit.seq < :below", number],
} as const;

function listBy(filter: Omit<AuditFilter, "by"> & { by: string[] | undefined }) {
  const given = Object.entries(CONDITIONS).filter(
    ([name]) => filter[name as keyof AuditFilter] !== undefined,
  );
  return LIST(
    given.map(([, [condition]]) => condition),
    { limit: number, ...Object.fromEntries(given.map(([name, [, kind]]) => [name, kind])) },
  );
}

function facts(text: string | null): AuditFacts | null {
  return text === null ? null : (readExactJson(text) as AuditFacts);
}
