// Steps of the clock: the orders and transfers whose time is before that of the row before, because the clock was set
// back. Every such row is recorded in clock_steps, in the transaction that inserts it; time-spans.ts needs them all.
// Gain over a trigger for each table: an order in a batch takes 10.3 µs of CPU time instead of 12.9 (bench/batches.ts),
// because an INSERT with a trigger copies every page that it changes, so that it can be undone alone.

import type { Database, SQLQueryBindings, Statement } from "bun:sqlite";
import type { TimedTable } from "../port/port.ts";
import type { AnyRow, AnyTable } from "../port/table-definition.ts";
import { clockSteps } from "../tables/database.ts";
import { transfers } from "../tables/ledger.ts";
import { orders } from "../tables/orders.ts";
import { NUMBERED } from "./row-numbers.ts";

const TIMED_TABLES: ReadonlyMap<AnyTable, TimedTable> = new Map<AnyTable, TimedTable>([
  [orders, "orders"],
  [transfers, "transfers"],
]);

/** SQL for the steps that the rows of both tables have, with the columns of clock_steps. */
export const STEPS_IN_ROWS = [...TIMED_TABLES.values()]
  .map(
    (table) => `SELECT '${table}' AS ledger, number AS first, time, time_before FROM (
      SELECT ${NUMBERED[table]} AS number, created_at AS time,
        lag(created_at) OVER (ORDER BY ${NUMBERED[table]}) AS time_before FROM ${table}
    ) WHERE time < time_before`,
  )
  .join(" UNION ALL ");

/** Records the steps of all rows. Needed after rows were inserted without the row port. */
export function recordAllClockSteps(sqlite: Database): void {
  // Without WHERE the parser takes ON CONFLICT for the ON of a join.
  sqlite.run(
    `INSERT INTO ${clockSteps.name} SELECT * FROM (${STEPS_IN_ROWS}) WHERE TRUE ON CONFLICT DO NOTHING`,
  );
}

interface Place {
  number: number;
  time: number;
}

/** Records the steps of rows that one connection inserts. */
export class ClockSteps {
  readonly #byTable: ReadonlyMap<AnyTable, TableClock>;

  constructor(sqlite: Database) {
    this.#byTable = new Map(
      [...TIMED_TABLES].map(([table, name]) => [table, new TableClock(sqlite, name)]),
    );
  }

  /** Records a step if the row has an earlier time than the row before. Called after each insert. */
  note(table: AnyTable, number: number, row: AnyRow): void {
    this.#byTable.get(table)?.note(number, row["createdAt"] as number);
  }

  /** Forgets what this transaction inserted: another one begins, or inserts were undone. */
  forget(): void {
    for (const clock of this.#byTable.values()) clock.last = null;
  }
}

class TableClock {
  /** The row that this transaction inserted last. */
  last: Place | null = null;
  #statements: ReturnType<typeof prepare> | undefined;

  constructor(
    readonly sqlite: Database,
    readonly table: TimedTable,
  ) {}

  note(number: number, time: number): void {
    const { last } = this;
    // No row lies between two successive numbers. For any other number the database is asked: once in most batches.
    const before = last?.number === number - 1 ? last : this.#prepared.before.get(number);
    if (before && time < before.time) this.#prepared.record.run(number, time, before.time);
    this.last = { number, time };
  }

  get #prepared() {
    return (this.#statements ??= prepare(this.sqlite, this.table));
  }
}

function prepare(sqlite: Database, table: TimedTable) {
  const number = NUMBERED[table];
  const before: Statement<Place, [number]> = sqlite.prepare(
    `SELECT ${number} AS number, created_at AS time FROM ${table} WHERE ${number} < ? ORDER BY ${number} DESC LIMIT 1`,
  );
  const record: Statement<never, SQLQueryBindings[]> = sqlite.prepare(
    `INSERT INTO ${clockSteps.name} (ledger, first, time, time_before) VALUES ('${table}', ?, ?, ?)`,
  );
  return { before, record };
}
