// What was loaded for a body, and what it still misses. The body runs again from its start once that is loaded too.

import { RowMap } from "../../port/row-map.ts";
import { type AnyRow, type Index, keyOf, type Value } from "../../port/table-definition.ts";
import type { Query, Statement } from "../../port/query.ts";

/** Thrown through a body that cannot continue. What is missing gets loaded, and the body runs again. */
export class Missing extends Error {
  override name = "Missing";
}

/**
 * Maps items like `items.map(body)`. When an item misses something it still tries the others, so that everything is
 * loaded in one round.
 */
export function eachOf<T, R>(items: readonly T[], body: (item: T, index: number) => R): R[] {
  const results: R[] = [];
  let missing: Missing | null = null;
  for (const [index, item] of items.entries()) {
    try {
      results.push(body(item, index));
    } catch (error) {
      // Once an item has missed something, later errors may be wrong: everything runs again.
      if (error instanceof Missing) missing ??= error;
      else if (missing === null) throw error;
      else break;
    }
  }
  if (missing !== null) throw missing;
  return results;
}

/** A row to load. */
export interface Wanted {
  index: Index;
  key: string | number;
  values: readonly Value[];
}

export interface WantedQuery {
  query: Query;
  values: AnyRow | undefined;
  key: string;
}

/** Loaded rows and results of queries. */
export class Known {
  readonly rows = new RowMap(false);
  readonly #wantedRows = new Map<Index, Map<string | number, Wanted>>();
  readonly #results = new Map<Query, Map<string, AnyRow[]>>();
  readonly #wantedQueries: WantedQuery[] = [];

  /** Returns null if the row does not exist. Throws Missing if that is not known yet. */
  row(index: Index, values: readonly Value[]): AnyRow | null {
    const key = keyOf(index, values);
    if (key === null) return null;
    const found = this.rows.find(index, key);
    if (found !== undefined) return found;
    this.wantRow(index, values);
    throw new Missing();
  }

  all(query: Query, values: AnyRow | undefined): AnyRow[] {
    const key = resultKey(values);
    const found = this.#results.get(query)?.get(key);
    // Copies the rows, because callers may change them.
    if (found) return found.map((row) => ({ ...row }));
    this.wantQuery(query, values);
    throw new Missing();
  }

  wantQuery(query: Query, values: AnyRow | undefined): void {
    const key = resultKey(values);
    const isWanted = this.#wantedQueries.some((each) => each.query === query && each.key === key);
    if (!isWanted) this.#wantedQueries.push({ query, values, key });
  }

  wantRow(index: Index, values: readonly Value[]): void {
    const key = keyOf(index, values);
    if (key === null || this.rows.find(index, key) !== undefined) return;
    let wanted = this.#wantedRows.get(index);
    if (!wanted) this.#wantedRows.set(index, (wanted = new Map()));
    wanted.set(key, { index, key, values });
  }

  isMissing(): boolean {
    return this.#wantedRows.size > 0 || this.#wantedQueries.length > 0;
  }

  /** Returns what is missing and clears the list. */
  takeWanted(): { rows: Wanted[][]; queries: WantedQuery[] } {
    const rows = [...this.#wantedRows.values()].map((wanted) => [...wanted.values()]);
    const queries = this.#wantedQueries.splice(0);
    this.#wantedRows.clear();
    return { rows, queries };
  }

  putRows(wanted: readonly Wanted[], found: ReadonlyMap<string | number, AnyRow>): void {
    for (const { index, key } of wanted) this.rows.load(index, key, found.get(key) ?? null);
  }

  putResult({ query, key }: WantedQuery, rows: AnyRow[]): void {
    let results = this.#results.get(query);
    if (!results) this.#results.set(query, (results = new Map()));
    results.set(key, rows);
  }
}

function resultKey(values: AnyRow | undefined): string {
  return values
    ? JSON.stringify(values, (_, value) => (typeof value === "bigint" ? `${value}n` : value))
    : "";
}

/** A statement over many rows that a command ran, by its position among the statements of that command. */
export interface Ran {
  statement: Statement;
  values: AnyRow | undefined;
}
