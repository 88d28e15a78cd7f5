// The messages between the main thread and the writer thread, as JSON text: batches to the thread, replies back.

import type { CommandRequest, Reply } from "../operations/batch/commands.ts";
import type { CheckpointMode } from "../storage/file/checkpoint.ts";

/** Messages to the thread. `checkpoint`: runs an offloaded checkpoint, in a second thread that ends after it. */
export type ToThread =
  | { open: string; mode: CheckpointMode }
  | { batch: CommandRequest[] }
  | { close: true }
  | { checkpoint: string; mode: CheckpointMode };

/**
 * Messages from the thread. `seconds`: how long the batch took, including its commit. `offloadCheckpoint`: the WAL is
 * too long for the writer thread to checkpoint it. `checkpointed`: whether any page was written to the database file.
 * `fatal`: the database is damaged or its disk fails; the server must stop.
 */
export type FromThread =
  | { opened: true }
  | { replies: Reply[]; seconds: number; offloadCheckpoint: boolean }
  | { checkpointed: boolean }
  | { closed: true }
  | { fatal: string };
