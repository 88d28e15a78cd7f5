// Reads small files that the operator names, with a size limit and, for pipes, a time limit.

import { closeSync, constants, openSync, readSync, statSync } from "node:fs";
import { errorCode } from "../domain/values/error-table.ts";

/** Time limit for the writer of a pipe, such as the command of a process substitution. */
const PIPE_MS = 5_000;
const RETRY_MS = 20;
const CHUNK_BYTES = 64 * 1024;

/**
 * Returns the text of a regular file, or of a pipe whose writer may take up to `timeoutMs`. Throws an Error with a
 * message for the operator, or the system's own error.
 */
export function readSmallFile(path: string, limitBytes: number, timeoutMs = PIPE_MS): string {
  const stats = statSync(path);
  if (!stats.isFile() && !stats.isFIFO()) throw new Error("it is neither a file nor a pipe");
  // Without O_NONBLOCK, opening a FIFO blocks until a writer opens it.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const deadline = performance.now() + timeoutMs;
    const chunks: Buffer[] = [];
    for (let length = 0; ;) {
      const chunk = readChunk(fd);
      const isFirst = length === 0;
      length += chunk?.length ?? 0;
      if (length > limitBytes) throw new Error(`it is longer than ${limitBytes} bytes`);
      if (chunk && chunk.length > 0) {
        chunks.push(chunk);
      } else if (chunk && (!isFirst || stats.isFile())) {
        return Buffer.concat(chunks).toString("utf8");
      } else if (performance.now() >= deadline) {
        throw new Error("it is a pipe, and its writer did not close it in time");
      } else {
        Bun.sleepSync(RETRY_MS);
      }
    }
  } finally {
    closeSync(fd);
  }
}

/**
 * Returns an empty buffer at the end of the file and for a pipe without a writer, or null if the writer has not
 * written more yet.
 */
function readChunk(fd: number): Buffer | null {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  try {
    return buffer.subarray(0, readSync(fd, buffer));
  } catch (error) {
    if (errorCode(error) === "EAGAIN") return null;
    throw error;
  }
}
