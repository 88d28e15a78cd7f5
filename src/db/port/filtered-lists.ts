// Lists whose filters change their SQL. Each set of filters has its own query, made at its first use.

import { byDialect, type Dialect, type Query, query } from "./query.ts";
import type { Kinds, Typed } from "./table-definition.ts";

/** Makes a query. Of `parameters`, it takes only those whose names are in its text. */
export function queryNaming<G extends Kinds>(
  parameters: Kinds,
  columns: G,
  textFor: (dialect: Dialect) => string,
): Query<Typed<G>, Kinds> {
  const text = byDialect(textFor);
  const isNamed = (name: string) => new RegExp(`:${name}\\b`).test(text.sqlite + text.postgres);
  const named = Object.entries(parameters).filter(([name]) => isNamed(name));
  return query<G, Kinds>({ parameters: Object.fromEntries(named), columns, text });
}

/**
 * Makes a list. `conditions`: the SQL of each filter. `text`: returns the list's SQL for the conditions of the given
 * filters. The result takes the names of the given filters and returns their query.
 */
export function listByFilters<G extends Kinds, Name extends string>(list: {
  columns: G;
  parameters: Kinds;
  conditions: Readonly<Record<Name, string | ((dialect: Dialect) => string)>>;
  text: (and: string) => string;
}): (given: readonly Name[]) => Query<Typed<G>, Kinds> {
  const made = new Map<string, Query<Typed<G>, Kinds>>();
  return (given) => {
    const key = given.join();
    let found = made.get(key);
    if (!found) {
      found = queryNaming(list.parameters, list.columns, (dialect) => {
        const conditions = given.map((name) => {
          const condition = list.conditions[name] as string | ((dialect: Dialect) => string);
          return ` AND ${typeof condition === "string" ? condition : condition(dialect)}`;
        });
        return list.text(conditions.join(""));
      });
      made.set(key, found);
    }
    return found;
  };
}

/**
 * SQL for "the column contains the parameter", ignoring the case of ASCII letters. The parameter must be lower case.
 */
export function contains(column: string, parameter: string): (dialect: Dialect) => string {
  return (dialect) => {
    const find = dialect === "sqlite" ? "instr" : "strpos";
    return `${find}(lower(${column}), ${parameter}) > 0`;
  };
}

/** Lower-cases only ASCII letters, like SQL's lower() on both engines. */
export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Names of the filters that are given, in the order of `names`. */
export function givenNames<Name extends string>(
  filter: { readonly [Each in Name]?: unknown },
  names: readonly Name[],
): Name[] {
  return names.filter((name) => filter[name] !== undefined && filter[name] !== null);
}
