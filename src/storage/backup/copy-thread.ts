// The entry file of a thread that copies a live database and verifies the copy. Both block the thread for long.

import { type CheckedCopy, checkCopy, copyDatabase } from "./copy.ts";
import { checkpoint } from "../file/checkpoint.ts";
import { hasLitestream } from "../file/litestream.ts";
import { openWriter } from "../file/open.ts";
import type { FromCopyThread, ToCopyThread } from "./backup.ts";

declare const self: Worker;

self.onmessage = async (event: MessageEvent<ToCopyThread>) => {
  const { path, partial, mode } = event.data;
  try {
    copyDatabase(path, partial);
    // The copy's read transaction kept the WAL from being checkpointed. Do it here instead of in the writer.
    if (mode === "internal") checkpointBeside(path);
    send({ copied: true });
    send({ checked: await checkCopy(partial).catch(unchecked) });
  } catch (error) {
    send({ failed: error instanceof Error ? error.message : String(error) });
  }
};

/** Returns the result of a check that failed. The copy is kept, so that the server is not left without backups. */
function unchecked(error: unknown): CheckedCopy {
  const why = error instanceof Error ? error.message : String(error);
  const counts = { users: 0, orders: 0, transfers: 0, usedKeys: 0 };
  const fault = `could not be verified (${why})`;
  return { ...counts, problems: [], problemCount: 0, fault, isDamaged: false };
}

/** Checkpoints what the writer could not checkpoint while the copy was read. */
function checkpointBeside(path: string): void {
  try {
    const connection = openWriter(path);
    // The operator may have run `backup` without --checkpoint external although a replicator checkpoints.
    if (!hasLitestream(connection.sqlite)) checkpoint(connection);
    connection.sqlite.close(true);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    send({ warning: `writes made during the backup were not checkpointed (${why})` });
  }
}

function send(message: FromCopyThread): void {
  self.postMessage(message);
}
