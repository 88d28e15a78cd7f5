// Runs one batch in one transaction. If its commands declared their needs, that takes two turns. The first has BEGIN,
// locks, loads and numbers, the second the writes and COMMIT. In between, the commands run in memory, repeatedly until
// nothing is missing. If a lock turns out to be missing, the transaction is rolled back, all locks are taken anew in
// their order, and everything is read again under them.

import type { Job, Outcome } from "../../port/port.ts";
import { type AnyRow, type AnyTable, keyOfRow } from "../../port/table-definition.ts";
import type { Connection, Statement } from "../connection/connection.ts";
import { LoadedRows, NotLoaded, type RowToLoad, type QueryToLoad } from "./loaded-rows.ts";
import { endsSession } from "../connection/errors.ts";
import {
  accountLockStatement,
  decodeRows,
  kindsOf,
  loadStatement,
  queryStatement,
} from "./text.ts";
import { numbersIn, numbersStatement } from "../schema/row-numbers.ts";
import { BatchEnd, PostgresTx, type Write } from "./write-transaction.ts";
import { statementsOf } from "./writes.ts";

/** The result of a batch, which may have run only the first of the commands. */
export interface BatchResult {
  /** Outcomes of the first commands. The remaining commands are left for the next batch. */
  outcomes: Outcome[];
  writes: readonly Write[];
}

const BEGIN: Statement = { text: "BEGIN", values: [] };
const COMMIT: Statement = { text: "COMMIT", values: [] };
const ROLLBACK: Statement = { text: "ROLLBACK", values: [] };
/**
 * Number of loaded rows above which a batch computes for seconds between its turns. Such a batch may hold its locks for
 * longer than the setting in store.ts allows.
 */
const LARGE_ROWS = 2000;
const RAISE_IDLE_TIMEOUT: Statement = {
  text: "SET LOCAL idle_in_transaction_session_timeout = '30s'",
  values: [],
};
/** Limit for the rounds of loading, more than any correct batch needs. */
const ROUNDS_LIMIT = 100;

/** Thrown when a COMMIT was sent and its reply was lost. */
export class CommitLostError extends Error {
  override name = "CommitLostError";

  constructor(
    readonly batchId: string,
    readonly outcomes: Outcome[],
    cause: unknown,
  ) {
    super("the connection was lost during COMMIT", { cause });
  }
}

/**
 * Runs the first commands of a batch and commits. `now`: the database's time, in milliseconds since 1970. Rolls back on
 * an error and rethrows it. Throws CommitLostError when the outcome of the COMMIT is unknown.
 */
export async function runInTransaction(
  connection: Connection,
  jobs: readonly Job[],
  now: number,
): Promise<BatchResult> {
  const batch = new Batch(connection, jobs);
  try {
    const { outcomes, writes } = await batch.run();
    if (writes.length === 0) {
      // Commits what a set-based statement wrote, unless its command threw afterwards.
      if (batch.hasRun() && "done" in outcomes[0]!) await commit(connection, [], outcomes, now);
      else await connection.turn([ROLLBACK]);
    } else {
      await commit(connection, statementsOf(writes), outcomes, now);
    }
    return { outcomes, writes };
  } catch (error) {
    if (!(error instanceof CommitLostError) && !connection.isLost) await rollBack(connection);
    throw error;
  }
}

/**
 * Commits with a marker row. Its id begins with the time, so that old markers can be found and deleted. The time is the
 * database's: with another clock a marker could be deleted while it is needed.
 */
async function commit(
  connection: Connection,
  statements: readonly Statement[],
  outcomes: Outcome[],
  now: number,
): Promise<void> {
  const batchId = Bun.randomUUIDv7("hex", now);
  let results;
  try {
    results = await connection.turn([...withMarker(statements, batchId), COMMIT]);
  } catch (error) {
    // After an ERROR nothing was committed. If the session ended, the outcome is unknown.
    if (connection.isLost || endsSession(error)) {
      throw new CommitLostError(batchId, outcomes, error);
    }
    throw error;
  }
  // The COMMIT of a failed transaction reports no error, but its command tag is ROLLBACK.
  if (results.at(-1)!.command !== "COMMIT") throw new Error("the transaction was rolled back");
}

/** Lets the first statement write the marker's row, which saves one statement in each batch. */
function withMarker(
  [first, ...others]: readonly Statement[],
  batchId: string,
): readonly Statement[] {
  if (!first) return [{ text: "INSERT INTO batches (id) VALUES ($1::uuid)", values: [batchId] }];
  const { text, values } = first;
  const marker = `INSERT INTO batches (id) VALUES ($${values.length + 1}::uuid)`;
  return [{ text: `WITH marker AS (${marker}) ${text}`, values: [...values, batchId] }, ...others];
}

async function rollBack(connection: Connection): Promise<void> {
  try {
    await connection.turn([ROLLBACK]);
  } catch {
    // The connection is broken; the server rolls back by itself.
    connection.close();
  }
}

class Batch {
  #loaded = new LoadedRows();
  #locks = new Set<number>();
  #numbers = new Map<AnyTable, number[]>();
  #statementCounts: number[] = [];
  #isBegun = false;
  readonly #numbersToLoad = new Map<AnyTable, number>();
  /** Every row and query that was requested, to load them again after a late lock. */
  readonly #requested: { rows: Map<string, RowToLoad>; queries: QueryToLoad[] } = {
    rows: new Map(),
    queries: [],
  };

  constructor(
    readonly connection: Connection,
    public jobs: readonly Job[],
  ) {}

  hasRun(): boolean {
    return this.#statementCounts.length > 0;
  }

  async run() {
    const locks = this.#requestNeeds();
    if (this.#loaded.hasRequests() || locks.size > 0) await this.#load(locks, null);
    for (let round = 0; round < ROUNDS_LIMIT; round += 1) {
      const { tx, outcomes } = this.#runJobs();
      const isMissing = this.#requestMissingNumbers(tx);
      const { missingLocks, statementToRun } = tx;
      if (!isMissing && missingLocks.size === 0 && !statementToRun && !this.#loaded.hasRequests()) {
        // Begins the transaction even if nothing had to be loaded: otherwise each write would be committed separately.
        if (!this.#isBegun) await this.#load(new Set(), null);
        return { outcomes, writes: tx.writes };
      }
      this.#loaded.rows.undo(0);
      await this.#load(missingLocks, statementToRun);
    }
    throw new Error(`the batch still requests new rows after ${ROUNDS_LIMIT} rounds`);
  }

  #requestNeeds(): Set<number> {
    const locks = new Set<number>();
    for (const need of this.jobs.flatMap(({ needs }) => needs ?? [])) {
      if ("lock" in need) locks.add(need.lock);
      else if ("index" in need) this.#loaded.requestRow(need.index, need.key);
      else this.#requestNumbers(need.table, need.count);
    }
    return locks;
  }

  /** Runs the commands on the loaded rows. A BatchEnd ends the batch before the command that threw it. */
  #runJobs(): { tx: PostgresTx; outcomes: Outcome[] } {
    const state = {
      loaded: this.#loaded,
      locks: this.#locks,
      numbers: this.#numbers,
      statementCounts: this.#statementCounts,
    };
    let tx = new PostgresTx(state, this.jobs.length === 1);
    const outcomes: Outcome[] = [];
    for (let place = 0; place < this.jobs.length; place += 1) {
      tx.nextCommand();
      try {
        outcomes.push(tx.attempt(() => this.jobs[place]!.run(tx) as object));
      } catch (error) {
        if (error instanceof BatchEnd) {
          // If the first command ended the batch, it runs alone. Any other one begins the next batch.
          this.jobs = this.jobs.slice(0, Math.max(place, 1));
          if (place > 0) break;
          this.#loaded.rows.undo(0);
          tx = new PostgresTx(state, true);
          place = -1;
        } else if (!(error instanceof NotLoaded)) {
          throw error;
        }
      }
    }
    return { tx, outcomes };
  }

  #requestMissingNumbers(tx: PostgresTx): boolean {
    let isMissing = false;
    for (const [table, used] of tx.usedNumbers) {
      const missing = used - (this.#numbers.get(table)?.length ?? 0);
      if (missing <= 0) continue;
      this.#requestNumbers(table, missing);
      isMissing = true;
    }
    return isMissing;
  }

  #requestNumbers(table: AnyTable, count: number): void {
    this.#numbersToLoad.set(table, (this.#numbersToLoad.get(table) ?? 0) + count);
  }

  /** Loads what is missing in one turn. With new locks, loads everything else again under them. */
  async #load(newLocks: ReadonlySet<number>, run: PostgresTx["statementToRun"]): Promise<void> {
    const statements: Statement[] = [];
    const takers: ((rows: Awaited<ReturnType<Connection["turn"]>>[number]) => void)[] = [];
    const send = (statement: Statement, take: (typeof takers)[number] = () => {}) => {
      statements.push(statement);
      takers.push(take);
    };
    if (newLocks.size > 0 && this.#isBegun) {
      send(ROLLBACK);
      this.#isBegun = false;
      this.#requestAllAgain();
    }
    if (!this.#isBegun) send(BEGIN);
    this.#isBegun = true;
    if (newLocks.size > 0) {
      this.#locks = new Set([...this.#locks, ...newLocks]);
      send(accountLockStatement(this.#locks));
    }
    const { rows, queries } = this.#loaded.takeRequests();
    if (rows.some(({ length }) => length > LARGE_ROWS)) send(RAISE_IDLE_TIMEOUT);
    for (const wanted of rows) {
      const { index } = wanted[0]!;
      for (const each of wanted)
        this.#requested.rows.set(`${index.table.name} ${index.name} ${each.key}`, each);
      send(
        loadStatement(
          index,
          wanted.map(({ values }) => values),
        ),
        (found) => {
          const decoded = decodeRows(found, kindsOf(index.table));
          this.#loaded.putRows(wanted, new Map(decoded.map((row) => [keyOfRow(index, row)!, row])));
        },
      );
    }
    for (const wanted of queries) {
      this.#requested.queries.push(wanted);
      const { query, values } = wanted;
      send(queryStatement(query, values), (found) => {
        this.#loaded.putResult(wanted, decodeRows(found, query.columns) as AnyRow[]);
      });
    }
    if (this.#numbersToLoad.size > 0) {
      const tables = [...this.#numbersToLoad.keys()];
      send(numbersStatement(this.#numbersToLoad), (found) => {
        for (const [place, numbers] of numbersIn(found).entries()) {
          const table = tables[place]!;
          this.#numbers.set(table, [...(this.#numbers.get(table) ?? []), ...numbers]);
        }
      });
      this.#numbersToLoad.clear();
    }
    if (run) {
      const { statement, values } = run;
      send(queryStatement(statement, values), ({ count }) => this.#statementCounts.push(count));
    }
    const results = await this.connection.turn(statements);
    for (const [place, result] of results.entries()) takers[place]!(result);
  }

  /**
   * Marks everything for loading again. Rows read before a late lock may be stale, and numbers taken before it would
   * not follow the order of commits.
   */
  #requestAllAgain(): void {
    const { rows, queries } = this.#requested;
    const before = this.#loaded.takeRequests();
    this.#loaded = new LoadedRows();
    for (const { index, values } of [...rows.values(), ...before.rows.flat()]) {
      this.#loaded.requestRow(index, values);
    }
    for (const { query, values } of [...queries.splice(0), ...before.queries]) {
      this.#loaded.requestQuery(query, values);
    }
    for (const [table, numbers] of this.#numbers) this.#requestNumbers(table, numbers.length);
    this.#numbers.clear();
    this.#statementCounts = [];
  }
}
