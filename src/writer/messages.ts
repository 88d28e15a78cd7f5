// What crosses between the main thread and the writer thread, as JSON text: a batch one way, its replies the other.

import type { CommandName } from "../operations/commands.ts";
import type { RefusalCode } from "../domain/errors.ts";

export interface Request {
  name: CommandName;
  input: unknown;
  /** For what the command creates. */
  ids: string[];
}

/** In the order of the batch. `refused`: a rule said no. `failed`: a fault, with its text for the log. */
export type Reply =
  { done: unknown } | { refused: RefusalCode; details: unknown } | { failed: string };

/** `checkpoint`: for a second thread, which does that one thing and ends. */
export type ToThread =
  { open: string } | { batch: Request[] } | { close: true } | { checkpoint: string };

/** `seconds`: how long the batch took, its commit included. `behind`: much waits to be checkpointed. `checkpointed`: whether anything could be. `fatal`: the database is damaged or the disk fails; the server must stop. */
export type FromThread =
  | { opened: true }
  | { replies: Reply[]; seconds: number; behind: boolean }
  | { checkpointed: boolean }
  | { closed: true }
  | { fatal: string };
