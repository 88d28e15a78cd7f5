// What a change of the catalogue is to a reseller: the changes feed and the event service.changed are both made of it.
// docs/specification.md#get-services-changes.

import { jsonAmount } from "./money.ts";
import { priceFor } from "./prices.ts";

/** `since` for the cursor of this moment: to read GET /services once and follow it from there. */
export const SINCE_NOW = "now";
export const SINCE_FORM = `0, ${SINCE_NOW} or the nextCursor of an earlier answer`;

/** A service as a reseller sees it in GET /services. */
export interface OfferedService {
  id: string;
  name: string;
  priceMicros: number;
  min: number;
  max: number;
}

/** The fields of a service that decide what is offered to whom. */
export interface OfferedTerms {
  name: string;
  priceMicros: number;
  min: number;
  max: number;
  active: boolean;
  private: boolean;
}

/** What one reseller has of its own. */
export interface OwnTerms {
  /** It may order the service though it is private. */
  granted: boolean;
  /** Null: the service's price less the discount. */
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

/** `before` and `after` of a service that the reseller could not order are null, but for `available`. */
export interface ServiceChange {
  field: "name" | "price" | "min" | "max" | "available";
  before: string | number | boolean | null;
  after: string | number | boolean | null;
}

/** What is shown of it changes with these alone. */
export function offeredTerms(terms: OfferedTerms): OfferedTerms {
  const { name, priceMicros, min, max, active } = terms;
  return { name, priceMicros, min, max, active, private: terms.private };
}

/** Null: the reseller may not order it. */
export function offerOf(
  id: string,
  terms: OfferedTerms | null,
  own: OwnTerms,
): OfferedService | null {
  if (!terms?.active || (terms.private && !own.granted)) return null;
  const { name, min, max } = terms;
  const priceMicros = priceFor(terms.priceMicros, own.priceMicros, own.discountPpm);
  return { id, name, priceMicros, min, max };
}

/**
 * The fields that differ. A service that becomes available is listed whole, `available` last: whoever applies the changes one
 * by one never offers half a service.
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
    add("min", before && before.min, after.min);
    add("max", before && before.max, after.max);
  }
  add("available", before !== null, after !== null);
  return changes;
}

/**
 * The data of service.changed; null when nothing differs that it tells of, which is all but the name. A service that is no longer available is shown as it was.
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
  const { id, name, min, max } = shown;
  const service = { id, name, price: jsonAmount(shown.priceMicros), min, max };
  return { service, available: after !== null, changes };
}

/** A change with its number in the feed. */
export interface NumberedChange extends ServiceChange {
  /** Grows, with gaps; a cursor. */
  seq: number;
  service: string;
  at: number;
}

export function publicChange({ seq, service, at, field, before, after }: NumberedChange) {
  return { seq, service, at: new Date(at).toISOString(), field, before, after };
}

/** A recorded change makes at most so many changes of fields: each has a number of its own. */
const FIELDS_A_ROW = 8;

/** The numbers of the changes that the recorded change `seq` is to a reseller. */
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

/** The recorded change that a cursor lies in. */
export function recordedChangeOf(cursor: number): number {
  return Math.floor(cursor / FIELDS_A_ROW);
}

/** The cursor behind all of a recorded change. */
export function cursorBehind(seq: number): number {
  return seq * FIELDS_A_ROW + FIELDS_A_ROW - 1;
}
