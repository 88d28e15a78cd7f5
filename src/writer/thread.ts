// The writer thread: holds the only writing connection of the server and runs one batch after the other.
// The same code in a second thread, now and then, checkpoints what is too much to do between two batches.

import { openWriter } from "../storage/open.ts";
import type { Connection } from "../db/connection.ts";
import { checkpoint, createCheckpointer, type Checkpointer } from "../storage/checkpoint.ts";
import { FatalError, runBatch } from "./batch.ts";
import type { FromThread, ToThread } from "./messages.ts";

declare const self: Worker;

/** Without a batch for so long it is quiet. */
const IDLE_MS = 50;

let connection: Connection | undefined;
let idleTimer: ReturnType<typeof setTimeout> | undefined;
let log: Checkpointer | undefined;

self.onmessage = (event: MessageEvent<string>) => {
  clearTimeout(idleTimer);
  const message = JSON.parse(event.data) as ToThread;
  reportFatal(() => {
    if ("open" in message) {
      connection = openWriter(message.open);
      log = createCheckpointer(connection);
      send({ opened: true });
    } else if ("batch" in message) {
      const started = performance.now();
      const replies = runBatch(connection!, message.batch, Date.now());
      const seconds = (performance.now() - started) / 1000;
      const checkpointDue = log!.checkpointDue();
      send({ replies, seconds, behind: checkpointDue === "beside" });
      if (checkpointDue === "now") log!.empty();
      else if (checkpointDue === "quietly")
        idleTimer = setTimeout(() => reportFatal(() => log!.empty()), IDLE_MS);
    } else if ("checkpoint" in message) {
      const second = openWriter(message.checkpoint);
      const moved = checkpoint(second);
      second.sqlite.close();
      send({ checkpointed: moved });
    } else {
      connection?.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
      connection?.sqlite.close();
      send({ closed: true });
    }
  });
};

/** A database that can no longer be trusted ends the server. */
function reportFatal(work: () => void): void {
  try {
    work();
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    send({ fatal: error instanceof FatalError ? error.message : text });
  }
}

function send(message: FromThread): void {
  self.postMessage(JSON.stringify(message));
}
