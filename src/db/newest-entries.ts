// SQL for the newest numbers of a list, read in the order of an index: in each dialect as its planner reads the fewest entries.

import type { Ledger } from "./port.ts";
import type { Dialect } from "./query.ts";

/** Entries of an index that are in the order of their numbers, since its other columns are given. */
export interface Entries {
  /** SQL of the value of each column but the number, in the order of the index. */
  values: Readonly<Record<string, string>>;
  /** The predicate of a partial index, and other conditions. */
  where: readonly string[];
}

/** A list that is read from several parts of a table's indexes. */
interface ListSource {
  table: Ledger;
  /** The column of the numbers. */
  number: string;
  /** No number is in two of them. */
  parts: readonly Entries[];
  /** Whether it has a time window. */
  byTime: boolean;
  /** `:limit` is never more. */
  most: number;
}

/** SQL for the `:limit` highest numbers from `:first` to `:last`, highest first. */
export function newestOf(source: ListSource, dialect: Dialect): string {
  const { number, parts } = source;
  const entries = dialect === "sqlite" ? sqliteEntries : postgresEntries;
  const lists = parts.map((part) => entries(source, part));
  const all = lists.join(" UNION ALL ");
  const select = dialect === "sqlite" ? all : `SELECT ${number} FROM (${all}) AS newest`;
  return `${select} ORDER BY ${number} DESC LIMIT :limit`;
}

/**
 * SQLite merges the parts itself, so that it reads hardly more than it returns. Here a span holds no rows of other
 * times: rowsInWindow looks at those that are returned alone.
 */
function sqliteEntries({ table, number }: ListSource, { values, where }: Entries): string {
  const equal = Object.entries(values).map(([column, value]) => `${column} = ${value}`);
  const conditions = [...equal, ...where, `${number} BETWEEN :first AND :last`];
  return `SELECT ${number} FROM ${table} WHERE ${conditions.join(" AND ")}`;
}

/**
 * PostgreSQL plans without the parameters: with a condition for each column it may read the whole table by its primary
 * key. The order of two columns is that of one index alone, and a LIMIT that it knows makes reading in this order
 * cheaper than sorting. `coalesce` keeps it from reading a whole window by the index of times.
 */
function postgresEntries(
  { table, number, byTime, most }: ListSource,
  { values, where }: Entries,
): string {
  const given = Object.entries(values);
  const [column, value] = given.pop()!;
  const conditions = [
    ...given.map(([each, equal]) => `${each} = ${equal}`),
    `(${column}, ${number}) >= (${value}, :first)`,
    `(${column}, ${number}) <= (${value}, :last)`,
    ...where,
    ...(byTime ? ["coalesce(created_at BETWEEN :from AND :to, FALSE)"] : []),
  ];
  return `(SELECT ${number} FROM ${table} WHERE ${conditions.join(" AND ")}
    ORDER BY ${column} DESC, ${number} DESC LIMIT ${most})`;
}

/** SQL for the time window of a page's rows: PostgreSQL has chosen their numbers by it. */
export function rowsInWindow(byTime: boolean, dialect: Dialect): string {
  return byTime && dialect === "sqlite" ? "AND created_at BETWEEN :from AND :to" : "";
}
