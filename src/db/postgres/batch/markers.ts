// Deletes old rows of `batches`, which has one row for each committed transaction (lane.ts).

import { type Store, transact } from "../../port/port.ts";
import { statement } from "../../port/query.ts";
import { number, text } from "../../port/table-definition.ts";
import { DAY_MS } from "../../../domain/values/spans.ts";

/** How long markers are kept: far longer than servers look for one, which is 15 s. */
const KEPT_MS = DAY_MS;
/** Limit for the rows that one command deletes. */
const DELETED_LIMIT = 10_000;

const DELETE_OLD = statement({
  parameters: { before: text, limit: number },
  writes: [],
  text: `DELETE FROM batches WHERE id IN (
    SELECT id FROM batches WHERE id < CAST(:before AS uuid) ORDER BY id LIMIT :limit)`,
});

/** Deletes up to DELETED_LIMIT old markers. Resolves with whether there may be more. */
export async function deleteOldMarkers(store: Store, now: number): Promise<boolean> {
  const values = { before: firstIdAt(now - KEPT_MS), limit: DELETED_LIMIT };
  return (await transact(store, (tx) => tx.run(DELETE_OLD, values))) === DELETED_LIMIT;
}

/** Returns the lowest UUID v7 of a time: its first 48 bits are the milliseconds since 1970. */
function firstIdAt(time: number): string {
  const digits = time.toString(16).padStart(12, "0");
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`;
}
