// The main thread's end of the writer. The writer is a thread (thread.ts) with the server's only writing connection.
// Commands are queued while the thread runs a batch, and the next batch takes them all (group commit). When the queue
// is full, commands are refused immediately, so that no caller waits indefinitely.

import { refusal } from "../domain/values/error-table.ts";
import type { CommandInput, CommandOutput, SubmittableName } from "../operations/batch/commands.ts";
import type { CheckpointMode } from "../storage/file/checkpoint.ts";
import { messageOf, type ToThread } from "./messages.ts";
import { createOffloadedCheckpoint } from "./offloaded-checkpoint.ts";
import { createCommandQueue, QUEUE_LIMIT } from "./queue.ts";
import type { ThreadAhead } from "./thread-ahead.ts";
import { createWriteProbe } from "./write-probe.ts";

export interface Writer {
  /**
   * Queues a command. Resolves after the commit with the operation's result. Rejects with Refusal when a rule refused
   * it or the queue is full. Rejects with CommandError after an internal error or when the thread died while the
   * command was in flight.
   */
  submit<Name extends SubmittableName>(
    name: Name,
    input: CommandInput<Name>,
  ): Promise<CommandOutput<Name>>;
  /** False after a write that met a full disk or a locked database, until a write succeeds. */
  isWritable(): boolean;
  /** Number of waiting commands. */
  queueLength(): number;
  /** Runs queued commands, checkpoints and closes the database. */
  close(): Promise<void>;
}

export interface WriterOptions {
  /** Absolute path of the database. */
  path: string;
  /** Called once, when the thread dies or the database fails: no further writes are possible. */
  onFatal: (cause: string) => void;
  /** Called when the database stops being writable, and when it is again. */
  onWritable?: (writable: boolean) => void;
  /** The entry file of the thread: src/writer/thread.ts. */
  thread: URL;
  /** The thread, if it was started ahead. */
  ahead?: ThreadAhead | null;
  /** Called after each batch, committed or failed, before the promises of its commands settle. */
  onBatch?: (commands: number, seconds: number) => void;
  queueLimit?: number;
  /** Who checkpoints the WAL. */
  mode?: CheckpointMode;
  /** Called when the WAL has grown above its limit. */
  onLongWal?: () => void;
}

/** Starts the thread and resolves once it has opened the database. */
export async function startWriter(options: WriterOptions): Promise<Writer> {
  const { path, thread, onFatal, queueLimit = QUEUE_LIMIT, mode = "internal" } = options;
  const worker = options.ahead?.take() ?? new Worker(thread);
  const send = (message: ToThread) => worker.postMessage(JSON.stringify(message));
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const queue = createCommandQueue();
  let state: "open" | "closing" | "dead" = "open";

  const fail = (cause: string) => {
    if (state === "dead") return;
    state = "dead";
    probe.stop();
    opened.reject(new Error(cause));
    closed.resolve();
    queue.rejectAll(cause);
    onFatal(cause);
  };

  const flush = () => {
    if (state === "dead" || queue.isInFlight()) return;
    const batch = queue.takeBatch();
    if (batch.length > 0) send({ batch });
    else if (state === "closing") send({ close: true });
  };
  const flushAtEndOfTurn = atEndOfTurn(flush);
  const flushSoon = () => {
    if (!queue.isInFlight()) flushAtEndOfTurn();
  };

  const probe = createWriteProbe(() => {
    if (queue.length() > 0 || state !== "open") return;
    queue.add("probe", undefined).catch(() => {});
    flushSoon();
  }, options.onWritable);
  const noteLongWal = onRise(options.onLongWal);
  const offloadedCheckpoint = createOffloadedCheckpoint(thread, path, mode, fail);

  worker.onmessage = (event: MessageEvent<string>) => {
    const message = messageOf(event.data);
    if ("replies" in message) {
      const { replies, seconds, offloadCheckpoint } = message;
      probe.record(replies);
      if (offloadCheckpoint && state !== "closing") offloadedCheckpoint.start();
      if (mode === "external") noteLongWal(offloadCheckpoint);
      const batch = queue.endBatch();
      // The next batch is sent first, so that the thread works while the promises of this one settle.
      flush();
      options.onBatch?.(batch.length, seconds);
      batch.settle(replies);
    } else if ("fatal" in message) {
      fail(message.fatal);
    } else if ("opened" in message) {
      opened.resolve();
    } else {
      probe.stop();
      state = "dead";
      closed.resolve();
      worker.terminate();
    }
  };
  worker.onerror = (event) => fail(`the writer thread failed: ${event.message}`);
  worker.addEventListener("close", () => fail("the writer thread ended"));

  send({ open: path, mode });
  await opened.promise;

  return {
    submit(name, input) {
      if (state !== "open" || queue.length() >= queueLimit) {
        return Promise.reject(refusal("service_unavailable"));
      }
      const output = queue.add(name, input);
      flushSoon();
      return output;
    },
    queueLength: () => queue.length(),
    isWritable: () => probe.isWritable() && state !== "dead",
    async close() {
      if (state === "open") state = "closing";
      await offloadedCheckpoint.idle();
      flush();
      return closed.promise;
    },
  };
}

/** Delays the callback to the end of the event loop's turn, so that commands submitted in one turn share a batch. */
function atEndOfTurn(callback: () => void): () => void {
  let isScheduled = false;
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      callback();
    });
  };
}

/** Returns a function that calls back when the value passed to it changes from false to true. */
function onRise(callback: () => void = () => {}): (value: boolean) => void {
  let before = false;
  return (value) => {
    if (value && !before) callback();
    before = value;
  };
}
