// Read snapshots. The one that requests share lasts at most one turn of the event loop: SQLite takes its locks, and
// checks whether anything was written, once for all requests of the turn. It is never older than any response that
// was sent: it ends with its turn, when the writer replies, or when it is a millisecond old, whichever comes first.
// Gain: a cached key and a balance take 1.0 µs of CPU time at 16 requests a snapshot and 3.8 at one; with the key
// cache, GET /balance takes 59,000 instructions at 128 connections instead of 75,000. Each read after the first saves
// 0.7 µs.

import type { Reader, ReadStore, Synchronous } from "../port/port.ts";
import type { Connection } from "./connection.ts";

const LIFETIME_MS = 1;

export interface Snapshot extends ReadStore {
  /** Runs reads in the snapshot, at once. */
  read<T>(body: (reader: Reader) => Synchronous<T>): T;
  /** Ends the snapshot; the next read sees everything that is committed by then. */
  end(): void;
  /** Ends the snapshot for good and closes its connection. The writer may still call `end` afterwards. */
  close(): void;
  /** Within `read`: returns a number that differs from an earlier one if anything was written in between. */
  version(): number;
}

/**
 * Creates a snapshot on a connection that is used only for reads; other reads on it see the same snapshot. `close`
 * closes the connection. `now`: milliseconds of a monotonic clock.
 */
export function createSnapshot(
  connection: Connection,
  now: () => number = () => performance.now(),
): Snapshot {
  const { sqlite } = connection;
  const { reader } = connection.store;
  const begin = sqlite.query("BEGIN");
  const commit = sqlite.query("COMMIT");
  const dataVersion = sqlite.query<{ data_version: number }, []>("PRAGMA data_version");
  let begunAt = 0;
  let endOfTick: ReturnType<typeof setImmediate> | undefined;
  let version: number | null = null;
  let isClosed = false;

  const end = () => {
    if (isClosed) return;
    clearImmediate(endOfTick);
    // After an I/O error SQLite itself has already ended the transaction.
    if (sqlite.inTransaction) commit.run();
  };

  const start = (time: number) => {
    end();
    begin.run();
    begunAt = time;
    version = null;
    endOfTick = setImmediate(end);
  };

  return {
    read(body) {
      const time = now();
      if (!sqlite.inTransaction || time - begunAt > LIFETIME_MS) start(time);
      return body(reader);
    },
    end,
    close() {
      end();
      isClosed = true;
      sqlite.close();
    },
    version: () => (version ??= dataVersion.get()!.data_version),
  };
}
