// A thread that copies a live database and verifies the copy: both take long and block the thread they run in.

import { copyDatabase, verifyCopy } from "./backup.ts";
import { checkpoint } from "./checkpoint.ts";
import { openWriter } from "./open.ts";
import type { FromCopyThread, ToCopyThread } from "./copy.ts";

declare const self: Worker;

self.onmessage = (event: MessageEvent<ToCopyThread>) => {
  const { path, partial } = event.data;
  try {
    copyDatabase(path, partial);
    // What the writer could not checkpoint while the copy was read is done here, beside it.
    const connection = openWriter(path);
    checkpoint(connection);
    connection.sqlite.close();
    send({ copied: true });
    send({ verified: verifyCopy(partial) });
  } catch (error) {
    send({ failed: error instanceof Error ? error.message : String(error) });
  }
};

function send(message: FromCopyThread): void {
  self.postMessage(message);
}
