// The writer of a server on PostgreSQL: the same queue as in writer.ts, without a thread. Three batches can be in
// flight, one per lane. Two lanes take the commands of half the accounts each, so that their batches never lock the
// same account. Batches that lock the same account run one after the other anyway. In one lane, the commands for the
// next batch gather while the lane waits. The third lane takes commands that name no account, such as imports and
// totals of days. They may take long, but no order waits for them.

import { refusal } from "../domain/values/error-table.ts";
import type { Store } from "../db/port/port.ts";
import {
  type CommandInput,
  type CommandName,
  type CommandRequest,
  type Reply,
  needsOf,
  runBatch,
} from "../operations/batch/commands.ts";
import { createCommandQueue, QUEUE_LIMIT } from "./queue.ts";
import { createWriteProbe } from "./write-probe.ts";
import type { Writer } from "./writer.ts";

const ACCOUNT_LANES = 2;
/** Number of lanes; equal to the store's connections for batches. */
const LANES = ACCOUNT_LANES + 1;
/** Limit for the turns of the event loop that a batch waits for further commands. */
const TURNS_LIMIT = 32;

export interface PostgresWriter extends Writer {
  /**
   * Refuses new commands, and those in the queue, until a write succeeds. Called when the store cannot begin
   * transactions.
   */
  refuseWrites(): void;
}

export interface PostgresWriterOptions {
  store: Store;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Called after each batch, committed or failed, before the promises of its commands settle. */
  onBatch?: (commands: readonly CommandRequest[], seconds: number) => void;
  /** Called when the database stops being writable, and when it is again. */
  onWritable?: (writable: boolean) => void;
  queueLimit?: number;
}

/**
 * Creates the writer. While the database does not accept writes, it refuses commands immediately: the store has already
 * waited for a primary as long as a caller can be expected to wait, and each later command would wait as long again.
 */
export function createPostgresWriter({
  store,
  now,
  onBatch,
  onWritable,
  queueLimit = QUEUE_LIMIT,
}: PostgresWriterOptions): PostgresWriter {
  const lanes = Array.from({ length: LANES }, () => ({
    queue: createCommandQueue(),
    isInFlight: false,
    isGathering: false,
  }));
  const idle = Promise.withResolvers<void>();
  let isClosing = false;

  const queueLength = () => lanes.reduce((sum, { queue }) => sum + queue.length(), 0);
  const repliesTo = async (requests: readonly CommandRequest[]): Promise<readonly Reply[]> => {
    try {
      return await runBatch(store, requests, now(), crypto.randomUUID());
    } catch (error) {
      // An internal error: it is not known whether the batch was committed.
      const failed = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return requests.map(() => ({ failed }));
    }
  };
  type Lane = (typeof lanes)[number];
  const run = async (lane: Lane): Promise<void> => {
    lane.isInFlight = true;
    const requests = lane.queue.takeBatch();
    const batch = lane.queue.endBatch();
    const started = performance.now();
    const replies = await repliesTo(requests);
    lane.isInFlight = false;
    probe.record(replies);
    flush();
    onBatch?.(requests, (performance.now() - started) / 1000);
    batch.settle(replies);
  };
  const flush = (): void => {
    for (const lane of lanes) if (lane.queue.length() > 0) gather(lane);
    const isIdle = lanes.every((lane) => !lane.isInFlight && !lane.isGathering);
    if (isClosing && isIdle) idle.resolve();
  };
  /**
   * Starts a batch after a turn of the event loop in which the lane received no further command. Callers that were just
   * answered are about to send their next command. It pays to wait for them, because a batch of one order costs half as
   * much as a batch of dozens.
   */
  const gather = (lane: Lane): void => {
    if (lane.isInFlight || lane.isGathering) return;
    lane.isGathering = true;
    const look = (before: number, turns: number): void => {
      const length = lane.queue.length();
      if (length > before && turns < TURNS_LIMIT && !isClosing) {
        setImmediate(look, length, turns + 1);
        return;
      }
      lane.isGathering = false;
      if (length > 0) void run(lane);
      else flush();
    };
    setImmediate(look, 0, 0);
  };
  const tryToWrite = (): void => {
    if (queueLength() > 0 || isClosing) return;
    const lane = lanes[0]!;
    lane.queue.add("probe", undefined).catch(() => {});
    if (!lane.isInFlight && !lane.isGathering) void run(lane);
  };
  const probe = createWriteProbe(tryToWrite, (writable) => {
    if (!writable) {
      for (const { queue } of lanes) queue.rejectAll("");
      tryToWrite();
    }
    onWritable?.(writable);
  });

  return {
    submit(name, input) {
      if (isClosing || !probe.isWritable() || queueLength() >= queueLimit) {
        return Promise.reject(refusal("service_unavailable"));
      }
      const lane = lanes[laneOf(name, input)]!;
      const output = lane.queue.add(name, input);
      gather(lane);
      return output;
    },
    queueLength,
    isWritable: () => probe.isWritable(),
    refuseWrites: () => probe.noteUnwritable(),
    async close() {
      isClosing = true;
      probe.stop();
      flush();
      await idle.promise;
    },
  };
}

function laneOf<Name extends CommandName>(name: Name, input: CommandInput<Name>): number {
  const named = needsOf(name, input).find((need) => "lock" in need);
  return named ? named.lock % ACCOUNT_LANES : ACCOUNT_LANES;
}
