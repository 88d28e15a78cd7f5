// The changes of services and grants, which are never changed themselves: what each is to one reseller is worked out when that
// reseller reads its feed, so that a change is one row however many resellers there are.

import {
  changesOf,
  cursorBehind,
  NOTHING_OWN,
  type NumberedChange,
  numberChanges,
  offerOf,
  type OfferedTerms,
  type OwnTerms,
  recordedChangeOf,
} from "../domain/service-changes.ts";
import type { Reader, Tx } from "./port.ts";
import { fields, query, selectAs } from "./query.ts";
import { nullable, number, text } from "./table-definition.ts";
import { serviceChanges } from "./tables.ts";

/** Numbers that are looked through at once for one reseller's changes, and rows among them that are read: about a millisecond. */
const WINDOW = 2000;
const ROWS = 500;

const COLUMNS = [
  "seq",
  "at",
  "serviceId",
  "resellerAccount",
  "before",
  "after",
  "ownBefore",
  "ownAfter",
] as const;

// What the reseller had of its own when the service itself changed: its grant by the last change of that, its discount by the
// last change of anything of its own.
const OF_RESELLER = query({
  takes: { account: number, from: number, to: number, limit: number },
  gives: {
    ...fields(serviceChanges, ...COLUMNS),
    ownGrant: nullable(text),
    ownDiscount: nullable(text),
  },
  text: `SELECT ${selectAs(serviceChanges, "change", ...COLUMNS)},
      CASE WHEN change.reseller_account IS NULL THEN (SELECT earlier.own_after FROM service_changes AS earlier
        WHERE earlier.reseller_account = :account AND earlier.service_id = change.service_id
          AND earlier.seq < change.seq ORDER BY earlier.seq DESC LIMIT 1) END AS "ownGrant",
      CASE WHEN change.reseller_account IS NULL THEN (SELECT earlier.own_after FROM service_changes AS earlier
        WHERE earlier.reseller_account = :account AND earlier.seq < change.seq
        ORDER BY earlier.seq DESC LIMIT 1) END AS "ownDiscount"
    FROM service_changes AS change
    WHERE change.seq BETWEEN :from AND :to AND coalesce(change.reseller_account, :account) = :account
    ORDER BY change.seq LIMIT :limit`,
});

const LAST = query({
  takes: { to: number },
  gives: { seq: nullable(number) },
  text: `SELECT max(seq) AS seq FROM service_changes WHERE seq <= :to`,
});

export interface RecordedChange {
  at: number;
  /** Null: the reseller's discount, before what it is to each service. */
  serviceId: string | null;
  /** Null: of the service itself, to all resellers. */
  resellerAccount: number | null;
  /** Null: there was no such service, or there is none any more. */
  before: OfferedTerms | null;
  after: OfferedTerms | null;
  ownBefore: OwnTerms | null;
  ownAfter: OwnTerms | null;
}

type ReadChange = NonNullable<(typeof OF_RESELLER)["types"]>["row"];

export interface ChangesPage {
  changes: NumberedChange[];
  /** Where the next page begins. */
  cursor: number;
  isEnd: boolean;
}

/** The cursor behind everything that is there. */
export function findLastChange(reader: Reader): number {
  const last = reader.one(LAST, { to: Number.MAX_SAFE_INTEGER })!.seq;
  return last === null ? 0 : cursorBehind(last);
}

/**
 * What changed for the reseller after the cursor, oldest first; one look at a part of bounded size, in which there may be
 * nothing for it. Undefined for a cursor that was never given, or not since a restore.
 */
export function listServiceChanges(
  reader: Reader,
  account: number,
  since: number,
  limit: number,
): ChangesPage | undefined {
  const from = recordedChangeOf(since);
  if (since !== 0 && !reader.row(serviceChanges.byKey, from)) return undefined;
  const to = from + WINDOW;
  const found = reader.all(OF_RESELLER, { account, from, to, limit: ROWS });
  const last = reader.one(LAST, { to: Number.MAX_SAFE_INTEGER })!.seq ?? 0;
  const changes: NumberedChange[] = [];
  for (const row of found) {
    const later = changesFor(row).filter(({ seq }) => seq > since);
    const room = limit - changes.length;
    changes.push(...later.slice(0, room));
    if (later.length > room) return { changes, cursor: changes.at(-1)!.seq, isEnd: false };
  }
  const seen = found.length === ROWS ? found.at(-1)!.seq : (reader.one(LAST, { to })!.seq ?? from);
  const cursor = seen === 0 ? 0 : Math.max(since, cursorBehind(seen));
  return { changes, cursor, isEnd: seen >= last };
}

/** What a recorded change is to the reseller whose row it was read for. */
function changesFor(row: ReadChange): NumberedChange[] {
  const { seq, at, serviceId: service } = row;
  if (service === null) return [];
  const own = row.resellerAccount === null && ownTermsOf(row);
  const ownBefore = own || parsed<OwnTerms>(row.ownBefore)!;
  const ownAfter = own || parsed<OwnTerms>(row.ownAfter)!;
  const before = offerOf(service, parsed<OfferedTerms>(row.before), ownBefore);
  const after = offerOf(service, parsed<OfferedTerms>(row.after), ownAfter);
  return numberChanges({ seq, service, at }, changesOf(before, after));
}

function ownTermsOf({ ownGrant, ownDiscount }: ReadChange): OwnTerms {
  const { granted, priceMicros } = parsed<OwnTerms>(ownGrant) ?? NOTHING_OWN;
  const { discountPpm } = parsed<OwnTerms>(ownDiscount) ?? NOTHING_OWN;
  return { granted, priceMicros, discountPpm };
}

export function insertServiceChange(tx: Tx, change: RecordedChange): void {
  const { before, after, ownBefore, ownAfter, ...rest } = change;
  tx.insert(serviceChanges, {
    ...rest,
    before: stored(before),
    after: stored(after),
    ownBefore: stored(ownBefore),
    ownAfter: stored(ownAfter),
  });
}

function stored(terms: object | null): string | null {
  return terms && JSON.stringify(terms);
}

function parsed<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T);
}
