// Read snapshots. The requests of one turn of the event loop share a snapshot, so that SQLite takes its locks, and
// checks whether anything was written, once for all of them. A snapshot shows every write that was confirmed by a
// response: it ends with its turn, when the writer replies, or after a millisecond, whichever comes first.
// Gain: each read after the first of a snapshot saves 0.7 µs of CPU time. With the key cache (key-cache.ts), GET
// /balance takes 59,000 instructions at 128 connections instead of 75,000.

import type { Reader, ReadStore, Synchronous } from "../port/port.ts";
import type { Connection } from "./connection.ts";

const LIFETIME_MS = 1;

export interface Snapshot extends ReadStore {
  /** Runs reads in the snapshot, synchronously. */
  read<T>(body: (reader: Reader) => Synchronous<T>): T;
  /** Ends the snapshot. The next read sees everything that is committed when it runs. */
  end(): void;
  /** Ends the snapshot for good and closes its connection. The writer may still call `end` afterwards. */
  close(): void;
  /** Returns a number that changes whenever anything was written. Call it within `read`. */
  version(): number;
}

/**
 * Creates snapshots on a connection that is used only for reads. All reads on it see the same snapshot. `close` closes
 * the connection. `now`: milliseconds of a monotonic clock.
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
      sqlite.close(true);
    },
    version: () => (version ??= dataVersion.get()!.data_version),
  };
}
