// The port on PostgreSQL: three batches in flight on connections of their own, and reads on another.

import {
  type Job,
  type Outcome,
  type Reader,
  type Store,
  type Synchronous,
  TransientError,
} from "../port.ts";
import type { Address } from "./address.ts";
import { CommitGate } from "./commit-gate.ts";
import { Lane } from "./lane.ts";
import { ReadLane } from "./reader.ts";

export interface PostgresOptions {
  /** Shown in pg_stat_activity. */
  name?: string;
  /** Batches in flight at once: as the writer has (writer/postgres-writer.ts). */
  lanes?: number;
  /** How long a turn may take before its connection is given up. */
  turnMs?: number;
  /** How long a batch or a read waits for a primary, and for the outcome of a lost COMMIT. */
  patienceMs?: number;
  /**
   * Called with false once a COMMIT has waited for a synchronous standby for long: batches are refused until it is called with
   * true. Without it each batch waits.
   */
  onAcknowledging?: (acknowledges: boolean) => unknown;
}

export interface PostgresStore extends Store {
  read<T>(body: (reader: Reader) => Synchronous<T>): Promise<T>;
  /** Never rejects: an error of the whole batch is the outcome of each of its commands. */
  runBatch(jobs: readonly Job[]): Promise<Outcome[]>;
}

const LANES = 3;
const TURN_MS = 10_000;
const PATIENCE_MS = 15_000;
const CONNECT_MS = 5000;
const NO_STANDBY = "commits wait for a synchronous standby";

/**
 * enable_seqscan: plans are kept, and one made while a table was empty would go on reading the whole table.
 * enable_bitmapscan: a bitmap of all entries of an account, then sorted, would be preferred to reading the newest in the index's order.
 * plan_cache_mode, for batches: their statements are a few that search by keys, planned anew as tables grow (table-growth.ts)
 * and not for each batch.
 * jit: the cost of a plan that needs a sequential scan is then estimated so high that it would be compiled, for 400 ms.
 * lock_timeout: by then the transaction that holds the lock has ended; the batch is tried again.
 * idle_in_transaction_session_timeout, shorter than that: a server that is frozen or cut off between the turns of a batch
 * holds its locks no longer. One that was merely slow runs its batch again.
 */
export const READER_SETTINGS = { enable_seqscan: "off", enable_bitmapscan: "off", jit: "off" };
const WRITER_SETTINGS = {
  ...READER_SETTINGS,
  plan_cache_mode: "force_generic_plan",
  lock_timeout: "'5s'",
  idle_in_transaction_session_timeout: "'2s'",
};

export function createPostgresStore(
  address: Address,
  {
    name = "reseller",
    lanes = LANES,
    turnMs = TURN_MS,
    patienceMs = PATIENCE_MS,
    onAcknowledging,
  }: PostgresOptions = {},
): PostgresStore {
  const common = { name, turnMs, patienceMs, connectMs: Math.min(CONNECT_MS, patienceMs) };
  const gate =
    onAcknowledging &&
    new CommitGate(address, { ...common, settings: {} }, (isClosed) => onAcknowledging(!isClosed));
  const writer = {
    ...common,
    settings: WRITER_SETTINGS,
    ...(gate && { onStandbyWait: () => gate.close() }),
  };
  const all = Array.from({ length: lanes }, () => new Lane(address, writer));
  const free = [...all];
  const waiting: ((lane: Lane) => void)[] = [];
  const reads = new ReadLane(address, { ...common, settings: READER_SETTINGS });

  const take = (): Promise<Lane> => {
    const lane = free.pop();
    return lane ? Promise.resolve(lane) : new Promise((resolve) => waiting.push(resolve));
  };

  return {
    read: (body) => reads.read(body),
    async runBatch(jobs) {
      const refuse = () => jobs.map(() => ({ threw: new TransientError(NO_STANDBY) }));
      if (gate?.isClosed) return refuse();
      const lane = await take();
      try {
        // It may have closed meanwhile.
        if (gate?.isClosed) return refuse();
        const outcomes = await lane.run(jobs);
        // Whoever sees that this was committed may write again.
        if (gate?.isClosed) await gate.look();
        return outcomes;
      } finally {
        const next = waiting.shift();
        if (next) next(lane);
        else free.push(lane);
      }
    },
    close() {
      gate?.stop();
      for (const lane of all) lane.close();
      reads.close();
    },
  };
}
