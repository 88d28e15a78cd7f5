// Commits that wait for a synchronous standby that is away: what comes then is refused before it begins, and nothing that was
// done is refused.

import { expect, test } from "bun:test";
import { TransientError } from "../../../src/db/port.ts";
import { createPostgresStore } from "../../../src/db/postgres/store.ts";
import { type Cluster, startCluster } from "../../support/postgres.ts";
import { insertUser } from "../../support/stores.ts";

const until = async (isTrue: () => Promise<boolean> | boolean): Promise<void> => {
  while (!(await isTrue())) await Bun.sleep(20);
};

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
  const store = createPostgresStore(server.address(database), { lanes: 1, onAcknowledging });
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
  /** A batch that waits. The server takes the setting over in its own time: what commits before is done. */
  const addThatWaits = async () => {
    for (let number = 1; ; number += 1) {
      let isDone = false;
      const begun = add(`begun ${number}`).finally(() => (isDone = true));
      await until(async () => isDone || (await waiting()) === 1);
      if (!isDone) return { begun, written: number };
    }
  };
  return { server, store, changes, add, names, waiting, addThatWaits };
}

const begunNames = (written: number) =>
  Array.from({ length: written }, (_, index) => `begun ${index + 1}`);

test("a batch that waits for a standby is answered once it has one; what comes meanwhile is refused, and not there", async () => {
  const { server, store, changes, add, names, waiting, addThatWaits } = await oneStore();
  await add("before");
  await setStandby(server, "away");
  const { begun, written } = await addThatWaits();
  // It waits for the one before it, and is not begun.
  const queued = add("queued");
  await until(() => changes.length > 0);
  expect(changes).toEqual([false]);
  const [refused] = await add("refused");
  expect(refused).toEqual({ threw: expect.any(TransientError) });
  // No further session was left behind.
  expect(await waiting()).toBe(1);
  expect(await names()).toEqual(["before", ...begunNames(written - 1)]);
  await setStandby(server, "");
  expect((await begun)[0]).toHaveProperty("done");
  const [second] = await queued;
  await until(() => changes.length > 1);
  expect(changes).toEqual([false, true]);
  expect((await add("after"))[0]).toHaveProperty("done");
  const queuedName = "done" in second! ? ["queued"] : [];
  const there = ["before", ...begunNames(written), ...queuedName, "after"];
  expect(await names()).toEqual(there);
  await store.close();
  server.stop("immediate");
}, 600_000);

test("batches are begun again once a primary that never acknowledged is gone", async () => {
  const { server, store, changes, add, names, addThatWaits } = await oneStore();
  await setStandby(server, "away");
  const { begun, written } = await addThatWaits();
  await until(() => changes.length > 0);
  server.stop("immediate");
  server.start();
  await setStandby(server, "");
  await until(() => changes.length > 1);
  // What it had written to its log is there after the crash, and so it is acknowledged.
  expect((await begun)[0]).toHaveProperty("done");
  expect((await add("after"))[0]).toHaveProperty("done");
  expect(await names()).toEqual([...begunNames(written), "after"]);
  await store.close();
  server.stop("immediate");
}, 600_000);
