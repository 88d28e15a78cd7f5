// Commits that wait for a synchronous standby that is away: what comes then is refused before it begins, and nothing that was
// done is refused.

import { expect, test } from "bun:test";
import { type Outcome, TransientError } from "../../../src/db/port/port.ts";
import { createPostgresStore } from "../../../src/db/postgres/batch/store.ts";
import { type Cluster, startCluster } from "../../support/databases/postgres.ts";
import { insertUser } from "../../support/databases/stores.ts";
import { until } from "../../support/until.ts";

/** No batch is given up, however long a test lets it wait. */
const NEVER_MS = 600_000;

/** With a name but no standby of it every commit waits. */
async function setStandby(server: Cluster, name: string): Promise<void> {
  await server.query("postgres", `ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
  await server.query("postgres", "SELECT pg_reload_conf()");
}

async function oneStore() {
  const server = await startCluster({ fsync: "off" });
  const database = await server.createDatabase();
  const changes: boolean[] = [];
  const onAcknowledging = (acknowledges: boolean) => void changes.push(acknowledges);
  const store = createPostgresStore(server.address(database), {
    lanes: 1,
    turnMs: NEVER_MS,
    primaryWaitMs: NEVER_MS,
    onAcknowledging,
  });
  const add = (name: string) => store.runBatch([{ run: (tx) => insertUser(tx, name) }]);
  const names = async () =>
    (await server.query(database, "SELECT username FROM users ORDER BY account")).map(
      ({ username }) => username as string,
    );
  const waiting = async () => {
    const rows = await server.query(
      "postgres",
      "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
    );
    return rows.length;
  };
  /** The first batch that waits, with the names of all: PostgreSQL's checkpointer reads the standby's name some time after the reload. */
  const addUntilOneWaits = async (): Promise<{ begun: Promise<Outcome[]>; added: string[] }> => {
    const added: string[] = [];
    for (;;) {
      added.push(`begun${added.length}`);
      const begun = add(added.at(-1)!);
      let isDone = false;
      void begun.then(() => (isDone = true));
      await until(async () => isDone || (await waiting()) === 1);
      if (!isDone) return { begun, added };
    }
  };
  return { server, store, changes, add, addUntilOneWaits, names, waiting };
}

test("a batch that waits for a standby is answered once it has one; later batches are refused and change nothing", async () => {
  const { server, store, changes, add, addUntilOneWaits, names, waiting } = await oneStore();
  await setStandby(server, "away");
  const { begun, added } = await addUntilOneWaits();
  // It waits for the one before it, and is not begun.
  const queued = add("queued");
  await until(() => changes.length > 0);
  expect(changes).toEqual([false]);
  const [refused] = await add("refused");
  expect(refused).toEqual({ threw: expect.any(TransientError) });
  // No further session was left behind.
  expect(await waiting()).toBe(1);
  expect(await names()).toEqual(added.slice(0, -1));
  await setStandby(server, "");
  expect((await begun)[0]).toHaveProperty("done");
  const [second] = await queued;
  await until(() => changes.length > 1);
  expect(changes).toEqual([false, true]);
  expect((await add("after"))[0]).toHaveProperty("done");
  const there = [...added, ...("done" in second! ? ["queued"] : []), "after"];
  expect(await names()).toEqual(there);
  await store.close();
  server.stop("immediate");
});

test("batches resume once a primary that never acknowledged is gone", async () => {
  const { server, store, changes, add, addUntilOneWaits, names } = await oneStore();
  await setStandby(server, "away");
  const { begun, added } = await addUntilOneWaits();
  await until(() => changes.length > 0);
  server.stop("immediate");
  server.start();
  await setStandby(server, "");
  await until(() => changes.length > 1);
  // What it had written to its log is there after the crash, and so it is acknowledged.
  expect((await begun)[0]).toHaveProperty("done");
  expect((await add("after"))[0]).toHaveProperty("done");
  expect(await names()).toEqual([...added, "after"]);
  await store.close();
  server.stop("immediate");
});
