// One batch in one transaction, in two turns where its commands said what they need: BEGIN, locks, loads and numbers;
// then the writes and COMMIT. In between the commands run in memory, again and again until nothing is missing. A lock
// that shows late means ROLLBACK and all locks anew in their order, with everything read again behind them.

import type { Job, Outcome } from "../port.ts";
import { type AnyRow, type AnyTable, keyOfRow } from "../table-definition.ts";
import type { Connection, Statement } from "./connection.ts";
import { Known, Missing, type Wanted, type WantedQuery } from "./known.ts";
import { endsSession } from "./errors.ts";
import {
  accountLockStatement,
  decodeRows,
  kindsOf,
  loadStatement,
  queryStatement,
} from "./text.ts";
import { numbersIn, numbersStatement } from "./numbers.ts";
import { BatchEnd, PostgresTx, type Write } from "./write-transaction.ts";
import { statementsOf } from "./writes.ts";

/** The outcomes of the first commands; the others are left for the next batch. */
export interface BatchResult {
  outcomes: Outcome[];
  /** What was committed. */
  writes: readonly Write[];
}

const BEGIN: Statement = { text: "BEGIN", values: [] };
const COMMIT: Statement = { text: "COMMIT", values: [] };
const ROLLBACK: Statement = { text: "ROLLBACK", values: [] };
/** A batch of more rows computes for seconds between its turns: it may hold its locks for longer (store.ts). */
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

/** After an error rolls back and throws it; CommitLostError where the outcome of the COMMIT is not known. */
export async function runInTransaction(
  connection: Connection,
  jobs: readonly Job[],
): Promise<BatchResult> {
  const batch = new Batch(connection, jobs);
  try {
    const { outcomes, writes } = await batch.run();
    if (writes.length === 0) {
      // What ran over many rows at once is to be committed all the same, unless its command threw after it.
      if (batch.hasRun() && "done" in outcomes[0]!) await commit(connection, [], outcomes);
      else await connection.turn([ROLLBACK]);
    } else {
      await commit(connection, statementsOf(writes), outcomes);
    }
    return { outcomes, writes };
  } catch (error) {
    if (!(error instanceof CommitLostError) && !connection.isLost) await rollBack(connection);
    throw error;
  }
}

/** Ids grow with time, so that old ones are easy to find. */
async function commit(
  connection: Connection,
  statements: readonly Statement[],
  outcomes: Outcome[],
): Promise<void> {
  const batchId = Bun.randomUUIDv7();
  let results;
  try {
    results = await connection.turn([...withMarker(statements, batchId), COMMIT]);
  } catch (error) {
    // After an ERROR of a statement or of the COMMIT nothing was committed. An end of the session says nothing.
    if (connection.isLost || endsSession(error)) {
      throw new CommitLostError(batchId, outcomes, error);
    }
    throw error;
  }
  // A COMMIT of a transaction that has failed does not fail: it says that it rolled back.
  if (results.at(-1)!.command !== "COMMIT") throw new Error("the transaction was rolled back");
}

/** The marker's row is written by the first of them, for one statement less in each batch. */
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
  /** Every row and query that was asked for, to be asked for again behind a late lock. */
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
        // Nothing was loaded: without it each statement would be committed by itself.
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

  /** Runs the commands on what is there. Those from a BatchEnd on leave the batch. */
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
          // The first one is to be alone; any other begins the next batch.
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

  /** One turn: what is missing and, where locks are among it, everything else again behind them. */
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
        this.#known.putResult(wanted, decodeRows(found, query.gives) as AnyRow[]);
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

  /** What was read before a late lock may be stale, and numbers would not follow the order of commits: load both again. */
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
