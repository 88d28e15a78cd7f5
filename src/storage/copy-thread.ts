// The entry file of a thread that copies a live database and verifies the copy: both block their thread for long.

import { copyDatabase, verifyCopy } from "./backup.ts";
import { checkpoint } from "./checkpoint.ts";
import { hasLitestream } from "./litestream.ts";
import { openWriter } from "./open.ts";
import type { FromCopyThread, ToCopyThread } from "./copy.ts";

declare const self: Worker;

self.onmessage = async (event: MessageEvent<ToCopyThread>) => {
  const { path, partial, mode } = event.data;
  try {
    copyDatabase(path, partial);
    // While the copy was read, its read transaction kept the WAL from being checkpointed: done here, not in the writer.
    if (mode === "internal") checkpointBeside(path);
    send({ copied: true });
    send({ verified: await verifyCopy(partial) });
  } catch (error) {
    send({ failed: error instanceof Error ? error.message : String(error) });
  }
};

/** What the writer could not checkpoint while the copy was read is done here. */
function checkpointBeside(path: string): void {
  try {
    const connection = openWriter(path);
    // A backup by hand may not know that a replicator checkpoints.
    if (!hasLitestream(connection.sqlite)) checkpoint(connection);
    connection.sqlite.close(true);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    send({ warning: `what waited behind the backup was not checkpointed (${why})` });
  }
}

function send(message: FromCopyThread): void {
  self.postMessage(message);
}
