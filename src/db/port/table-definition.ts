// The definition of a table for the engines: columns as drizzle describes them, unique indexes, and the lock of its
// rows.

import { type BuildColumns, getTableColumns, type InferModelFromColumns } from "drizzle-orm";
import { customType, type SQLiteColumnBuilderBase, sqliteTable } from "drizzle-orm/sqlite-core";

/** A value that is written to a column or read from one. */
export type Value = string | number | bigint | boolean | null;

/**
 * `number`: an integer below 2^53. `bigint`: any 64-bit integer. `numbers`, `texts`: lists, only for parameters.
 * Engines store booleans as 0 and 1.
 */
export type KindName = "number" | "text" | "boolean" | "bigint" | "numbers" | "texts";

/** The kind of a column, a parameter or a field of a query's rows. `T` is its TypeScript type. */
export interface Kind<T = unknown> {
  readonly name: KindName;
  readonly type?: T;
}

export const number: Kind<number> = { name: "number" };
export const text: Kind<string> = { name: "text" };
export const boolean: Kind<boolean> = { name: "boolean" };
export const bigint: Kind<bigint> = { name: "bigint" };
export const numbers: Kind<readonly number[]> = { name: "numbers" };
export const texts: Kind<readonly string[]> = { name: "texts" };

export function nullable<T>(kind: Kind<T>): Kind<T | null> {
  return kind as Kind<T | null>;
}

/** A text column whose values are the union `T`. */
export function textOf<T extends string>(): Kind<T> {
  return text as Kind<T>;
}

export type Kinds = Readonly<Record<string, Kind>>;
/** An object with a field of each of these kinds. */
export type Typed<K extends Kinds> = { [F in keyof K]: K[F] extends Kind<infer T> ? T : never };

export interface Column {
  /** Its name in row objects. */
  readonly field: string;
  /** Its name in SQL. */
  readonly name: string;
  readonly kind: Kind;
  /** The value when an insert gives none; undefined: the insert must give it, or it is the number of the row. */
  readonly initial: Value | undefined;
}

/** Rows as engines handle them. */
export type AnyRow = Readonly<Record<string, Value>>;

export interface Table<Row = object, New = object, Key extends string = string> {
  readonly name: string;
  readonly columns: readonly Column[];
  /** The fields of the primary key. */
  readonly key: readonly string[];
  /** The field in which the database numbers the rows; null if there is none. */
  readonly numberField: string | null;
  /** All unique indexes, starting with the primary key. */
  readonly indexes: readonly Index[];
  /** Returns the account whose lock is needed to insert, update or delete a row; null: no lock. */
  readonly lockAccount: (row: AnyRow, isNew: boolean) => number | null;
  /** Fields that are written without that lock. The last write wins. */
  readonly unlocked: ReadonlySet<string>;
  /** Whether several updates of one row in a batch are written as one. */
  readonly coalesced: boolean;
  /**
   * Whether engines may keep its rows in memory while no other connection writes. True for rows read by most commands.
   */
  readonly cacheable: boolean;
  readonly types?: { row: Row; new: New; key: Key };
}

// oxlint-disable-next-line typescript/no-explicit-any -- any rows; where a table is named, its own types are checked
export type AnyTable = Table<any, any, any>;

/** A unique index: at most one row has a given key. */
export interface Index<Row = object, Key extends readonly Value[] = readonly Value[]> {
  readonly name: string;
  readonly table: AnyTable;
  readonly fields: readonly string[];
  readonly columns: readonly Column[];
  /** Whether the first column is compared without regard to the case of ASCII letters. */
  readonly folded: boolean;
  /** The condition of a partial index: which rows it contains; null: all rows. */
  readonly where: Condition | null;
  readonly types?: { row: Row; key: Key };
}

/** One condition in two forms: SQL text and a function. */
export interface Condition {
  readonly text: string;
  readonly holds: (row: AnyRow) => boolean;
}

export type RowOf<T extends AnyTable> = NonNullable<T["types"]>["row"];
/** A row as an insert takes it: fields with an initial value may be absent. */
export type NewRowOf<T extends AnyTable> = NonNullable<T["types"]>["new"];

type Columns = Record<string, SQLiteColumnBuilderBase>;
type Selected<C extends Columns> = InferModelFromColumns<BuildColumns<string, C, "sqlite">>;
type Inserted<C extends Columns> = InferModelFromColumns<
  BuildColumns<string, C, "sqlite">,
  "insert"
>;

type FieldOf<C extends Columns> = keyof C & string;
type KeyOf<C extends Columns, Fields extends readonly string[]> = {
  [I in keyof Fields]: Fields[I] extends keyof Selected<C>
    ? NonNullable<Selected<C>[Fields[I]]>
    : never;
};

export interface TableOptions<
  C extends Columns,
  Key extends readonly FieldOf<C>[],
  Unique extends Record<string, readonly FieldOf<C>[]>,
> {
  key: Key;
  numberField?: FieldOf<C>;
  unique?: Unique;
  /** Names of unique indexes that disregard the case of ASCII letters. */
  folded?: readonly (keyof Unique)[];
  /** The conditions of partial unique indexes, by name. Rows with null in the key are always left out. */
  where?: { [Name in keyof Unique]?: Condition };
  lock?: (row: Selected<C>, isNew: boolean) => number | null;
  unlocked?: readonly FieldOf<C>[];
  coalesced?: boolean;
  cacheable?: boolean;
}

type Indexes<C extends Columns, Unique extends Record<string, readonly FieldOf<C>[]>> = {
  [Name in keyof Unique]: Index<Selected<C>, KeyOf<C, Unique[Name]> & readonly Value[]>;
};

/** A column for integers that may exceed 2^53. Their type is bigint. */
export const bigInteger = customType<{ data: bigint; driverData: bigint }>({
  dataType: () => "integer",
});

/** Defines a table. The result has its indexes as members: `byKey` for the primary key, the others by their names. */
export function table<
  C extends Columns,
  const Key extends readonly FieldOf<C>[],
  const Unique extends Record<string, readonly FieldOf<C>[]> = Record<never, never>,
>(
  name: string,
  schema: C,
  options: TableOptions<C, Key, Unique>,
): Table<Selected<C>, Inserted<C>, Key[number]> & Indexes<C, { byKey: Key }> & Indexes<C, Unique> {
  const columns = Object.entries(getTableColumns(sqliteTable(name, schema))).map(
    ([field, column]) => ({
      field,
      // Drizzle gives a column without a name the name of its field.
      name: column.name === field ? snakeCase(field) : column.name,
      kind: { name: kindOf(column.dataType) },
      // Undefined for the number of the row, and for values that an insert must give.
      initial: column.hasDefault ? (column.default as Value) : column.notNull ? undefined : null,
    }),
  );
  const indexes: Index[] = [];
  const described = {
    name,
    columns,
    key: options.key,
    numberField: options.numberField ?? null,
    indexes,
    lockAccount: (options.lock ?? (() => null)) as Table["lockAccount"],
    unlocked: new Set<string>(options.unlocked),
    coalesced: options.coalesced ?? false,
    cacheable: options.cacheable ?? false,
  };
  const byName: Record<string, Index> = {};
  for (const [indexName, fields] of Object.entries({ byKey: options.key, ...options.unique })) {
    const folded = options.folded?.includes(indexName) ?? false;
    const columnsOfKey = (fields as readonly string[]).map((field) =>
      columns.find((column) => column.field === field)!,
    );
    const where = (options.where as Record<string, Condition> | undefined)?.[indexName] ?? null;
    const index = {
      name: indexName,
      table: described,
      fields,
      columns: columnsOfKey,
      folded,
      where,
    };
    indexes.push(index);
    byName[indexName] = index;
  }
  return Object.assign(described, byName) as unknown as ReturnType<typeof table<C, Key, Unique>>;
}

/** Returns the name of a field's column, unless it has one of its own: `createdAt` is stored in `created_at`. */
function snakeCase(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function kindOf(dataType: string): KindName {
  switch (dataType) {
    case "boolean":
      return "boolean";
    case "number":
      return "number";
    case "string":
      return "text";
    // The only custom type is bigInteger.
    case "custom":
      return "bigint";
    default:
      throw new Error(`columns of type ${dataType} are not supported`);
  }
}

interface Initial {
  /** All fields of a table in their order. Rows then have the same object shape, which is fast. */
  row: Record<string, Value | undefined>;
  /** The fields that an insert must give. */
  required: readonly string[];
}

/**
 * Returns a row as an insert stores it, with fields in the order of the columns. Its number is still null. Throws if a
 * required field is missing.
 */
export function completeRow(table: AnyTable, row: object): Record<string, Value> {
  const { row: initial, required } = initialOf(table);
  const complete = { ...initial };
  // for…in takes a fifth of the time of Object.entries: its accesses are compiled as if they named the field.
  for (const field in row) {
    const value = (row as AnyRow)[field];
    if (value !== undefined) complete[field] = value;
  }
  for (const field of required) {
    if (complete[field] === undefined) throw new Error(`a row of ${table.name} needs ${field}`);
  }
  return complete as Record<string, Value>;
}

const initials = new WeakMap<AnyTable, Initial>();

function initialOf(table: AnyTable): Initial {
  let found = initials.get(table);
  if (!found) {
    const { columns, numberField } = table;
    const row = columns.map(({ field, initial }) => [
      field,
      field === numberField ? null : initial,
    ]);
    const required = columns.filter(
      ({ field, initial }) => field !== numberField && initial === undefined,
    );
    found = {
      row: Object.fromEntries(row) as Initial["row"],
      required: required.map(({ field }) => field),
    };
    initials.set(table, found);
  }
  return found;
}

/** Returns the fields whose value in `changes` differs from the value in `before`. */
export function changedFields(before: AnyRow, changes: AnyRow): string[] {
  const changed: string[] = [];
  for (const field in changes) {
    const value = changes[field];
    const old = before[field];
    // A row has a value for every field; an empty field is null, not undefined.
    if (value !== undefined && value !== old && old !== undefined) changed.push(field);
  }
  return changed;
}

/** Returns a key as one value, unique within its index; null if a part is null: such rows are not in the index. */
export function keyOf(index: Index, values: readonly Value[]): string | number | null {
  const { folded } = index;
  const [first] = values;
  if (values.length === 1 && !folded) {
    return typeof first === "bigint" || typeof first === "boolean" ? String(first) : first!;
  }
  let key = "";
  for (let place = 0; place < values.length; place += 1) {
    const value = values[place]!;
    if (value === null) return null;
    const part = folded && place === 0 ? foldCase(String(value)) : String(value);
    key = place === 0 ? part : `${key}\0${part}`;
  }
  return key;
}

/** Returns the key of a row in an index; null if the index does not contain the row. */
export function keyOfRow(index: Index, row: AnyRow): string | number | null {
  const { fields, folded, where } = index;
  if (where && !where.holds(row)) return null;
  if (fields.length === 1 && !folded) return row[fields[0]!] as string | number | null;
  return keyOf(
    index,
    fields.map((field) => row[field]!),
  );
}

/** Folds only ASCII letters, like NOCASE in SQLite. */
function foldCase(value: string): string {
  return value.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
