// The row port on PostgreSQL: up to three batches in flight, each on its own connection, and reads on another.

import {
  type Job,
  type Outcome,
  type Reader,
  type Store,
  type Synchronous,
  TransientError,
} from "../../port/port.ts";
import type { Address } from "../connection/address.ts";
import { CommitGate } from "./commit-gate.ts";
import { CONNECT_MS } from "../connection/connection.ts";
import { Lane } from "../connection/lane.ts";
import { ReadLane } from "./reader.ts";

export interface PostgresOptions {
  /** Shown in pg_stat_activity. */
  name?: string;
  /** Number of batches in flight at once. The default is that of the writer (writer/postgres-writer.ts). */
  lanes?: number;
  /** How long a turn may take before its connection is given up. */
  turnMs?: number;
  /** How long a batch or a read waits for a primary, and for the outcome of a lost COMMIT. */
  primaryWaitMs?: number;
  /** Milliseconds since 1970 by the database's clock; the default is the clock of this machine. */
  now?: () => number;
  /**
   * Called with false once a COMMIT has waited too long for a synchronous standby. Batches are then refused until it
   * is called with true. Without this option each batch waits.
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
const PRIMARY_WAIT_MS = 15_000;
const NO_STANDBY = "commits wait for a synchronous standby";

/**
 * Settings of the connections.
 * - enable_seqscan: plans are kept, and one made while a table was empty would keep reading the whole table.
 * - enable_bitmapscan: PostgreSQL would sort a bitmap of all entries of an account instead of reading the newest in
 *   index order.
 * - plan_cache_mode, for batches: they use a few statements that search by keys. Their plans are made anew as tables
 *   grow (table-growth.ts), not for each batch.
 * - jit: with enable_seqscan off, a plan that needs a sequential scan has such a high estimated cost that it would be
 *   compiled, for 400 ms.
 * - lock_timeout: longer than a transaction usually holds a lock. After it the batch is tried again.
 * - idle_in_transaction_session_timeout, shorter than lock_timeout: it frees the locks of a server that froze or was
 *   cut off between the turns of a batch. A server that was only slow runs its batch again.
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
    primaryWaitMs = PRIMARY_WAIT_MS,
    now = Date.now,
    onAcknowledging,
  }: PostgresOptions = {},
): PostgresStore {
  const common = {
    name,
    turnMs,
    primaryWaitMs,
    connectMs: Math.min(CONNECT_MS, primaryWaitMs),
  };
  const gate =
    onAcknowledging &&
    new CommitGate(address, { ...common, settings: {} }, (isClosed) => onAcknowledging(!isClosed));
  const writer = {
    ...common,
    now,
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
        // The gate may have closed while this batch waited for a lane.
        if (gate?.isClosed) return refuse();
        const outcomes = await lane.run(jobs);
        // The gate is checked first, because a caller who sees this commit acknowledged may write again.
        if (gate?.isClosed) await gate.recheck();
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
