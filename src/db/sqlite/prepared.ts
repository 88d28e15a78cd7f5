// Runs the port's calls as prepared statements of bun:sqlite, generated from the tables and prepared once for each
// connection.

import type { Database, SQLQueryBindings, Statement as Prepared } from "bun:sqlite";
import { selected, withMarks, type Query, type Statement } from "../port/query.ts";
import { ClockSteps } from "./clock-steps.ts";
import { NUMBERED, preparedNumber } from "./row-numbers.ts";
import { TimeSpans } from "./time-spans.ts";
import { services } from "../tables/catalogue.ts";
import { numberFloors } from "../tables/database.ts";
import type { AnyRow, AnyTable, Column, Index, Kinds, Value } from "../port/table-definition.ts";

const FLOORS = numberFloors as unknown as AnyTable;
const SERVICES = services as unknown as AnyTable;

type FoundRow = Record<string, Value>;
type AnyPrepared = Prepared<FoundRow, SQLQueryBindings[]>;

export class Statements {
  readonly #byIndex = new Map<Index, (key: readonly Value[]) => AnyRow | null>();
  readonly #byQuery = new Map<object, { prepared: AnyPrepared; decoder: Decoder; bind: Binder }>();
  readonly #inserts = new Map<AnyTable, (row: AnyRow) => number>();
  readonly #updates = new Map<AnyTable, Map<string, AnyPrepared>>();
  readonly #deletes = new Map<AnyTable, AnyPrepared>();

  readonly #savepoints: { begin: AnyPrepared; release: AnyPrepared; undo: AnyPrepared }[] = [];

  readonly timeSpans: TimeSpans;
  readonly clockSteps: ClockSteps;

  constructor(readonly sqlite: Database) {
    this.timeSpans = new TimeSpans(sqlite);
    this.clockSteps = new ClockSteps(sqlite);
  }

  /** Returns the statements for one depth, because savepoints nest. */
  savepoint(depth: number): { begin: AnyPrepared; release: AnyPrepared; undo: AnyPrepared } {
    return (this.#savepoints[depth] ??= {
      begin: this.sqlite.prepare(`SAVEPOINT s${depth}`),
      release: this.sqlite.prepare(`RELEASE s${depth}`),
      undo: this.sqlite.prepare(`ROLLBACK TO s${depth}`),
    });
  }

  find(index: Index, key: readonly Value[]): AnyRow | null {
    let find = this.#byIndex.get(index);
    if (!find) this.#byIndex.set(index, (find = this.#makeFind(index)));
    return find(key);
  }

  all(query: Query, values: AnyRow | undefined): FoundRow[] {
    const { prepared, decoder, bind } = this.#query(query);
    const rows = prepared.all(...bind(values));
    if (decoder.length > 0) for (const row of rows) decode(row, decoder);
    return rows;
  }

  one(query: Query, values: AnyRow | undefined): FoundRow | undefined {
    const { prepared, decoder, bind } = this.#query(query);
    const row = prepared.get(...bind(values));
    return row ? decode(row, decoder) : undefined;
  }

  run(statement: Statement, values: AnyRow | undefined): number {
    const { prepared, bind } = this.#query({ ...statement, columns: {} }, statement);
    const { changes } = prepared.run(...bind(values));
    if (statement.writes.includes(FLOORS)) this.forgetNumbers();
    return changes;
  }

  /** Forgets whether numbers have passed their floors: a floor was raised, or another connection may have raised one. */
  forgetNumbers(): void {
    this.#inserts.clear();
  }

  /** Inserts a row. Returns its rowid, which is its number if the table has one. */
  insert(table: AnyTable, row: AnyRow): number {
    let insert = this.#inserts.get(table);
    if (!insert) this.#inserts.set(table, (insert = this.#makeInsert(table)));
    return insert(row);
  }

  update(table: AnyTable, row: AnyRow, changed: readonly string[]): void {
    const { sqlite } = this;
    let byFields = this.#updates.get(table);
    if (!byFields) this.#updates.set(table, (byFields = new Map()));
    const name = changed.join();
    let prepared = byFields.get(name);
    if (!prepared) {
      const sets = changed.map((field) => `${columnOf(table, field).name} = ?`);
      const text = `UPDATE ${table.name} SET ${sets.join(", ")} WHERE ${keyCondition(table)}`;
      byFields.set(name, (prepared = sqlite.prepare(text)));
    }
    const values = changed.map((field) => bindable(row[field]!));
    for (const field of table.key) values.push(bindable(row[field]!));
    const { changes } = prepared.run(...values);
    if (changes === 0) throw new Error(`row not found in ${table.name}`);
  }

  delete(table: AnyTable, row: AnyRow): void {
    let prepared = this.#deletes.get(table);
    if (!prepared) {
      prepared = this.sqlite.prepare(`DELETE FROM ${table.name} WHERE ${keyCondition(table)}`);
      this.#deletes.set(table, prepared!);
    }
    prepared!.run(...table.key.map((field) => bindable(row[field]!)));
    // A trigger keeps the number of a deleted service as a floor.
    if (table === SERVICES) this.forgetNumbers();
  }

  #query(query: Pick<Query, "text" | "parameters" | "columns">, identity: object = query) {
    let found = this.#byQuery.get(identity);
    if (!found) {
      const { text, parameters, columns } = query;
      // SQLite prepares a query with `column = ?1` and ORDER BY again for each new value: a list of orders then costs
      // 136 µs instead of 12. It plans `column = +?1` once for all values. So conditions of partial indexes must be
      // literals.
      const marked = withMarks(text.sqlite, parameters, (place, { name }) =>
        name === "numbers" || name === "texts"
          ? `SELECT value FROM json_each(?${place + 1})`
          : `+?${place + 1}`,
      );
      const lists = parameters.map(([name, kind]) => [name, kind.name.endsWith("s")] as const);
      const bind: Binder = (values) =>
        lists.map(([name, isList]) =>
          isList ? JSON.stringify(values![name]) : bindable(values![name]!),
        );
      found = { prepared: this.sqlite.prepare(marked), decoder: decoderOf(columns), bind };
      this.#byQuery.set(identity, found);
    }
    return found;
  }

  #makeFind(index: Index) {
    const { table, columns, where } = index;
    const conditions = columns.map(({ name }) => `${name} = ?`);
    if (where) conditions.push(where.text);
    const fields = table.columns.map((column) => selected(column)).join(", ");
    const prepared: AnyPrepared = this.sqlite.prepare(
      `SELECT ${fields} FROM ${table.name} WHERE ${conditions.join(" AND ")}`,
    );
    const decoder = decoderOf(
      Object.fromEntries(table.columns.map(({ field, kind }) => [field, kind])),
    );
    return (key: readonly Value[]) => {
      const row = prepared.get(...(key as SQLQueryBindings[]));
      return row ? decode(row, decoder) : null;
    };
  }

  #makeInsert(table: AnyTable) {
    const { columns, numberField } = table;
    const given = columns.filter(({ field }) => field !== numberField);
    const insert = (into: readonly Column[], number: string | null = null): AnyPrepared => {
      const names = into.map(({ name }) => name);
      const values = into.map(() => "?");
      // The number is left out instead of NULL: with a value SQLite would first check whether the rowid exists.
      if (number !== null) {
        names.push(columnOf(table, numberField!).name);
        values.push(number);
      }
      return this.sqlite.prepare(
        `INSERT INTO ${table.name} (${names.join()}) VALUES (${values.join()})`,
      );
    };
    const isFloored = (name: string): name is keyof typeof NUMBERED => name in NUMBERED;
    const number = isFloored(table.name) ? preparedNumber(this.sqlite, table.name) : null;
    const withNumber = insert(columns);
    const withoutNumber = insert(given, number);
    return (row: AnyRow) => {
      const isGiven = numberField === null || row[numberField] !== null;
      const values: SQLQueryBindings[] = [];
      // The fields of a complete row are in the order of the columns.
      for (const field in row) {
        if (!isGiven && field === numberField) continue;
        values.push(bindable(row[field]!));
      }
      const { lastInsertRowid } = (isGiven ? withNumber : withoutNumber).run(...values);
      return Number(lastInsertRowid);
    };
  }
}

type Binder = (values: AnyRow | undefined) => SQLQueryBindings[];
/** The fields whose values must be converted. */
type Decoder = readonly (readonly [field: string, isBoolean: boolean])[];

function decoderOf(columns: Kinds): Decoder {
  return Object.entries(columns)
    .filter(([, { name }]) => name === "boolean" || name === "bigint")
    .map(([field, { name }]) => [field, name === "boolean"]);
}

function decode(row: FoundRow, decoder: Decoder): FoundRow {
  for (const [field, isBoolean] of decoder) {
    const value = row[field]!;
    if (value === null) continue;
    row[field] = isBoolean ? value === 1 : BigInt(value);
  }
  return row;
}

function bindable(value: Value): SQLQueryBindings {
  return typeof value === "boolean" ? Number(value) : value;
}

function columnOf(table: AnyTable, field: string): Column {
  const column = table.columns.find((each) => each.field === field);
  if (!column) throw new Error(`${table.name} has no ${field}`);
  return column;
}

function keyCondition(table: AnyTable): string {
  return table.key.map((field) => `${columnOf(table, field).name} = ?`).join(" AND ");
}
