// The rows that a batch has read or written, each once: a look-up that was made is not made again, and sees what was
// written since. Changes are journaled, so that those of one command can be taken back.

import { UniqueError } from "./port.ts";
import { type AnyRow, type AnyTable, type Index, keyOfRow } from "./table.ts";

/** Null: known to be absent. */
type Found = AnyRow | null;
type Rows = Map<string | number, Found>;

/** A change of the map, with what was there before it; undefined: nothing was known. */
interface Change {
  rows: Rows;
  key: string | number;
  before: Found | undefined;
}

export class RowMap {
  readonly #byIndex = new Map<Index, Rows>();
  readonly #journal: Change[] = [];

  /** Undefined: not known, ask the database. */
  find(index: Index, key: string | number): Found | undefined {
    return this.#byIndex.get(index)?.get(key);
  }

  /** Takes in what the database holds for a key. Returns the row as it is by now: it may have been known by another. */
  load(index: Index, key: string | number, row: Found): Found {
    if (row === null) {
      this.#rowsOf(index).set(key, null);
      return null;
    }
    const [primary] = index.table.indexes;
    const known = this.#rowsOf(primary!).get(keyOfRow(primary!, row)!);
    if (known !== undefined) {
      // Moved away from this key, or deleted, within the batch.
      const current = known !== null && keyOfRow(index, known) === key ? known : null;
      this.#rowsOf(index).set(key, current);
      return current;
    }
    for (const each of index.table.indexes) {
      const keyOfEach = keyOfRow(each, row);
      if (keyOfEach !== null) this.#rowsOf(each).set(keyOfEach, row);
    }
    return row;
  }

  /** `all`: also where nobody asked yet. Without it only what is known is kept right: SQLite has the row already. */
  add(table: AnyTable, row: AnyRow, all: boolean): void {
    for (const index of table.indexes) {
      const rows = all ? this.#rowsOf(index) : this.#byIndex.get(index);
      if (!rows) continue;
      const key = keyOfRow(index, row);
      if (key === null || !(all || rows.has(key))) continue;
      if (rows.get(key))
        throw new UniqueError(`${table.name} has this ${index.fields.join()} already`);
      this.#set(rows, key, row);
    }
  }

  replace(table: AnyTable, before: AnyRow, row: AnyRow): void {
    for (const index of table.indexes) {
      const rows = this.#byIndex.get(index);
      if (!rows) continue;
      const oldKey = keyOfRow(index, before);
      const key = keyOfRow(index, row);
      if (oldKey !== key && oldKey !== null && rows.has(oldKey)) this.#set(rows, oldKey, null);
      if (key === null) continue;
      if (oldKey !== key && rows.get(key)) {
        throw new UniqueError(`${table.name} has this ${index.fields.join()} already`);
      }
      if (oldKey !== key || rows.has(key)) this.#set(rows, key, row);
    }
  }

  remove(table: AnyTable, row: AnyRow): void {
    for (const index of table.indexes) {
      const rows = this.#byIndex.get(index);
      const key = keyOfRow(index, row);
      if (rows && key !== null) this.#set(rows, key, null);
    }
  }

  /** Everything known of these tables is as if it had never been read. */
  forget(tables: readonly AnyTable[]): void {
    for (const table of tables) {
      for (const index of table.indexes) {
        const rows = this.#byIndex.get(index);
        for (const [key, before] of rows ?? []) this.#journal.push({ rows: rows!, key, before });
        rows?.clear();
      }
    }
  }

  /** What undo goes back to. */
  mark(): number {
    return this.#journal.length;
  }

  undo(mark: number): void {
    while (this.#journal.length > mark) {
      const { rows, key, before } = this.#journal.pop()!;
      if (before === undefined) rows.delete(key);
      else rows.set(key, before);
    }
  }

  #set(rows: Rows, key: string | number, row: Found): void {
    this.#journal.push({ rows, key, before: rows.get(key) });
    rows.set(key, row);
  }

  #rowsOf(index: Index): Rows {
    let rows = this.#byIndex.get(index);
    if (!rows) this.#byIndex.set(index, (rows = new Map()));
    return rows;
  }
}
