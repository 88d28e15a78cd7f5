// An identity map: the rows that a batch has read or written, with one entry for each row. Each row is read from the
// database once, and later look-ups see the batch's writes. A journal of the changes allows one command to be undone.

import { UniqueError } from "./port.ts";
import { type AnyRow, type AnyTable, type Index, keyOfRow } from "./table-definition.ts";

type Key = string | number;

/** One row, shared by all indexes; null: the row is known to be absent, or was deleted. */
interface Entry {
  row: AnyRow | null;
}

type Entries = Map<Key, Entry>;

/** The state before a change of a row or of an index entry. */
type Change =
  | { entry: Entry; before: AnyRow | null }
  | { entries: Entries; key: Key; before: Entry | undefined };

export class RowMap {
  readonly #byIndex = new Map<Index, Entries>();
  readonly #journal: Change[] = [];
  /** Whether changes may have to be undone. */
  isJournaled = true;

  /**
   * `journalLoads`: whether undo also forgets the rows loaded since the mark. SQLite needs this, because a command may
   * have loaded its own writes from the database. On PostgreSQL those are only in this map.
   */
  constructor(readonly journalLoads: boolean) {}

  /** Returns the row, null if it is known to be absent, or undefined if the database must be asked. */
  find(index: Index, key: Key): AnyRow | null | undefined {
    return this.#byIndex.get(index)?.get(key)?.row;
  }

  /**
   * Stores the row that the database has for a key. Returns the row as the batch sees it. It may differ if the batch
   * has already found the row by another index.
   */
  load(index: Index, key: Key, row: AnyRow | null): AnyRow | null {
    if (row === null) {
      this.#put(index, key, { row: null });
      return null;
    }
    const [primary] = index.table.indexes;
    const primaryKey = keyOfRow(primary!, row)!;
    const known = this.#entriesOf(primary!).get(primaryKey);
    if (known) {
      // False if the batch deleted the row, or changed this key.
      const isThere = known.row !== null && keyOfRow(index, known.row) === key;
      this.#put(index, key, isThere ? known : { row: null });
      return isThere ? known.row : null;
    }
    const entry = { row };
    this.#put(primary!, primaryKey, entry);
    if (index !== primary) this.#put(index, key, entry);
    return row;
  }

  /**
   * Adds an inserted row. With `all`, adds it to every index. Otherwise only to indexes where its key was looked up:
   * later look-ups in other indexes read SQLite.
   */
  add(table: AnyTable, row: AnyRow, all: boolean): void {
    const entry = { row };
    let isKnown = all;
    // The primary key comes last: a row in any other index must also be in the primary key's, as the same entry.
    for (let place = table.indexes.length - 1; place >= 0; place -= 1) {
      const index = table.indexes[place]!;
      const isPrimary = place === 0;
      const entries =
        all || (isPrimary && isKnown) ? this.#entriesOf(index) : this.#byIndex.get(index);
      if (!entries || (entries.size === 0 && !isKnown)) continue;
      const key = keyOfRow(index, row);
      if (key === null || !(all || (isPrimary && isKnown) || entries.has(key))) continue;
      this.#refuseTaken(index, entries, key);
      this.#set(entries, key, entry);
      isKnown = true;
    }
  }

  /** Replaces the known row `before` by `row`. `changed`: the fields that differ. */
  replace(table: AnyTable, before: AnyRow, row: AnyRow, changed: readonly string[]): void {
    const [primary] = table.indexes;
    const entry = this.#byIndex.get(primary!)!.get(keyOfRow(primary!, before)!)!;
    for (const index of table.indexes) {
      // Any field may decide whether a partial index contains a row.
      if (!index.where && !changed.some((field) => index.fields.includes(field))) continue;
      const entries = this.#byIndex.get(index);
      if (entries) this.#move(index, entries, before, row, entry);
    }
    if (this.isJournaled) this.#journal.push({ entry, before });
    entry.row = row;
  }

  remove(table: AnyTable, row: AnyRow): void {
    const [primary] = table.indexes;
    const entry = this.#byIndex.get(primary!)!.get(keyOfRow(primary!, row)!)!;
    if (this.isJournaled) this.#journal.push({ entry, before: row });
    entry.row = null;
    for (const index of table.indexes) {
      const entries = this.#byIndex.get(index);
      const key = keyOfRow(index, row);
      if (entries && key !== null) this.#set(entries, key, { row: null });
    }
  }

  /** Forgets everything that is known about these tables. */
  forget(tables: readonly AnyTable[]): void {
    for (const table of tables) {
      for (const index of table.indexes) {
        const entries = this.#byIndex.get(index);
        if (!entries) continue;
        for (const [key, before] of this.isJournaled ? entries : []) {
          this.#journal.push({ entries, key, before });
        }
        entries.clear();
      }
    }
  }

  /**
   * Prepares for the next transaction: keeps the rows of cacheable tables, but none if an index has more than `limit`.
   */
  keep(limit: number): void {
    this.#journal.length = 0;
    for (const [{ table }, entries] of this.#byIndex) {
      if (!table.cacheable) entries.clear();
      // Clear everything, because the indexes of a table must lead to the same rows.
      else if (entries.size > limit) return this.clear();
    }
  }

  clear(): void {
    this.#journal.length = 0;
    this.#byIndex.clear();
  }

  /** Returns the current position in the journal, for `undo`. */
  mark(): number {
    return this.#journal.length;
  }

  undo(mark: number): void {
    while (this.#journal.length > mark) {
      const change = this.#journal.pop()!;
      if ("entry" in change) change.entry.row = change.before;
      else if (change.before === undefined) change.entries.delete(change.key);
      else change.entries.set(change.key, change.before);
    }
  }

  #move(index: Index, entries: Entries, before: AnyRow, row: AnyRow, entry: Entry): void {
    const oldKey = keyOfRow(index, before);
    const key = keyOfRow(index, row);
    if (oldKey === key) return;
    if (oldKey !== null && entries.has(oldKey)) this.#set(entries, oldKey, { row: null });
    if (key === null) return;
    this.#refuseTaken(index, entries, key);
    this.#set(entries, key, entry);
  }

  #refuseTaken({ table, fields }: Index, entries: Entries, key: Key): void {
    if (entries.get(key)?.row) throw new UniqueError(`${table.name} has this ${fields.join()}`);
  }

  #put(index: Index, key: Key, entry: Entry): void {
    const entries = this.#entriesOf(index);
    if (this.journalLoads) this.#set(entries, key, entry);
    else entries.set(key, entry);
  }

  #set(entries: Entries, key: Key, entry: Entry): void {
    if (this.isJournaled) this.#journal.push({ entries, key, before: entries.get(key) });
    entries.set(key, entry);
  }

  #entriesOf(index: Index): Entries {
    let entries = this.#byIndex.get(index);
    if (!entries) this.#byIndex.set(index, (entries = new Map()));
    return entries;
  }
}
