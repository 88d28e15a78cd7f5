// Finds the row numbers of a time window. Lists are ordered by number, which only grows. Times go back when the clock
// is set back, and each such step is recorded (clock-steps.ts). Between two steps times only grow, so binary search
// finds a time. At ten million rows it reads about fifty rows.

import type { Database } from "bun:sqlite";
import type { TimedTable, Span, TimeWindow } from "../port/port.ts";
import { NUMBERED } from "./row-numbers.ts";

interface Step {
  first: number;
  time: number;
  timeBefore: number;
}

/** Finds spans with the statements of one connection, which are prepared at first use. */
export class TimeSpans {
  readonly #byTable = new Map<TimedTable, ReturnType<typeof prepare>>();

  constructor(readonly sqlite: Database) {}

  /** Returns spans that contain exactly the rows whose time is in the window, newest first. */
  within(table: TimedTable, { from, to }: TimeWindow): Span[] {
    if (from === null && to === null) return [{ first: 1, last: Number.MAX_SAFE_INTEGER }];
    let queries = this.#byTable.get(table);
    if (!queries) this.#byTable.set(table, (queries = prepare(this.sqlite, table)));
    const { timeAt } = queries;
    const spans: Span[] = [];
    for (const run of monotonicRuns(queries)) {
      if ((to !== null && run.earliest > to) || (from !== null && run.latest < from)) continue;
      const first = from === null ? run.first : firstAt(timeAt, run, from);
      const last = to === null ? run.last : firstAt(timeAt, run, to + 1) - 1;
      if (first <= last) spans.push({ first, last });
    }
    return spans.reverse();
  }
}

function prepare(sqlite: Database, table: TimedTable) {
  const number = NUMBERED[table];
  const steps = sqlite.prepare<Step, []>(
    `SELECT first, time, time_before AS timeBefore FROM clock_steps WHERE ledger = '${table}' ORDER BY first`,
  );
  const newest = sqlite.prepare<{ number: number | null }, [number]>(
    `SELECT max(${number}) AS number FROM ${table} WHERE ${number} < ?`,
  );
  const time = sqlite.prepare<{ time: number }, [number]>(
    `SELECT created_at AS time FROM ${table} WHERE ${number} >= ? ORDER BY ${number} LIMIT 1`,
  );
  return {
    steps: () => steps.all(),
    newestBelow: (below: number) => newest.get(below)!.number ?? 0,
    timeAt: (from: number) => time.get(from)!.time,
  };
}

type Queries = ReturnType<typeof prepare>;

/**
 * Rows between two steps of the clock, whose times only grow. `last` is the number of an existing row, because numbers
 * have gaps after a restore.
 */
interface Run extends Span {
  earliest: number;
  latest: number;
}

function monotonicRuns({ steps, newestBelow }: Queries): Run[] {
  const found = steps();
  return [null, ...found].map((step, index) => {
    const next = found[index];
    return {
      first: step?.first ?? 1,
      last: newestBelow(next?.first ?? Number.MAX_SAFE_INTEGER),
      earliest: step?.time ?? -Infinity,
      latest: next?.timeBefore ?? Infinity,
    };
  });
}

/** Returns the first number in the run whose time is at least `time`; one past the run if there is none. */
function firstAt(timeAt: Queries["timeAt"], run: Run, time: number): number {
  let low = run.first;
  let high = run.last + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (timeAt(middle) >= time) high = middle;
    else low = middle + 1;
  }
  return low;
}
