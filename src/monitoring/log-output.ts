// Standard error as the log's output. It never blocks the event loop, never throws and never grows without limit.
// One write is in flight at a time, in the runtime's thread pool. Lines that do not fit the buffer, or whose write
// fails, are lost and counted. The first write that succeeds afterwards begins with their count.

import { write } from "node:fs";

const STDERR = 2;
/** Lines are collected up to this many bytes or milliseconds, unless they are flushed. */
const BATCH_BYTES = 64 * 1024;
const BATCH_MS = 250;
const FIRST_BYTES = 2 * BATCH_BYTES;
/**
 * Limit of the buffer in bytes while a write is in flight: the lines of 150 ms at 100,000 requests a second. A
 * reader that has stopped reading costs at most twice that in memory.
 */
const BUFFER_LIMIT = 4 * 1024 * 1024;
/** Bun sets O_NONBLOCK on standard error when it is a pipe: a write to a full one is retried with growing delays. */
const RETRY_MS = { first: 1, last: 100 };
const TRANSIENT_CODES = new Set(["EAGAIN", "EINTR"]);
/** Limit in milliseconds for `close` to write the remaining lines. */
const CLOSE_MS = 1000;
const NEWLINE = 0x0a;

export interface LogOutput {
  /** Writes one line, which includes its newline. */
  write(line: string): void;
  /** Starts writing the buffered lines. */
  flush(): void;
  /** Lines lost since the start. */
  lostLines(): number;
  /** Resolves once the buffered lines are written or lost, at the latest after a second. */
  close(): Promise<void>;
}

/** Creates the output. `lossNotice` makes the line that says how many lines were lost. */
export function openLogOutput(lossNotice: (lines: number) => string): LogOutput {
  /**
   * The collected lines as UTF-8, in the first `length` bytes. Each line is encoded at once. One growing text would
   * stay in memory as many small pieces, which takes 0.7 µs more of the 8.6 µs of a read.
   */
  let lines: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  let length = 0;
  /** The buffer of an earlier write, to collect lines in again. */
  let spare: Buffer | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isWriting = false;
  /** Whether the last write ended in the middle of a line. */
  let isTorn = false;
  let lost = 0;
  /** Lost lines that no notice has reported yet. */
  let unreported = 0;
  let onIdle: (() => void) | undefined;

  const lose = (lines: number) => {
    lost += lines;
    unreported += lines;
  };

  const grow = (more: number) => {
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * lines.length, length + more));
    larger.set(lines.subarray(0, length));
    lines = larger;
  };

  const writeNext = () => {
    clearTimeout(timer);
    timer = undefined;
    if (isWriting) return;
    if (length === 0 && unreported === 0) {
      onIdle?.();
      return;
    }
    const reported = unreported;
    const head = (isTorn ? "\n" : "") + (reported > 0 ? lossNotice(reported) : "");
    const headLength = Buffer.byteLength(head);
    const taken = lines;
    const collected = lines.subarray(0, length);
    const bytes = head === "" ? collected : Buffer.concat([Buffer.from(head), collected]);
    lines = spare ?? Buffer.allocUnsafeSlow(FIRST_BYTES);
    length = 0;
    isWriting = true;
    void writeAll(bytes).then(({ written, failed }) => {
      isWriting = false;
      spare = taken.length === FIRST_BYTES ? taken : null;
      if (written > 0) isTorn = bytes[written - 1] !== NEWLINE;
      if (written >= headLength) unreported -= reported;
      if (!failed) return writeNext();
      lose(countLines(bytes, Math.max(written, headLength)));
      // The notice is not retried by itself, only with the next line or at the end.
      if (length === 0) onIdle?.();
      else timer ??= setTimeout(writeNext, BATCH_MS).unref();
    });
  };

  return {
    write(line) {
      if (length + line.length > BUFFER_LIMIT) return lose(1);
      // A character takes at most three bytes of UTF-8.
      if (length + 3 * line.length > lines.length) grow(3 * line.length);
      length += lines.write(line, length);
      if (length >= BATCH_BYTES) writeNext();
      else timer ??= setTimeout(writeNext, BATCH_MS).unref();
    },
    flush: () => {
      if (length > 0) writeNext();
    },
    lostLines: () => lost,
    close() {
      const { promise, resolve } = Promise.withResolvers<void>();
      const limit = setTimeout(resolve, CLOSE_MS);
      onIdle = () => {
        // A remaining timer would keep the process alive for the rest of the second.
        clearTimeout(limit);
        resolve();
      };
      writeNext();
      return promise;
    },
  };
}

interface Written {
  /** Number of bytes. */
  written: number;
  failed: boolean;
}

async function writeAll(bytes: Buffer): Promise<Written> {
  let written = 0;
  let delay = RETRY_MS.first;
  while (written < bytes.length) {
    const { code, count } = await writeSome(bytes, written);
    written += count;
    if (code !== null && !TRANSIENT_CODES.has(code)) return { written, failed: true };
    if (count > 0) {
      delay = RETRY_MS.first;
    } else {
      await Bun.sleep(delay);
      delay = Math.min(2 * delay, RETRY_MS.last);
    }
  }
  return { written, failed: false };
}

function writeSome(bytes: Buffer, from: number): Promise<{ code: string | null; count: number }> {
  const { promise, resolve } = Promise.withResolvers<{ code: string | null; count: number }>();
  write(STDERR, bytes, from, bytes.length - from, null, (error, count) =>
    resolve({ code: error ? String(error.code) : null, count: error ? 0 : count }),
  );
  return promise;
}

function countLines(bytes: Buffer, from: number): number {
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE, from); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
    lines += 1;
  }
  return lines;
}
