// Compares the tables, constraints, indexes, triggers and functions of the database with those of the migrations. To
// read what the migrations create, it applies them in the session's temporary schema and rolls them back.

import type { Address } from "../connection/address.ts";
import { connectForCommand } from "../connection/open-for-command.ts";
import { MIGRATIONS } from "./migrate.ts";

export interface SchemaProblem {
  /** For example `trigger orders_are_kept of orders`. */
  subject: string;
  problem: string;
}

/**
 * SQL for the objects of a schema. A definition contains the schema's name in its references, unless that schema is
 * first in the search path. `withoutSchema` removes the name.
 */
const OBJECTS = `
  SELECT 'table ' || t.relname AS subject, (
    SELECT string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod), collname,
      CASE WHEN attnotnull THEN 'NOT NULL' END, pg_get_expr(adbin, adrelid)), ', ' ORDER BY attname)
    FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
      LEFT JOIN pg_collation c ON c.oid = attcollation
    WHERE attrelid = t.oid AND attnum > 0 AND NOT attisdropped) AS definition
  FROM pg_class t WHERE relkind = 'r' AND relnamespace = $1::oid
  UNION ALL
  SELECT 'sequence ' || relname, '' FROM pg_class WHERE relkind = 'S' AND relnamespace = $1::oid
  UNION ALL
  SELECT 'constraint ' || conname || ' of ' || relname, pg_get_constraintdef(c.oid)
  FROM pg_constraint c JOIN pg_class t ON t.oid = conrelid WHERE relnamespace = $1::oid
    AND contype <> 'n' AND contype <> 't'
  UNION ALL
  SELECT 'index ' || i.relname || ' of ' || t.relname,
    pg_get_indexdef(i.oid) || CASE WHEN indisvalid THEN '' ELSE ' INVALID' END
  FROM pg_index JOIN pg_class i ON i.oid = indexrelid JOIN pg_class t ON t.oid = indrelid
  WHERE t.relnamespace = $1::oid AND t.relkind = 'r'
  UNION ALL
  SELECT 'trigger ' || tgname || ' of ' || relname, pg_get_triggerdef(g.oid) || ' ' || tgenabled::text
  FROM pg_trigger g JOIN pg_class t ON t.oid = tgrelid WHERE relnamespace = $1::oid AND NOT tgisinternal
  UNION ALL
  SELECT 'function ' || proname, prosrc FROM pg_proc WHERE pronamespace = $1::oid`;

/**
 * Pattern for the table, sequence or function to which an object belongs. Objects of other programs in the same schema
 * are not compared.
 */
const OWNER = /^(?:table|sequence|function) (\S+)$|^\S+ \S+ of (\S+)$/;

/** Returns one problem for each object that is missing, differs, or was added to one of our tables. */
export async function schemaProblems(address: Address): Promise<SchemaProblem[]> {
  const connection = await connectForCommand(address);
  const { reserved } = connection;
  const objectsIn = async (namespace: string): Promise<Map<string, string>> => {
    const rows = (await reserved.unsafe(OBJECTS, [namespace])) as Definition[];
    return new Map(
      rows.map(({ subject, definition }) => [subject, withoutSchema(definition, schema)]),
    );
  };
  const scalar = async (expression: string): Promise<string> => {
    const [row] = (await reserved.unsafe(`SELECT ${expression} AS value`)) as { value: string }[];
    return row!.value;
  };
  const schema = await scalar("current_schema()::text").catch((error: unknown) => {
    connection.close();
    throw error;
  });
  try {
    const found = await objectsIn(await scalar("current_schema()::regnamespace::oid::text"));
    await reserved.unsafe("BEGIN");
    // The triggers created in the temporary schema use the real functions and collations, because PostgreSQL never
    // looks for functions or collations in a temporary schema.
    await reserved.unsafe(`SET LOCAL search_path = pg_temp, "${schema.replaceAll('"', '""')}"`);
    for (const { sql } of MIGRATIONS) await reserved.unsafe(sql);
    const expected = await objectsIn(await scalar("pg_my_temp_schema()::text"));
    return compare(expected, found);
  } finally {
    connection.close();
  }
}

interface Definition {
  subject: string;
  definition: string | null;
}

function withoutSchema(definition: string | null, schema: string): string {
  return (definition ?? "").replaceAll(`${schema}.`, "").replaceAll(/\bpg_temp(_\d+)?\./g, "");
}

function compare(
  expected: ReadonlyMap<string, string>,
  found: ReadonlyMap<string, string>,
): SchemaProblem[] {
  const tables = new Set([...expected.keys()].filter((subject) => subject.startsWith("table ")));
  const isOurs = (subject: string) => {
    const [, name, table] = OWNER.exec(subject) ?? [];
    return name === undefined ? tables.has(`table ${table}`) : expected.has(subject);
  };
  const problems: SchemaProblem[] = [];
  for (const [subject, definition] of expected) {
    const actual = found.get(subject);
    if (actual === undefined) problems.push({ subject, problem: "is missing" });
    else if (actual !== definition)
      problems.push({ subject, problem: "differs from the migrations" });
  }
  for (const subject of found.keys()) {
    if (!expected.has(subject) && isOurs(subject)) {
      problems.push({ subject, problem: "is not part of the migrations" });
    }
  }
  return problems.toSorted((a, b) => (a.subject < b.subject ? -1 : 1));
}
