// The writer thread: holds the only writing connection of the server and runs one batch after the other.

import { openWriter } from "../db/open.ts";
import type { Connection } from "../db/connection.ts";
import { FatalError, runBatch } from "./batch.ts";
import type { FromThread, ToThread } from "./messages.ts";

declare const self: Worker;

let connection: Connection | undefined;

self.onmessage = (event: MessageEvent<string>) => {
  const message = JSON.parse(event.data) as ToThread;
  try {
    if ("open" in message) {
      connection = openWriter(message.open);
      send({ opened: true });
    } else if ("batch" in message) {
      send({ replies: runBatch(connection!, message.batch, Date.now()) });
    } else {
      connection?.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
      connection?.sqlite.close();
      send({ closed: true });
    }
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    send({ fatal: error instanceof FatalError ? error.message : text });
  }
};

function send(message: FromThread): void {
  self.postMessage(JSON.stringify(message));
}
