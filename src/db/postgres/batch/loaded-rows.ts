// The rows and results that were loaded for a body, and those that it still misses. Once they are loaded too, the body
// runs again from its start.

import { RowMap } from "../../port/row-map.ts";
import { type AnyRow, type Index, keyOf, type Value } from "../../port/table-definition.ts";
import type { Query, Statement } from "../../port/query.ts";

/** Thrown through a body that cannot continue. The missing rows are then loaded, and the body runs again. */
export class NotLoaded extends Error {
  override name = "NotLoaded";
}

/**
 * Maps items like `items.map(body)`. Continues after an item that misses a row, so that the rows of all items are
 * loaded in one round.
 */
export function mapLoaded<T, R>(items: readonly T[], body: (item: T, index: number) => R): R[] {
  const results: R[] = [];
  let missing: NotLoaded | null = null;
  for (const [index, item] of items.entries()) {
    try {
      results.push(body(item, index));
    } catch (error) {
      // After a missing row, later errors may be wrong. All items run again.
      if (error instanceof NotLoaded) missing ??= error;
      else if (missing === null) throw error;
      else break;
    }
  }
  if (missing !== null) throw missing;
  return results;
}

export interface RowToLoad {
  index: Index;
  key: string | number;
  values: readonly Value[];
}

export interface QueryToLoad {
  query: Query;
  values: AnyRow | undefined;
  key: string;
}

/** Loaded rows and results of queries. */
export class LoadedRows {
  readonly rows = new RowMap(false);
  readonly #rowsToLoad = new Map<Index, Map<string | number, RowToLoad>>();
  readonly #results = new Map<Query, Map<string, AnyRow[]>>();
  readonly #queriesToLoad: QueryToLoad[] = [];

  /** Returns a row; null if it does not exist. Throws NotLoaded if it is not loaded yet. */
  row(index: Index, values: readonly Value[]): AnyRow | null {
    const key = keyOf(index, values);
    if (key === null) return null;
    const found = this.rows.find(index, key);
    if (found !== undefined) return found;
    this.requestRow(index, values);
    throw new NotLoaded();
  }

  all(query: Query, values: AnyRow | undefined): AnyRow[] {
    const key = resultKey(values);
    const found = this.#results.get(query)?.get(key);
    // Copies the rows, because callers may change them.
    if (found) return found.map((row) => ({ ...row }));
    this.requestQuery(query, values);
    throw new NotLoaded();
  }

  requestQuery(query: Query, values: AnyRow | undefined): void {
    const key = resultKey(values);
    const isWanted = this.#queriesToLoad.some((each) => each.query === query && each.key === key);
    if (!isWanted) this.#queriesToLoad.push({ query, values, key });
  }

  requestRow(index: Index, values: readonly Value[]): void {
    const key = keyOf(index, values);
    if (key === null || this.rows.find(index, key) !== undefined) return;
    let wanted = this.#rowsToLoad.get(index);
    if (!wanted) this.#rowsToLoad.set(index, (wanted = new Map()));
    wanted.set(key, { index, key, values });
  }

  hasRequests(): boolean {
    return this.#rowsToLoad.size > 0 || this.#queriesToLoad.length > 0;
  }

  /** Returns the missing rows and queries, and clears the lists. */
  takeRequests(): { rows: RowToLoad[][]; queries: QueryToLoad[] } {
    const rows = [...this.#rowsToLoad.values()].map((wanted) => [...wanted.values()]);
    const queries = this.#queriesToLoad.splice(0);
    this.#rowsToLoad.clear();
    return { rows, queries };
  }

  putRows(wanted: readonly RowToLoad[], found: ReadonlyMap<string | number, AnyRow>): void {
    for (const { index, key } of wanted) this.rows.load(index, key, found.get(key) ?? null);
  }

  putResult({ query, key }: QueryToLoad, rows: AnyRow[]): void {
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

/** A set-based statement that a command runs, with its values. */
export interface StatementRun {
  statement: Statement;
  values: AnyRow | undefined;
}
