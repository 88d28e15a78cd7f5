// Changes of the catalogue as one reseller sees them, for the changes feed and the event service.changed.
// docs/specification/endpoints.md#get-services-changes.

import { jsonAmount } from "../ledger/money.ts";
import { priceFor } from "./prices.ts";
import type { PriceUnit } from "./services.ts";

/** Value of `since` for a client that has just read GET /services: the feed returns only the present cursor. */
export const SINCE_NOW = "now";
export const SINCE_FORM = `0, ${SINCE_NOW} or the nextCursor of an earlier answer`;

/** A service as a reseller sees it in GET /services. */
export interface OfferedService {
  id: string;
  name: string;
  priceMicros: number;
  per: PriceUnit;
  min: number;
  max: number;
}

/** The fields of a service on which a reseller's view of it depends. */
export interface OfferedTerms {
  name: string;
  priceMicros: number;
  per: PriceUnit;
  min: number;
  max: number;
  active: boolean;
  private: boolean;
}

/** One reseller's own terms for a service. */
export interface OwnTerms {
  /** Whether the reseller may order the service even if it is private. */
  granted: boolean;
  /** Null: the list price less the discount. */
  priceMicros: number | null;
  discountPpm: number;
}

export const NOTHING_OWN: OwnTerms = { granted: false, priceMicros: null, discountPpm: 0 };

export function ownTerms(
  grant: { priceMicros: number | null } | undefined,
  discountPpm: number,
): OwnTerms {
  return { granted: grant !== undefined, priceMicros: grant?.priceMicros ?? null, discountPpm };
}

/** A changed field. Values other than that of `available` are null while the reseller cannot order the service. */
export interface ServiceChange {
  field: "name" | "price" | "per" | "min" | "max" | "available";
  before: string | number | boolean | null;
  after: string | number | boolean | null;
}

/** Picks from a service the fields on which a reseller's view of it depends. */
export function offeredTerms(terms: OfferedTerms): OfferedTerms {
  const { name, priceMicros, per, min, max, active } = terms;
  return { name, priceMicros, per, min, max, active, private: terms.private };
}

/** Returns the service as the reseller sees it; null when the reseller may not order it. */
export function offerOf(
  id: string,
  terms: OfferedTerms | null,
  own: OwnTerms,
): OfferedService | null {
  if (!terms?.active || (terms.private && !own.granted)) return null;
  const { name, per, min, max } = terms;
  const priceMicros = priceFor(terms.priceMicros, own.priceMicros, own.discountPpm);
  return { id, name, priceMicros, per, min, max };
}

/**
 * Returns the fields that differ. A service that becomes available has all fields, with `available` last, so that a
 * client which applies the changes one by one never offers an incomplete service.
 */
export function changesOf(
  before: OfferedService | null,
  after: OfferedService | null,
): ServiceChange[] {
  const changes: ServiceChange[] = [];
  const add = (
    field: ServiceChange["field"],
    was: ServiceChange["before"],
    is: ServiceChange["after"],
  ) => {
    if (was !== is) changes.push({ field, before: was, after: is });
  };
  if (after) {
    add("name", before && before.name, after.name);
    add("price", before && jsonAmount(before.priceMicros), jsonAmount(after.priceMicros));
    add("per", before && before.per, after.per);
    add("min", before && before.min, after.min);
    add("max", before && before.max, after.max);
  }
  add("available", before !== null, after !== null);
  return changes;
}

/**
 * Returns the data of service.changed; null unless a field other than the name changed. A service that is no longer
 * available is shown as it was.
 */
export function serviceChangedData(
  before: OfferedService | null,
  after: OfferedService | null,
): object | null {
  const shown = after ?? before;
  if (!shown) return null;
  const isThere = before !== null && after !== null;
  const changes = changesOf(before, after).filter(({ field }) =>
    isThere ? field !== "name" : field === "available",
  );
  if (changes.length === 0) return null;
  const { id, name, per, min, max } = shown;
  const service = { id, name, price: jsonAmount(shown.priceMicros), per, min, max };
  return { service, available: after !== null, changes };
}

/** A change with its number in the feed. */
export interface NumberedChange extends ServiceChange {
  /** The cursor. It grows, with gaps. */
  seq: number;
  service: string;
  at: number;
}

export function publicChange({ seq, service, at, field, before, after }: NumberedChange) {
  return { seq, service, at: new Date(at).toISOString(), field, before, after };
}

/** How many numbers of the feed each recorded change takes. Each changed field has one. */
const FIELDS_A_ROW = 8;

/** Gives a number in the feed to each field that the recorded change `seq` changes for a reseller. */
export function numberChanges(
  { seq, service, at }: { seq: number; service: string; at: number },
  changes: readonly ServiceChange[],
): NumberedChange[] {
  return changes.map((change, place) => ({
    seq: seq * FIELDS_A_ROW + place,
    service,
    at,
    ...change,
  }));
}

/** Returns the number of the recorded change that a cursor belongs to. */
export function changeNumberOfCursor(cursor: number): number {
  return Math.floor(cursor / FIELDS_A_ROW);
}

/** Returns the cursor after all fields of a recorded change. */
export function cursorAfter(seq: number): number {
  return seq * FIELDS_A_ROW + FIELDS_A_ROW - 1;
}
