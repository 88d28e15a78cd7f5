// Queries and set-based statements: SQL text written once for all engines, with named parameters such as `:account`.
// Aliases are quoted (AS "orderId"), because PostgreSQL folds unquoted names to lower case.

import type { AnyTable, Column, Kind, Kinds, Table, Typed } from "./table-definition.ts";

/** A query that reads. `Row`: an object with the fields of `columns`. */
export interface Query<Row = object, P extends Kinds = Kinds> {
  readonly text: Dialects;
  /** The parameters, in the order of their numbers. */
  readonly parameters: readonly (readonly [name: string, kind: Kind])[];
  readonly columns: Kinds;
  /** Parameters that restrict the rows by a field of the same name: see QueryParts. */
  readonly restrictedBy: readonly string[];
  readonly types?: { row: Row; parameters: P };
}

/** A write that affects many rows. */
export interface Statement<P extends Kinds = Kinds> {
  readonly text: Dialects;
  readonly parameters: readonly (readonly [name: string, kind: Kind])[];
  /** The tables that it writes. */
  readonly writes: readonly AnyTable[];
  readonly types?: { parameters: P };
}

/** SQL text for each engine, with named parameters. */
export interface Dialects {
  readonly sqlite: string;
  readonly postgres: string;
}

export type Dialect = keyof Dialects;

type Text = string | Dialects;

interface QueryParts<G extends Kinds, P extends Kinds> {
  parameters?: P;
  columns: G;
  /**
   * Parameters that have the name of a field. From tables with that field, the query reads only rows with the
   * parameter's value. So it may also run after earlier commands of its batch wrote rows with other values.
   */
  restrictedBy?: readonly (keyof P & string)[];
  text: Text;
}

export function query<G extends Kinds, P extends Kinds = Record<never, never>>(
  parts: QueryParts<G, P>,
): Query<Typed<G>, P> {
  return {
    text: dialectsOf(parts.text),
    parameters: Object.entries(parts.parameters ?? {}),
    columns: parts.columns,
    restrictedBy: parts.restrictedBy ?? [],
  };
}

/**
 * Makes a list whose text depends on its filters: one query for each set of conditions, made once. `where` begins with
 * WHERE, or is empty.
 */
export function listByConditions<G extends Kinds>(columns: G, textOf: (where: string) => string) {
  const made = new Map<string, Query<Typed<G>, Kinds>>();
  return (conditions: readonly string[], parameters: Kinds): Query<Typed<G>, Kinds> => {
    const where = conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : "";
    let list = made.get(where);
    if (!list) made.set(where, (list = query({ parameters, columns, text: textOf(where) })));
    return list;
  };
}

export function statement<P extends Kinds = Record<never, never>>(parts: {
  parameters?: P;
  writes: readonly AnyTable[];
  text: Text;
}): Statement<P> {
  return {
    text: dialectsOf(parts.text),
    parameters: Object.entries(parts.parameters ?? {}),
    writes: parts.writes,
  };
}

/** The kinds of a table's fields, all or only those named, for the `columns` of a query. */
export function fields<Row, New, Key extends string, Field extends keyof Row & string>(
  table: Table<Row, New, Key>,
  ...names: Field[]
): { [F in Field]: Kind<Row[F]> } {
  return Object.fromEntries(
    columnsNamed(table, names).map(({ field, kind }) => [field, kind]),
  ) as never;
}

/** The SELECT list for `fields` with the same arguments. */
export function select<Row, New, Key extends string>(
  table: Table<Row, New, Key>,
  ...names: (keyof Row & string)[]
): string {
  return selectAs(table, table.name, ...names);
}

export function selectAs<Row, New, Key extends string>(
  table: Table<Row, New, Key>,
  alias: string,
  ...names: (keyof Row & string)[]
): string {
  return columnsNamed(table, names)
    .map((column) => selected(column, `${alias}.`))
    .join(", ");
}

/** One item of a SELECT list. A bigint is read as text: bun:sqlite would return a double, inexact above 2^53. */
export function selected({ field, name, kind }: Column, prefix = ""): string {
  const value = `${prefix}${name}`;
  return `${kind.name === "bigint" ? `CAST(${value} AS TEXT)` : value} AS "${field}"`;
}

/** Replaces every parameter with the result of `mark`. Lists are already in parentheses, as in `IN (:ids)`. */
export function withMarks(
  text: string,
  parameters: Query["parameters"],
  mark: (place: number, kind: Kind) => string,
): string {
  const used = new Set<string>();
  const marked = text.replace(/(?<![:\w]):([a-zA-Z]\w*)/g, (_, name: string) => {
    const place = parameters.findIndex(([each]) => each === name);
    if (place < 0) throw new Error(`:${name} is not a parameter of the query: ${text}`);
    used.add(name);
    return mark(place, parameters[place]![1]);
  });
  const unused = parameters.find(([name]) => !used.has(name));
  if (unused) throw new Error(`the query does not use :${unused[0]}: ${text}`);
  return marked;
}

export function names({ text }: Pick<Query, "text">, { name }: Pick<AnyTable, "name">): boolean {
  return wordsOf(text).has(name);
}

const words = new WeakMap<Dialects, Set<string>>();

function wordsOf(text: Dialects): Set<string> {
  let found = words.get(text);
  if (!found) words.set(text, (found = new Set(text.sqlite.match(/\w+/g))));
  return found;
}

/** Makes the text for each engine, for queries that must differ between them. */
export function byDialect(textFor: (dialect: Dialect) => string): Dialects {
  return { sqlite: textFor("sqlite"), postgres: textFor("postgres") };
}

/**
 * SQL for "the column has one of these values". `values`: a sub-select or a list parameter. PostgreSQL misestimates the
 * rows of a sub-select whose LIMIT is a parameter, and would join the whole table. It always looks up an array by the
 * index.
 */
export function isOneOf(column: string, values: string, dialect: Dialect): string {
  return dialect === "postgres" ? `${column} = ANY (ARRAY(${values}))` : `${column} IN (${values})`;
}

function dialectsOf(text: Text): Dialects {
  return typeof text === "string" ? { sqlite: text, postgres: text } : text;
}

function columnsNamed(table: AnyTable, names: readonly string[]): readonly Column[] {
  if (names.length === 0) return table.columns;
  return names.map((name) => table.columns.find(({ field }) => field === name)!);
}
