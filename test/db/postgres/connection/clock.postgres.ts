// The time of servers on PostgreSQL: the database's, whatever the clocks of their machines are.

import { describe, expect, test } from "bun:test";
import {
  readDatabaseTime,
  startDatabaseClock,
} from "../../../../src/db/postgres/connection/clock.ts";
import type { ReadStore } from "../../../../src/db/port/port.ts";
import { createPostgresStore } from "../../../../src/db/postgres/batch/store.ts";
import { freshPostgres } from "../../../support/databases/postgres.ts";

/** A database whose clock a test sets, `delay` ms of uptime away; each way takes half of it. */
function databaseAt(start: number, delay: number) {
  const hand = { uptime: 0, ahead: start };
  const store: ReadStore = {
    read() {
      hand.uptime += delay / 2;
      const row = { time: hand.ahead + hand.uptime };
      hand.uptime += delay / 2;
      return Promise.resolve(row) as never;
    },
  };
  return { hand, store, uptime: () => hand.uptime };
}

describe("a server's time", () => {
  test.each([0, 10, 4000])(
    "is that of a database %i ms away, within half of that delay",
    async (delay) => {
      const start = 1_800_000_000_000;
      const { hand, store, uptime } = databaseAt(start, delay);
      const clock = await startDatabaseClock(store, uptime);
      const difference = () => Math.abs(clock.now() - (hand.ahead + hand.uptime));
      for (const jump of [0, 3_600_000, -7_200_000, 3_600_000]) {
        hand.ahead += jump;
        hand.uptime += 5000;
        await clock.measure();
        expect(difference()).toBeLessThanOrEqual(delay / 2);
      }
    },
  );

  test("continues while the database does not respond, and stays steady when nothing changed", async () => {
    const { hand, store, uptime } = databaseAt(1000, 0);
    const clock = await startDatabaseClock(store, uptime);
    hand.uptime += 60_000;
    expect(clock.now()).toBe(61_000);
    const slow = await startDatabaseClock(databaseAt(1000, 0).store, uptime);
    const before = slow.now();
    await slow.measure();
    expect(slow.now()).toBe(before);
  });

  test("is read from the primary", async () => {
    const store = createPostgresStore(await freshPostgres());
    const before = Date.now();
    const time = await readDatabaseTime(store);
    expect(time).toBeGreaterThanOrEqual(before);
    expect(time).toBeLessThanOrEqual(Date.now());
    await store.close();
  });
});
