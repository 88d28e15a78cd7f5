// The common part of all checks of `verify`: runs them one after another and collects their problems. Memory is bounded
// at any size of the database and any number of problems.

import type { Awaitable, ReadStore } from "../port/port.ts";
import { type Dialects, query } from "../port/query.ts";
import { number, text } from "../port/table-definition.ts";

/** Limit for the listed problems of each check. Further problems are only counted. */
const PROBLEMS_LISTED = 50;

export interface Problem {
  /** The rule that is violated. */
  check: string;
  /** The object with the problem, for example `order 12`. */
  subject: string;
  /** What is wrong and by how much. */
  problem: string;
}

export interface Verification {
  users: number;
  orders: number;
  transfers: number;
  usedKeys: number;
  /** The first PROBLEMS_LISTED of each check. */
  problems: Problem[];
  problemCount: number;
}

/** Receives the problems that a check finds. */
export interface Findings {
  /** Adds a problem. `rule`: the violated rule if the check covers several. */
  add(subject: string, problem: string, rule?: string): void;
  /** Counts problems without listing them. */
  addUnlisted(count: number): void;
}

export interface Check {
  /** The checked rule, as shown with its problems. */
  name: string;
  run: (store: ReadStore, findings: Findings) => Awaitable<void>;
}

export interface VerifyOptions {
  checks: readonly Check[];
  /** Returns whether an error of a check is itself a problem of the database, such as a damaged page. */
  isUnreadable: (error: unknown) => boolean;
  /** Called with the number of completed checks. */
  progress: (done: number) => void;
}

/**
 * Runs the checks, which only read. Depending on the store, each statement reads its own snapshot, or all of them read
 * the same one.
 */
export async function runChecks(
  store: ReadStore,
  { checks, isUnreadable, progress }: VerifyOptions,
): Promise<Verification> {
  const problems: Problem[] = [];
  let problemCount = 0;
  const counts = await countRows(store, isUnreadable);
  for (const [done, { name, run }] of checks.entries()) {
    progress(done);
    let listed = 0;
    const findings: Findings = {
      add(subject, problem, check = name) {
        problemCount += 1;
        if (listed++ < PROBLEMS_LISTED) problems.push({ check, subject, problem });
      },
      addUnlisted: (count) => (problemCount += count),
    };
    try {
      await run(store, findings);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      findings.add("file", `cannot be read: ${String(error)}`);
    }
  }
  progress(checks.length);
  return { ...counts, problems, problemCount };
}

/** Makes a check of one query, which returns `subject` and `problem` for each violation. */
export function queryCheck(name: string, sql: string | Dialects): Check {
  const { sqlite, postgres } = typeof sql === "string" ? { sqlite: sql, postgres: sql } : sql;
  const inDialects = (around: (rows: string) => string): Dialects => ({
    sqlite: around(`FROM (${sqlite}) AS problems`),
    postgres: around(`FROM problems`),
  });
  // MATERIALIZED, because with the LIMIT PostgreSQL would plan as if the first row were found soon.
  const planned = ({ sqlite: ofSqlite, postgres: ofPostgres }: Dialects): Dialects => ({
    sqlite: ofSqlite,
    postgres: `WITH problems AS MATERIALIZED (${postgres}) ${ofPostgres}`,
  });
  const first = query({
    parameters: { limit: number },
    columns: { subject: text, problem: text },
    text: planned(inDialects((rows) => `SELECT subject, problem ${rows} LIMIT :limit`)),
  });
  const all = query({
    columns: { problems: number },
    text: planned(inDialects((rows) => `SELECT count(*) AS problems ${rows}`)),
  });
  return {
    name,
    async run(store, findings) {
      const found = await store.read((reader) => reader.all(first, { limit: PROBLEMS_LISTED }));
      for (const { subject, problem } of found) findings.add(subject, problem);
      if (found.length < PROBLEMS_LISTED) return;
      const counted = await store.read((reader) => reader.one(all));
      findings.addUnlisted(Math.max(0, counted!.problems - found.length));
    },
  };
}

/** Yields all rows in pieces. `read` returns the next piece of rows after a number, `numberOf` the number of a row. */
export async function* inPieces<Row>(
  read: (after: number) => Awaitable<Row[]>,
  numberOf: (row: Row) => number,
): AsyncGenerator<Row> {
  for (let after = 0; ;) {
    const rows = await read(after);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = numberOf(last);
  }
}

const COUNTED = {
  users: "users",
  orders: "orders",
  transfers: "transfers",
  usedKeys: "idempotency",
} as const;

const COUNTS = Object.entries(COUNTED).map(([name, table]) => ({
  name,
  rows: query({ columns: { rows: number }, text: `SELECT count(*) AS rows FROM ${table}` }),
}));

/** Counts the rows of a table. Returns 0 if it cannot be read, which the checks report. */
async function countRows(
  store: ReadStore,
  isUnreadable: (error: unknown) => boolean,
): Promise<Record<keyof typeof COUNTED, number>> {
  const counts = { users: 0, orders: 0, transfers: 0, usedKeys: 0 };
  for (const { name, rows } of COUNTS) {
    try {
      const counted = await store.read((reader) => reader.one(rows));
      counts[name as keyof typeof counts] = counted!.rows;
    } catch (error) {
      if (!isUnreadable(error)) throw error;
    }
  }
  return counts;
}
