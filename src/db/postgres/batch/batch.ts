// Runs one batch in one transaction. If its commands declared their needs, that takes two turns: BEGIN, locks, loads
// and numbers; then the writes and COMMIT. In between, the commands run in memory, again and again until nothing is
// missing. When a lock turns out to be missing later, the transaction is rolled back. All locks are then taken anew
// in their order, and everything is read again under them.

import type { Job, Outcome } from "../../port/port.ts";
import { type AnyRow, type AnyTable, keyOfRow } from "../../port/table-definition.ts";
import type { Connection, Statement } from "../connection/connection.ts";
import { Known, Missing, type Wanted, type WantedQuery } from "./known.ts";
import { endsSession } from "../connection/errors.ts";
import {
  accountLockStatement,
  decodeRows,
  kindsOf,
  loadStatement,
  queryStatement,
} from "./text.ts";
import { numbersIn, numbersStatement } from "../schema/numbers.ts";
import { BatchEnd, PostgresTx, type Write } from "./write-transaction.ts";
import { statementsOf } from "./writes.ts";

/** The outcomes of the first commands; the rest is left for the next batch. */
export interface BatchResult {
  outcomes: Outcome[];
  /** The committed writes. */
  writes: readonly Write[];
}

const BEGIN: Statement = { text: "BEGIN", values: [] };
const COMMIT: Statement = { text: "COMMIT", values: [] };
const ROLLBACK: Statement = { text: "ROLLBACK", values: [] };
/**
 * A batch that loads more rows than this computes for seconds between its turns, so it may hold its locks for longer
 * (store.ts).
 */
const LARGE_ROWS = 2000;
const PATIENT: Statement = {
  text: "SET LOCAL idle_in_transaction_session_timeout = '30s'",
  values: [],
};
/** More rounds of loading than any correct batch needs. */
const ROUNDS_LIMIT = 100;

/** COMMIT was sent and its reply was lost. */
export class CommitLostError extends Error {
  override name = "CommitLostError";

  constructor(
    readonly batchId: string,
    readonly outcomes: Outcome[],
    cause: unknown,
  ) {
    super("the connection was lost in a COMMIT", { cause });
  }
}

/**
 * Runs the first commands of a batch and commits. `now`: milliseconds since 1970. Rolls back on an error and rethrows
 * it. Throws CommitLostError when the outcome of the COMMIT is unknown.
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
      // Commit what a statement wrote to many rows at once, unless its command threw afterwards.
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
 * Commits with a marker whose id begins with the time, by which old markers are found. It is the database's time: by
 * another clock a marker could be deleted while it is still needed.
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
    // After an ERROR of a statement or of the COMMIT nothing was committed. The end of the session leaves it open.
    if (connection.isLost || endsSession(error)) {
      throw new CommitLostError(batchId, outcomes, error);
    }
    throw error;
  }
  // The COMMIT of a failed transaction reports no error: its command tag says ROLLBACK.
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
  #known = new Known();
  #locks = new Set<number>();
  #numbers = new Map<AnyTable, number[]>();
  #ran: number[] = [];
  #isBegun = false;
  readonly #wantedNumbers = new Map<AnyTable, number>();
  /** Every row and query that was asked for, to load them again after a late lock. */
  readonly #asked: { rows: Map<string, Wanted>; queries: WantedQuery[] } = {
    rows: new Map(),
    queries: [],
  };

  constructor(
    readonly connection: Connection,
    public jobs: readonly Job[],
  ) {}

  hasRun(): boolean {
    return this.#ran.length > 0;
  }

  async run() {
    const locks = this.#takeNeeds();
    if (this.#known.isMissing() || locks.size > 0) await this.#load(locks, null);
    for (let round = 0; round < ROUNDS_LIMIT; round += 1) {
      const { tx, outcomes } = this.#pass();
      const isMissing = this.#noteMissingNumbers(tx);
      const { missingLocks, missingRun } = tx;
      if (!isMissing && missingLocks.size === 0 && !missingRun && !this.#known.isMissing()) {
        // Begin the transaction even if nothing had to be loaded: otherwise each statement would be committed by
        // itself.
        if (!this.#isBegun) await this.#load(new Set(), null);
        return { outcomes, writes: tx.writes };
      }
      this.#known.rows.undo(0);
      await this.#load(missingLocks, missingRun);
    }
    throw new Error("a batch asks for something new in every round");
  }

  #takeNeeds(): Set<number> {
    const locks = new Set<number>();
    for (const need of this.jobs.flatMap(({ needs }) => needs ?? [])) {
      if ("lock" in need) locks.add(need.lock);
      else if ("index" in need) this.#known.wantRow(need.index, need.key);
      else this.#wantNumbers(need.table, need.count);
    }
    return locks;
  }

  /** Runs the commands on what is loaded. Commands from a BatchEnd on leave the batch. */
  #pass(): { tx: PostgresTx; outcomes: Outcome[] } {
    const held = { known: this.#known, locks: this.#locks, numbers: this.#numbers, ran: this.#ran };
    let tx = new PostgresTx(held, this.jobs.length === 1);
    const outcomes: Outcome[] = [];
    for (let place = 0; place < this.jobs.length; place += 1) {
      tx.nextCommand();
      try {
        outcomes.push(tx.attempt(() => this.jobs[place]!.run(tx) as object));
      } catch (error) {
        if (error instanceof BatchEnd) {
          // If the first command threw it, that one must run alone; any other command begins the next batch.
          this.jobs = this.jobs.slice(0, Math.max(place, 1));
          if (place > 0) break;
          this.#known.rows.undo(0);
          tx = new PostgresTx(held, true);
          place = -1;
        } else if (!(error instanceof Missing)) {
          throw error;
        }
      }
    }
    return { tx, outcomes };
  }

  #noteMissingNumbers(tx: PostgresTx): boolean {
    let isMissing = false;
    for (const [table, used] of tx.usedNumbers) {
      const missing = used - (this.#numbers.get(table)?.length ?? 0);
      if (missing <= 0) continue;
      this.#wantNumbers(table, missing);
      isMissing = true;
    }
    return isMissing;
  }

  #wantNumbers(table: AnyTable, count: number): void {
    this.#wantedNumbers.set(table, (this.#wantedNumbers.get(table) ?? 0) + count);
  }

  /** Loads what is missing in one turn. New locks make it load everything else again, after them. */
  async #load(newLocks: ReadonlySet<number>, run: PostgresTx["missingRun"]): Promise<void> {
    const statements: Statement[] = [];
    const takers: ((rows: Awaited<ReturnType<Connection["turn"]>>[number]) => void)[] = [];
    const send = (statement: Statement, take: (typeof takers)[number] = () => {}) => {
      statements.push(statement);
      takers.push(take);
    };
    if (newLocks.size > 0 && this.#isBegun) {
      send(ROLLBACK);
      this.#isBegun = false;
      this.#forget();
    }
    if (!this.#isBegun) send(BEGIN);
    this.#isBegun = true;
    if (newLocks.size > 0) {
      this.#locks = new Set([...this.#locks, ...newLocks]);
      send(accountLockStatement(this.#locks));
    }
    const { rows, queries } = this.#known.takeWanted();
    if (rows.some(({ length }) => length > LARGE_ROWS)) send(PATIENT);
    for (const wanted of rows) {
      const { index } = wanted[0]!;
      for (const each of wanted)
        this.#asked.rows.set(`${index.table.name} ${index.name} ${each.key}`, each);
      send(
        loadStatement(
          index,
          wanted.map(({ values }) => values),
        ),
        (found) => {
          const decoded = decodeRows(found, kindsOf(index.table));
          this.#known.putRows(wanted, new Map(decoded.map((row) => [keyOfRow(index, row)!, row])));
        },
      );
    }
    for (const wanted of queries) {
      this.#asked.queries.push(wanted);
      const { query, values } = wanted;
      send(queryStatement(query, values), (found) => {
        this.#known.putResult(wanted, decodeRows(found, query.columns) as AnyRow[]);
      });
    }
    if (this.#wantedNumbers.size > 0) {
      const tables = [...this.#wantedNumbers.keys()];
      send(numbersStatement(this.#wantedNumbers), (found) => {
        for (const [place, numbers] of numbersIn(found).entries()) {
          const table = tables[place]!;
          this.#numbers.set(table, [...(this.#numbers.get(table) ?? []), ...numbers]);
        }
      });
      this.#wantedNumbers.clear();
    }
    if (run) {
      const { statement, values } = run;
      send(queryStatement(statement, values), ({ count }) => this.#ran.push(count));
    }
    const results = await this.connection.turn(statements);
    for (const [place, result] of results.entries()) takers[place]!(result);
  }

  /**
   * Marks everything for loading again. Rows read before a late lock may be stale, and numbers taken before it would
   * not follow the order of commits.
   */
  #forget(): void {
    const { rows, queries } = this.#asked;
    const before = this.#known.takeWanted();
    this.#known = new Known();
    for (const { index, values } of [...rows.values(), ...before.rows.flat()]) {
      this.#known.wantRow(index, values);
    }
    for (const { query, values } of [...queries.splice(0), ...before.queries]) {
      this.#known.wantQuery(query, values);
    }
    for (const [table, numbers] of this.#numbers) this.#wantNumbers(table, numbers.length);
    this.#numbers.clear();
    this.#ran = [];
  }
}
