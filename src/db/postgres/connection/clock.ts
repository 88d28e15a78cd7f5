// The clock of a server on PostgreSQL: the database's time, advanced by the uptime of this machine. All servers of a
// database share one time, and a wrong or changed clock of a machine has no effect.

import type { ReadStore } from "../../port/port.ts";
import { query } from "../../port/query.ts";
import { number } from "../../port/table-definition.ts";

const READ_TIME = query({
  columns: { time: number },
  text: `SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "time"`,
});

export interface DatabaseClock {
  /** Milliseconds since 1970. Jumps when the database's clock jumps, for example after a failover. */
  now: () => number;
  /** Reads the database's clock again. Rejects as reads do. */
  measure(): Promise<void>;
}

/** Starts a clock from the database's time. `uptime`: milliseconds by a clock that is never set. */
export async function startDatabaseClock(
  store: ReadStore,
  uptime = () => performance.now(),
): Promise<DatabaseClock> {
  let offset: number | null = null;
  const measure = async () => {
    const asked = uptime();
    const time = await readDatabaseTime(store);
    // The database read its clock between the request and the reply. Only an offset outside that range is corrected.
    const [least, most] = [time - uptime(), time - asked];
    offset = Math.min(Math.max(offset ?? (least + most) / 2, least), most);
  };
  await measure();
  return { now: () => Math.floor(uptime() + offset!), measure };
}

/** Returns milliseconds since 1970, by the clock of the primary. */
export async function readDatabaseTime(store: ReadStore): Promise<number> {
  return (await store.read((reader) => reader.one(READ_TIME)))!.time;
}
