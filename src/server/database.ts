// The database of a running server, whatever engine is behind it.

import type { Caller } from "../db/keys.ts";
import type { Awaitable, ReadStore } from "../db/port.ts";
import type { Logger } from "../monitoring/log.ts";
import type { Check } from "../monitoring/readiness.ts";
import type { DatabaseFigures } from "../monitoring/metrics.ts";
import type { Writer } from "../writer/writer.ts";

export interface ServerDatabase {
  /** The path of the file, or the address without a password: for the log. */
  description: string;
  /** Identifies this process among the servers of the database. */
  serverId: string;
  writer: Writer;
  /** For the reads of requests. */
  store: ReadStore;
  /** For long reads, so that they do not delay those of requests. */
  slowStore: ReadStore;
  /** A caller's key by its hash. Never older than a response that its caller got. */
  findKey(hash: string): Awaitable<Readonly<Caller> | undefined>;
  /** The servers that are alive, this one included. */
  servers(): number;
  /** Whether this server does what one server does for all. */
  isLeader(): boolean;
  /** The checks of readiness that depend on the engine. */
  check(): Awaitable<Record<string, Check>>;
  figures: DatabaseFigures;
  /** Absolute path of the file that backups are made of; null: the database makes its own. */
  file: string | null;
  /** Path of the file with the server's address; deleted when the database is closed. */
  addressFile: string;
  /** How long after its creation a row may still be committed below rows that are there; 0: never. Milliseconds. */
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
