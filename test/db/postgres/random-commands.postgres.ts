// Random commands of two servers on one database at once: nothing fails, and it is in order afterwards.

import { expect, test } from "bun:test";
import type { Reader } from "../../../src/db/port/port.ts";
import { createPostgresStore } from "../../../src/db/postgres/batch/store.ts";
import { type Reply, runBatch } from "../../../src/operations/batch/commands.ts";
import { cluster, SERVICE_ROLE } from "../../support/databases/postgres.ts";
import { LONG_AGO } from "../../support/random/random-chores.ts";
import { RandomCommands } from "../../support/random/random-commands.ts";
import { namesIn, problemsIn, readAll } from "../../support/random/random-world.ts";
import { randomFrom } from "../../support/random/seeded.ts";

const BATCHES = Number(process.env["TEST_BATCHES"] ?? 40);
const BATCH_LIMIT = 12;
/** Commands about orders that are not there. */
const EXPECTED = /there is no (order|attempt|request)|row not found in|has no provider/;

/** What went wrong with a command; null: nothing. */
function troubleOf(reply: Reply): string | null {
  if ("failed" in reply) return EXPECTED.test(reply.failed) ? null : reply.failed;
  return "refused" in reply && reply.refused === "service_unavailable" ? reply.refused : null;
}

test("random commands on two servers at once leave a consistent database, and none fails", async () => {
  const server = await cluster();
  const database = await server.createDatabase();
  const address = { ...server.address(database), username: SERVICE_ROLE };
  const stores = [createPostgresStore(address), createPostgresStore(address)] as const;
  const read = <T>(body: (reader: Reader) => T) => stores[0].read(body as never) as Promise<T>;
  const first = new RandomCommands(randomFrom(1));
  for (const command of first.first()) {
    await runBatch(
      stores[0],
      [command(namesIn(await read(readAll)))],
      LONG_AGO,
      crypto.randomUUID(),
    );
  }
  const troubles: string[] = [];
  let done = 0;
  const run = async (seed: number) => {
    const commands = new RandomCommands(randomFrom(seed));
    commands.callAs(first);
    for (let place = 0; place < BATCHES; place += 1) {
      const names = namesIn(await read(readAll));
      const requests = commands.batch(BATCH_LIMIT).map((command) => command(names));
      const replies = await runBatch(
        stores[seed % 2]!,
        requests,
        LONG_AGO + place * 1000,
        crypto.randomUUID(),
      );
      done += replies.filter((reply) => "done" in reply).length;
      troubles.push(...replies.flatMap((reply) => troubleOf(reply) ?? []));
    }
  };
  await Promise.all([10, 11, 12, 13].map(run));
  expect(troubles).toEqual([]);
  expect(done).toBeGreaterThan(BATCHES);
  expect(await problemsIn(read)).toEqual([]);
  const [statistics] = await server.query(
    database,
    `SELECT deadlocks::int AS deadlocks FROM pg_stat_database WHERE datname = '${database}'`,
  );
  expect(statistics).toEqual({ deadlocks: 0 });
  for (const store of stores) await store.close();
});
