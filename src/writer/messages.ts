// The messages between the main thread and the writer thread, as text: batches to the thread, replies back. The body of
// an order's response is a line of its own: as JSON inside JSON it would be escaped, and cost more than the order itself.

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

/** The message with the replies to a batch. */
type Replies = Extract<FromThread, { replies: unknown }>;

/** Begins a line that holds a reply's text. All other lines are JSON. */
const TEXT = "=";

/** Writes a message of the thread: a line of JSON, then one for each reply. */
export function textOf(message: FromThread): string {
  if (!("replies" in message)) return JSON.stringify(message);
  const { replies, ...head } = message;
  let text = JSON.stringify({ ...head, replies: [] });
  for (const reply of replies) text += `\n${lineOf(reply)}`;
  return text;
}

/** Reads what `textOf` wrote. */
export function messageOf(text: string): FromThread {
  const [head, ...lines] = text.split("\n");
  const message = JSON.parse(head!) as FromThread;
  if (lines.length > 0) (message as Replies).replies = lines.map(replyOf);
  return message;
}

function lineOf(reply: Reply): string {
  const text = "done" in reply && reply.done;
  const isLine = typeof text === "string" && !text.includes("\n");
  return isLine ? TEXT + text : JSON.stringify(reply);
}

function replyOf(line: string): Reply {
  return line.startsWith(TEXT) ? { done: line.slice(TEXT.length) } : (JSON.parse(line) as Reply);
}
