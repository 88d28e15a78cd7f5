// The queue in front of the writer thread. Commands gather while the thread works; the next batch takes them all.
// The queue has a limit: past it a command is refused at once, never left to wait without end.

import { Refusal, refusal } from "../domain/errors.ts";
import { createCommandIds } from "../operations/command-ids.ts";
import type { CommandInput, CommandOutput, SubmittableName } from "../operations/commands.ts";
import type { FromThread, Reply, Request, ToThread } from "./messages.ts";

/** Commands that may wait for the thread. At 5,000 orders a second they wait under a second. */
const QUEUE_LIMIT = 4096;
/** Commands in one transaction: bounds the time that a read of the next answer can lag behind. */
const BATCH_LIMIT = 512;
/** Between two tries to write while the database takes no writes. */
const PROBE_MS = 1000;
/** Until the checkpointing thread runs again after a reader left it nothing to do. */
const CHECKPOINT_MS = 1000;

export interface Writer {
  /**
   * Resolves after the commit with what the operation returned.
   * Rejects with Refusal when a rule said no or the queue is full, with CommandError when the operation broke
   * or the thread died with it.
   */
  submit<Name extends SubmittableName>(
    name: Name,
    input: CommandInput<Name>,
  ): Promise<CommandOutput<Name>>;
  /** False from a write that found no room, or the database held, until one succeeds. */
  isWritable(): boolean;
  /** Commands that wait for the thread. */
  queueLength(): number;
  /** Runs what is queued, checkpoints and closes the database. */
  close(): Promise<void>;
}

export interface WriterOptions {
  /** Absolute path of the database. */
  path: string;
  /** Called once if the thread dies or the database fails: nothing can be written any more. */
  onFatal: (cause: string) => void;
  /** Called when the database stops taking writes, and when it takes them again. */
  onWritable?: (writable: boolean) => void;
  /** Where the thread's code is: src/writer/thread.ts. */
  thread: URL;
  /** Told of every batch once it is committed or has failed, and before its callers are. */
  onBatch?: (commands: number, seconds: number) => void;
  queueLimit?: number;
}

/** An operation threw something that is not a refusal, or its outcome was lost. The message is for the log only. */
export class CommandError extends Error {
  override name = "CommandError";
}

interface QueuedCommand {
  request: Request;
  resolve: (output: never) => void;
  reject: (reason: Error) => void;
}

/** Starts the thread and resolves once it has opened the database. */
export async function startWriter(options: WriterOptions): Promise<Writer> {
  const { path, thread, onFatal, onWritable, queueLimit = QUEUE_LIMIT } = options;
  const worker = new Worker(thread);
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  let queue: QueuedCommand[] = [];
  let inFlight: QueuedCommand[] = [];
  let scheduled = false;
  let closing = false;
  let dead = false;
  let writable = true;
  let checkpointing: Promise<void> | null = null;
  let probe: ReturnType<typeof setInterval> | undefined;

  const send = (message: ToThread) => worker.postMessage(JSON.stringify(message));

  const fail = (cause: string) => {
    if (dead) return;
    dead = true;
    clearInterval(probe);
    opened.reject(new Error(cause));
    closed.resolve();
    // Whether the thread committed what it had, nobody knows; `unavailable` would say that it did not.
    for (const queued of inFlight) queued.reject(new CommandError(cause));
    for (const queued of queue) queued.reject(refusal("unavailable"));
    inFlight = queue = [];
    onFatal(cause);
  };

  /** Waits for the end of this turn of the event loop, so that requests read together share a batch. */
  const schedule = () => {
    if (scheduled || inFlight.length > 0) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      flush();
    });
  };

  const flush = () => {
    if (dead || inFlight.length > 0) return;
    if (queue.length > 0) {
      inFlight = queue.splice(0, BATCH_LIMIT);
      send({ batch: inFlight.map((queued) => queued.request) });
    } else if (closing) {
      send({ close: true });
    }
  };

  const noteWritable = (replies: readonly Reply[]) => {
    const now = !replies.every((reply) => "refused" in reply && reply.refused === "unavailable");
    if (now === writable) return;
    writable = now;
    clearInterval(probe);
    if (!writable) probe = setInterval(tryToWrite, PROBE_MS);
    onWritable?.(writable);
  };

  /** Whether there is room again is found out by writing, with or without callers. */
  const tryToWrite = () => {
    if (queue.length > 0 || closing || dead) return;
    const ignore = () => {};
    queue.push({
      request: { name: "probe", input: null, ids: [] },
      resolve: ignore,
      reject: ignore,
    });
    schedule();
  };

  const startCheckpoint = () => {
    checkpointing ??= checkpointOnce(thread, path, fail).then(async (moved) => {
      if (!moved) await Bun.sleep(CHECKPOINT_MS);
      checkpointing = null;
    });
  };

  worker.onmessage = (event: MessageEvent<string>) => {
    const message = JSON.parse(event.data) as FromThread;
    if ("replies" in message) {
      noteWritable(message.replies);
      if (message.behind && !closing) startCheckpoint();
      const answered = inFlight;
      inFlight = [];
      flush();
      options.onBatch?.(answered.length, message.seconds);
      for (const [index, queued] of answered.entries())
        resolveReply(queued, message.replies[index]!);
    } else if ("fatal" in message) {
      fail(message.fatal);
    } else if ("opened" in message) {
      opened.resolve();
    } else {
      clearInterval(probe);
      dead = true;
      closed.resolve();
      worker.terminate();
    }
  };
  worker.onerror = (event) => fail(`the writer thread failed: ${event.message}`);
  worker.addEventListener("close", () => fail("the writer thread ended"));

  send({ open: path });
  await opened.promise;

  return {
    submit(name, input) {
      if (dead || closing || queue.length >= queueLimit) {
        return Promise.reject(refusal("unavailable"));
      }
      // Here rather than in the thread, which commits an earlier batch meanwhile and is what limits orders a second.
      const request = { name, input, ids: createCommandIds(name, input) };
      return new Promise((resolve, reject) => {
        queue.push({ request, resolve, reject });
        schedule();
      });
    },
    queueLength: () => queue.length,
    isWritable: () => writable && !dead,
    async close() {
      closing = true;
      await checkpointing;
      if (!dead) flush();
      return closed.promise;
    },
  };
}

function resolveReply({ resolve, reject }: QueuedCommand, reply: Reply): void {
  if ("done" in reply) resolve(reply.done as never);
  else if ("refused" in reply) reject(new Refusal(reply.refused, reply.details as never));
  else reject(new CommandError(reply.failed));
}

/** Checkpoints in a second thread, beside the writer. */
function checkpointOnce(
  thread: URL,
  path: string,
  fail: (cause: string) => void,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const worker = new Worker(thread);
  worker.onmessage = (event: MessageEvent<string>) => {
    const message = JSON.parse(event.data) as FromThread;
    if ("fatal" in message) fail(message.fatal);
    worker.terminate();
    resolve("checkpointed" in message && message.checkpointed);
  };
  worker.onerror = () => resolve(false);
  worker.postMessage(JSON.stringify({ checkpoint: path } satisfies ToThread));
  return promise;
}
