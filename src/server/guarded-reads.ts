// Guards reads of a database that may be unavailable. The store retries a read for as long as a caller may be expected
// to wait. If a read fails anyway, all reads are refused at once, until a test read, made every second, succeeds.

import { type Reader, type ReadStore, type Synchronous, TransientError } from "../db/port/port.ts";
import { query } from "../db/port/query.ts";
import { number } from "../db/port/table-definition.ts";

const PING = query({ columns: { one: number }, text: "SELECT 1 AS one" });
const REPEAT_MS = 1000;

export interface GuardedReads extends ReadStore {
  read<T>(body: (reader: Reader) => Synchronous<T>): Promise<T>;
  isReadable(): boolean;
  stop(): void;
}

/** Guards a store. Reads throw TransientError as the store's do, but sooner. */
export function guardReads(
  store: ReadStore,
  onReadable: (readable: boolean) => void,
): GuardedReads {
  let isReadable = true;
  let isStopped = false;

  const change = (readable: boolean) => {
    if (isReadable === readable) return;
    isReadable = readable;
    onReadable(readable);
    if (!readable) void repeat();
  };
  const repeat = async (): Promise<void> => {
    while (!isStopped && !isReadable) {
      try {
        await store.read((reader) => reader.one(PING));
        change(true);
      } catch {
        // The failure was logged when reads were first refused.
        await Bun.sleep(REPEAT_MS);
      }
    }
  };
  return {
    async read(body) {
      if (!isReadable) throw new TransientError("the database does not respond");
      try {
        return await store.read(body);
      } catch (error) {
        if (error instanceof TransientError && !isStopped) change(false);
        throw error;
      }
    },
    isReadable: () => isReadable,
    stop() {
      isStopped = true;
    },
  };
}
