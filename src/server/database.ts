// The database of a running server, on either engine.

import type { Caller } from "../db/users/keys.ts";
import type { Awaitable, ReadStore } from "../db/port/port.ts";
import type { Logger } from "../monitoring/log.ts";
import type { Check } from "../monitoring/readiness.ts";
import type { DatabaseFigures } from "../monitoring/figures.ts";
import type { Writer } from "../writer/writer.ts";

export interface ServerDatabase {
  /** The path of the file, or the address without its password, for the log. */
  description: string;
  /** Identifies this process among the servers of the database. */
  serverId: string;
  writer: Writer;
  /** For the reads of requests. */
  store: ReadStore;
  /** For long reads, so that they do not delay the reads of requests. */
  slowStore: ReadStore;
  /** Finds a caller's key by its hash. The key is never older than a response that its caller got. */
  findKey(hash: string): Awaitable<Readonly<Caller> | undefined>;
  /** Milliseconds since 1970, the same on all servers of the database; used for stored times and for what is due. */
  now: () => number;
  /** Number of servers that are alive, including this one. */
  servers(): number;
  /** Whether this server does the work that one server does for all. */
  isLeader(): boolean;
  /** The checks of readiness that depend on the engine. */
  check(): Awaitable<Record<string, Check>>;
  figures: DatabaseFigures;
  /** Absolute path of the file to back up; null if the database makes its own backups. */
  file: string | null;
  /** Path of the file with the server's address; deleted when the database is closed. */
  addressFile: string;
  /**
   * Age of a row, in milliseconds, after which no row with a lower number can still be committed; 0 if rows are committed
   * in the order of their numbers.
   */
  settlesAfterMs: number;
  /** Logs a fatal error of a read and ends the server. */
  onReadError(error: unknown): void;
  close(): Promise<void>;
}

export interface DatabaseEvents {
  log: Logger;
  /** Called after a fatal database error. */
  onFatal: () => void;
  /** Called after each batch, before its responses are sent. */
  onCommit: (commands: number, seconds: number) => void;
}
