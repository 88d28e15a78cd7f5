// SQL for the newest numbers of a list, read in the order of an index. Each dialect gets the form for which its planner
// reads the fewest entries.

import type { TimedTable } from "./port.ts";
import type { Dialect } from "./query.ts";

/** A part of an index in which all columns except the number have one value, so its entries are in number order. */
export interface EntryQuery {
  /** SQL for the value of each column except the number, in the order of the index. */
  values: Readonly<Record<string, string>>;
  /** The predicate of a partial index, and other conditions. */
  where: readonly string[];
}

/** A list that is read from several parts of a table's indexes. */
interface ListSource {
  table: TimedTable;
  /** The column of the numbers. */
  number: string;
  /** The parts. No number is in two of them. */
  parts: readonly EntryQuery[];
  /** Whether it has a time window. */
  byTime: boolean;
  /** Maximum of `:limit`. */
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
 * Returns SQLite's form. SQLite merges the parts itself, so it reads hardly more than it returns. Its spans contain no
 * rows of other times, so rowsInWindow checks only the returned rows.
 */
function sqliteEntries({ table, number }: ListSource, { values, where }: EntryQuery): string {
  const equal = Object.entries(values).map(([column, value]) => `${column} = ${value}`);
  const conditions = [...equal, ...where, `${number} BETWEEN :first AND :last`];
  return `SELECT ${number} FROM ${table} WHERE ${conditions.join(" AND ")}`;
}

/**
 * Returns PostgreSQL's form. PostgreSQL plans without knowing the parameters. With one condition for each column it may
 * read the whole table by its primary key. So the conditions compare both columns together, which only one index
 * supports, and a constant LIMIT makes reading in the order of that index cheaper than sorting. `coalesce` prevents it
 * from reading a whole window by the index of times.
 */
function postgresEntries(
  { table, number, byTime, most }: ListSource,
  { values, where }: EntryQuery,
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

/** SQL for the time window of a page's rows. Empty on PostgreSQL, whose numbers are already chosen by the window. */
export function rowsInWindow(byTime: boolean, dialect: Dialect): string {
  return byTime && dialect === "sqlite" ? "AND created_at BETWEEN :from AND :to" : "";
}
