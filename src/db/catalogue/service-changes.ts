// The log of changes of services and grants. Entries are never changed. A change is one row for any number of
// resellers: its effect on a reseller is computed when that reseller reads its feed.

import {
  changesOf,
  cursorAfter,
  NOTHING_OWN,
  type NumberedChange,
  numberChanges,
  offerOf,
  type OfferedTerms,
  type OwnTerms,
  changeNumberOfCursor,
} from "../../domain/catalogue/service-changes.ts";
import type { Reader, Tx } from "../port/port.ts";
import { fields, query, selectAs } from "../port/query.ts";
import { nullable, number, text } from "../port/table-definition.ts";
import { serviceChanges } from "../tables/catalogue.ts";

/** Limits for the numbers and the rows in one read of a reseller's changes, which takes about a millisecond. */
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

// For a change of the service itself, also reads the reseller's own terms at that time. The reseller's grant is in the
// last change of that grant, the discount in the last change of any of the reseller's terms.
const OF_RESELLER = query({
  parameters: { account: number, from: number, to: number, limit: number },
  columns: {
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
  parameters: { to: number },
  columns: { seq: nullable(number) },
  text: `SELECT max(seq) AS seq FROM service_changes WHERE seq <= :to`,
});

export interface RecordedChange {
  at: number;
  /** Null: a change of the reseller's discount. A row for each affected service follows it. */
  serviceId: string | null;
  /** Null: a change of the service itself, which concerns all resellers. */
  resellerAccount: number | null;
  /** `before` is null when the service was created, `after` when it was deleted. */
  before: OfferedTerms | null;
  after: OfferedTerms | null;
  ownBefore: OwnTerms | null;
  ownAfter: OwnTerms | null;
}

type ReadChange = NonNullable<(typeof OF_RESELLER)["types"]>["row"];

export interface ChangesPage {
  changes: NumberedChange[];
  /** The cursor at which the next page begins. */
  cursor: number;
  isEnd: boolean;
}

/** Returns the cursor after the last recorded change. */
export function findLastChange(reader: Reader): number {
  const last = reader.one(LAST, { to: Number.MAX_SAFE_INTEGER })!.seq;
  return last === null ? 0 : cursorAfter(last);
}

/**
 * Returns what changed for the reseller after the cursor, oldest first. Reads a part of bounded size, so a page may be
 * empty although more follow. Returns undefined for a cursor that this database never issued.
 */
export function listServiceChanges(
  reader: Reader,
  account: number,
  since: number,
  limit: number,
): ChangesPage | undefined {
  const from = changeNumberOfCursor(since);
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
  const cursor = seen === 0 ? 0 : Math.max(since, cursorAfter(seen));
  return { changes, cursor, isEnd: seen >= last };
}

/** Returns the changes that the reseller sees for a recorded change. */
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
