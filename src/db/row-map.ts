// An identity map: the rows that a batch has read or written, one entry for each. A look-up is made once and sees later
// writes. Changes are journaled, so that those of one command can be undone.

import { UniqueError } from "./port.ts";
import { type AnyRow, type AnyTable, type Index, keyOfRow } from "./table-definition.ts";

type Key = string | number;

/** One row, whichever index led to it; null: it is known to be absent, or was deleted. */
interface Entry {
  row: AnyRow | null;
}

type Entries = Map<Key, Entry>;

/** What there was before a change: of a row, or of an index. */
type Change =
  | { entry: Entry; before: AnyRow | null }
  | { entries: Entries; key: Key; before: Entry | undefined };

export class RowMap {
  readonly #byIndex = new Map<Index, Entries>();
  readonly #journal: Change[] = [];
  /** Whether changes may have to be undone. */
  isJournaled = true;

  /**
   * `journalLoads`: undo also forgets what was loaded since the mark. On SQLite a command may have loaded its own writes from
   * the database; on PostgreSQL they are in this map alone.
   */
  constructor(readonly journalLoads: boolean) {}

  /** Undefined: not known, ask the database. */
  find(index: Index, key: Key): AnyRow | null | undefined {
    return this.#byIndex.get(index)?.get(key)?.row;
  }

  /** Stores what the database holds for a key. Returns the row as the batch sees it: it may be known by another index. */
  load(index: Index, key: Key, row: AnyRow | null): AnyRow | null {
    if (row === null) {
      this.#put(index, key, { row: null });
      return null;
    }
    const [primary] = index.table.indexes;
    const primaryKey = keyOfRow(primary!, row)!;
    const known = this.#entriesOf(primary!).get(primaryKey);
    if (known) {
      // Moved away from this key, or deleted, within the batch.
      const isThere = known.row !== null && keyOfRow(index, known.row) === key;
      this.#put(index, key, isThere ? known : { row: null });
      return isThere ? known.row : null;
    }
    const entry = { row };
    this.#put(primary!, primaryKey, entry);
    if (index !== primary) this.#put(index, key, entry);
    return row;
  }

  /** `all`: puts the row into every index. Without it only where its key was looked up before: elsewhere a look-up finds it in SQLite. */
  add(table: AnyTable, row: AnyRow, all: boolean): void {
    const entry = { row };
    let isKnown = all;
    // The primary key's last: a row that another index leads to is the one that it leads to.
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

  /** The row that was known as `before` is `row` now; `changed` are the fields that differ. */
  replace(table: AnyTable, before: AnyRow, row: AnyRow, changed: readonly string[]): void {
    const [primary] = table.indexes;
    const entry = this.#byIndex.get(primary!)!.get(keyOfRow(primary!, before)!)!;
    for (const index of table.indexes) {
      // Whether a partial index holds a row may depend on any field.
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

  /** Everything known of these tables is as if it had never been read. */
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

  /** For another transaction: what was read of tables that are kept stays known, unless it is more than `limit` rows. */
  keep(limit: number): void {
    this.#journal.length = 0;
    for (const [{ table }, entries] of this.#byIndex) {
      if (!table.kept) entries.clear();
      // All of it: the indexes of a table must lead to the same rows.
      else if (entries.size > limit) return this.clear();
    }
  }

  clear(): void {
    this.#journal.length = 0;
    this.#byIndex.clear();
  }

  /** What undo goes back to. */
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
