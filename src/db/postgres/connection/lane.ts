// Runs one batch at a time on one connection. Reconnects when the connection is lost, retries batches, and finds the
// outcome of lost COMMITs by their marker: docs/decisions/0027-lost-commits-by-marker-row.md

import { type Job, type Outcome, OutcomeUnknownError, TransientError } from "../../port/port.ts";
import type { Address } from "./address.ts";
import { type BatchResult, CommitLostError, runInTransaction } from "../batch/batch.ts";
import { connect, type Connection, type ConnectionOptions } from "./connection.ts";
import { errorClassOf } from "./errors.ts";
import { TableGrowth } from "../schema/table-growth.ts";

export interface LaneOptions extends ConnectionOptions {
  /** How long a batch waits for a primary, and for the outcome of a lost COMMIT. */
  primaryWaitMs: number;
  /** Milliseconds since 1970, by the database. */
  now: () => number;
}

/** Limit for tries of a batch that conflicts with other transactions. After them its commands run one by one. */
const TRIES_LIMIT = 3;
const RECONNECT_FIRST_MS = 20;
const RECONNECT_LIMIT_MS = 500;

export class Lane {
  #connection: Connection | null = null;
  #isClosed = false;
  readonly #growth = new TableGrowth();
  #arePlansOld = false;

  constructor(
    readonly address: Address,
    readonly options: LaneOptions,
  ) {}

  /** Runs commands. Returns an outcome for each; never throws. */
  async run(jobs: readonly Job[]): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    while (outcomes.length < jobs.length) {
      const rest = jobs.slice(outcomes.length);
      outcomes.push(...(await this.#runFirst(rest)));
    }
    return outcomes;
  }

  close(): void {
    this.#isClosed = true;
    this.#connection?.close();
  }

  /** Runs the first commands, at least one. Returns their outcomes. */
  async #runFirst(jobs: readonly Job[]): Promise<Outcome[]> {
    const deadline = performance.now() + this.options.primaryWaitMs;
    for (let tries = 1; ; tries += 1) {
      try {
        return (await this.#attempt(jobs, deadline)).outcomes;
      } catch (error) {
        if (error instanceof CommitLostError) {
          const committed = await this.#resolve(error.batchId);
          if (committed === true) return error.outcomes;
          if (committed === null) {
            const unknown = new OutcomeUnknownError(
              "a COMMIT was lost, and no primary could be asked for its outcome",
              {
                cause: error,
              },
            );
            return error.outcomes.map(() => ({ threw: unknown }));
          }
          // The batch was not committed, and its COMMIT can no longer succeed.
          if (performance.now() < deadline) continue;
          const transient = new TransientError(error.message, { cause: error });
          return error.outcomes.map(() => ({ threw: transient }));
        }
        const errorClass = errorClassOf(error);
        if (errorClass === "retry" && tries < TRIES_LIMIT) continue;
        if (errorClass === "lost" && performance.now() < deadline && !this.#isClosed) continue;
        if (errorClass === "lost" || errorClass === "unavailable") {
          const transient = new TransientError(String(error), { cause: error });
          return jobs.map(() => ({ threw: transient }));
        }
        if (jobs.length === 1) {
          return [
            {
              threw:
                errorClass === "retry"
                  ? new TransientError(String(error), { cause: error })
                  : error,
            },
          ];
        }
        return this.#runSingly(jobs, error);
      }
    }
  }

  /**
   * Runs the commands one by one after the database refused the batch, so that only the refused command fails. After
   * the deadline the remaining commands are not tried, for example because each waits for a held lock.
   */
  async #runSingly(jobs: readonly Job[], cause: unknown): Promise<Outcome[]> {
    const deadline = performance.now() + this.options.primaryWaitMs;
    const outcomes: Outcome[] = [];
    for (const job of jobs) {
      if (performance.now() < deadline) outcomes.push(...(await this.run([job])));
      else outcomes.push({ threw: new TransientError(String(cause), { cause }) });
    }
    return outcomes;
  }

  async #attempt(jobs: readonly Job[], deadline: number): Promise<BatchResult> {
    const connection = await this.#connected(deadline);
    try {
      if (this.#arePlansOld) await connection.turn([DISCARD_PLANS]);
      this.#arePlansOld = false;
      const result = await runInTransaction(connection, jobs, this.options.now());
      this.#arePlansOld = this.#growth.add(result.writes);
      return result;
    } catch (error) {
      if (error instanceof CommitLostError || errorClassOf(error) === "lost") connection.close();
      throw error;
    }
  }

  /** Returns the connection. Waits for a primary until the deadline. */
  async #connected(deadline: number): Promise<Connection> {
    let pause = RECONNECT_FIRST_MS;
    while (!this.#connection || this.#connection.isLost) {
      try {
        this.#connection = await connect(this.address, this.options);
      } catch (error) {
        if (
          errorClassOf(error) !== "lost" ||
          performance.now() + pause > deadline ||
          this.#isClosed
        ) {
          throw error;
        }
        await Bun.sleep(pause);
        pause = Math.min(pause * 2, RECONNECT_LIMIT_MS);
      }
    }
    return this.#connection;
  }

  /**
   * Returns whether a batch was committed; null if no primary answers within primaryWaitMs. The question waits for the
   * batch's transaction if it is still running. It also inserts the marker, after which the batch can no longer be
   * committed.
   */
  async #resolve(batchId: string): Promise<boolean | null> {
    const deadline = performance.now() + this.options.primaryWaitMs;
    for (;;) {
      const left = deadline - performance.now();
      if (left <= 0) return null;
      try {
        const connection = await this.#connected(deadline);
        const [rows] = await connection.turn([{ text: PROBE, values: [batchId] }], left);
        return (rows![0] as { void: boolean }).void === false;
      } catch (error) {
        this.#connection?.close();
        // An error leaves the outcome open: ask again.
        if (performance.now() + RECONNECT_FIRST_MS >= deadline) return null;
        if (errorClassOf(error) === "refused") return null;
        await Bun.sleep(RECONNECT_FIRST_MS);
      }
    }
  }
}

/** Discards all plans of the connection, including those of triggers. */
const DISCARD_PLANS = { text: "DISCARD PLANS", values: [] };
const PROBE = `INSERT INTO batches (id, void) VALUES ($1::uuid, true)
  ON CONFLICT (id) DO UPDATE SET id = excluded.id RETURNING void`;
