// Read snapshots. The one that requests share lasts one turn of the event loop: SQLite takes its locks, and checks
// whether anything was written, once for all requests of the turn. It is never older than what a caller was told: it
// ends with its turn, when the writer answers, and once it is a millisecond old, whichever comes first.
// Gain: a cached key and a balance take 1.0 µs of CPU time at 16 requests a snapshot and 3.8 at one; with the key cache,
// GET /balance takes 59,000 instructions at 128 connections and not 75,000. Each read after the first saves 0.7 µs.

import { type Connection, prepared } from "./connection.ts";

const LIFETIME_MS = 1;

export interface Snapshot {
  /** Runs reads in it at `now`, in milliseconds of a monotonic clock. What `body` does after an await is outside. */
  read<T>(now: number, body: () => T): T;
  /** Ends it: the next read sees everything that is committed by then. */
  end(): void;
  /** Ends it for good and closes its connection. A writer that still answers may go on calling `end`. */
  close(): void;
  /** Within `read`: another number than before if anything was written in between. */
  version(): number;
}

/** `connection`: reads only; what else reads on it meanwhile reads in the snapshot, which closes it. */
export function createSnapshot(connection: Connection): Snapshot {
  const { sqlite } = connection;
  const { begin, end: commit } = reading(connection);
  const dataVersion = sqlite.query<{ data_version: number }, []>("PRAGMA data_version");
  let begunAt = 0;
  let endOfTick: ReturnType<typeof setImmediate> | undefined;
  let version: number | null = null;
  let isClosed = false;

  const end = () => {
    if (isClosed) return;
    clearImmediate(endOfTick);
    // SQLite has ended it by itself after an I/O error.
    if (sqlite.inTransaction) commit.run();
  };

  const start = (now: number) => {
    end();
    begin.run();
    begunAt = now;
    version = null;
    endOfTick = setImmediate(end);
  };

  return {
    read(now, body) {
      if (!sqlite.inTransaction || now - begunAt > LIFETIME_MS) start(now);
      return body();
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

/**
 * Runs reads in one transaction: they see the database at one moment. What `body` does after an await is outside.
 * Within another snapshot it is part of that.
 */
export function readInSnapshot<T>(connection: Connection, body: () => T): T {
  if (connection.sqlite.inTransaction) return body();
  const { begin, end } = reading(connection);
  begin.run();
  try {
    return body();
  } finally {
    if (connection.sqlite.inTransaction) end.run();
  }
}

/** Runs `body`, which may await, in one snapshot. The connection must be its own: it is shared with nobody. */
export async function readInOwnSnapshot<T>(
  { sqlite }: Connection,
  body: () => Promise<T>,
): Promise<T> {
  sqlite.run("BEGIN");
  try {
    return await body();
  } finally {
    sqlite.run("COMMIT");
  }
}

/** The ends of a read transaction. */
const reading = prepared((_, sqlite) => ({
  begin: sqlite.query("BEGIN"),
  end: sqlite.query("COMMIT"),
}));
