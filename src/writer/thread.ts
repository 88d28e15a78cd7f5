// The entry file of the writer thread: runs one batch after another on the server's writing connection. In a second
// thread, the same code runs an offloaded checkpoint.

import { FatalError } from "../db/port/port.ts";
import type { Connection } from "../db/sqlite/connection.ts";
import { runBatch } from "../operations/batch/commands.ts";
import {
  checkpoint,
  checkpointAtEnd,
  type Checkpointer,
  createCheckpointer,
  createExternalCheckpointer,
} from "../storage/file/checkpoint.ts";
import { openWriter } from "../storage/file/open.ts";
import { type FromThread, textOf, type ToThread } from "./messages.ts";

declare const self: Worker;

/** Time without a batch after which an idle checkpoint is run. */
const IDLE_MS = 50;

let connection: Connection | undefined;
let isExternal = false;
let checkpointer: Checkpointer | undefined;
let idleTimer: ReturnType<typeof setTimeout> | undefined;

self.onmessage = (event: MessageEvent<string>) => {
  clearTimeout(idleTimer);
  reportFatal(() => handle(JSON.parse(event.data) as ToThread));
};

function handle(message: ToThread): void {
  if ("open" in message) {
    isExternal = message.mode === "external";
    connection = openWriter(message.open, message.mode);
    checkpointer = (isExternal ? createExternalCheckpointer : createCheckpointer)(connection);
    // Sets the JIT's usual policy. The compiled program starts with one under which little code becomes machine code
    // (deploy/compile.ts).
    Bun.unsafe.setJITPolicy(1);
    send({ opened: true });
  } else if ("batch" in message) {
    const started = performance.now();
    const replies = runBatch(connection!.store, message.batch, Date.now(), crypto.randomUUID());
    const seconds = (performance.now() - started) / 1000;
    const due = checkpointer!.checkpointDue();
    send({ replies, seconds, offloadCheckpoint: due === "offloaded" });
    const run = () => checkpointer!.run();
    if (due === "immediate") run();
    else if (due === "idle") idleTimer = setTimeout(() => reportFatal(run), IDLE_MS);
  } else if ("checkpoint" in message) {
    const second = openWriter(message.checkpoint, message.mode);
    const checkpointed = checkpoint(second);
    second.sqlite.close(true);
    send({ checkpointed });
  } else {
    if (connection && !isExternal) checkpointAtEnd(connection);
    connection?.sqlite.close(true);
    send({ closed: true });
  }
}

/** Runs `body` and reports any error that it throws as fatal. Transient database errors are replies, not errors. */
function reportFatal(body: () => void): void {
  try {
    body();
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    send({ fatal: error instanceof FatalError ? error.message : text });
  }
}

function send(message: FromThread): void {
  self.postMessage(textOf(message));
}
