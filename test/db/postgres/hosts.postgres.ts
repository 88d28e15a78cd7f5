// Several hosts, of which one is the primary, or becomes it.

import { expect, test } from "bun:test";
import { connect } from "../../../src/db/postgres/connection/connection.ts";
import { createPostgresStore } from "../../../src/db/postgres/batch/store.ts";
import { type Cluster, startCluster } from "../../support/databases/postgres.ts";
import { insertUser } from "../../support/databases/stores.ts";

/** Longer than a test may take: what waits for it fails. */
const NEVER_MS = 120_000;

/** As a machine does that has lost its power: connections stay, and nothing answers. */
async function freeze(server: Cluster): Promise<{ thaw: () => void }> {
  const children = await server.query("postgres", "SELECT pid FROM pg_stat_activity");
  const pids = [server.pid(), ...children.map(({ pid }) => pid as number)];
  const signal = (name: NodeJS.Signals) => {
    for (const pid of pids) {
      try {
        process.kill(pid, name);
      } catch {
        // The one that was asked for the list has ended.
      }
    }
  };
  signal("SIGSTOP");
  // A stopped process would outlive the test.
  return { thaw: () => signal("SIGCONT") };
}

async function twoHosts() {
  const [one, two] = await Promise.all([
    startCluster({ fsync: "off" }),
    startCluster({ fsync: "off" }),
  ]);
  for (const server of [one, two])
    await server.query("postgres", "CREATE DATABASE same TEMPLATE reseller_template");
  const address = {
    ...one.address("same"),
    hosts: [one, two].map(({ port }) => ({ hostname: "127.0.0.1", port })),
  };
  return { one, two, address };
}

test("a silent host does not prevent connecting to the primary", async () => {
  const { one, two, address } = await twoHosts();
  const { thaw } = await freeze(one);
  const options = { turnMs: NEVER_MS, connectMs: NEVER_MS, name: "test", settings: {} };
  const connection = await connect(address, options);
  const [rows] = await connection.turn([{ text: "SHOW port", values: [] }]);
  expect(rows![0]).toEqual({ port: String(two.port) });
  connection.close();
  thaw();
});

test("a batch whose host falls silent continues on the host that becomes the primary", async () => {
  const { one, two, address } = await twoHosts();
  const setReadOnly = async (value: string) => {
    await two.query("postgres", `ALTER SYSTEM SET default_transaction_read_only = ${value}`);
    await two.query("postgres", "SELECT pg_reload_conf()");
  };
  await setReadOnly("on");
  const store = createPostgresStore(address, { turnMs: NEVER_MS, primaryWaitMs: NEVER_MS });
  const add = (name: string) => store.runBatch([{ run: (tx) => insertUser(tx, name) }]);
  expect((await add("one"))[0]).toHaveProperty("done");
  expect(await one.query("same", "SELECT username FROM users")).toEqual([{ username: "one" }]);
  const { thaw } = await freeze(one);
  const second = add("two");
  await setReadOnly("off");
  expect((await second)[0]).toHaveProperty("done");
  expect(await two.query("same", "SELECT username FROM users")).toEqual([{ username: "two" }]);
  await store.close();
  thaw();
});

test("a host that becomes the primary is found while another is silent", async () => {
  const { one, two, address } = await twoHosts();
  const setReadOnly = async (value: string) => {
    await two.query("postgres", `ALTER SYSTEM SET default_transaction_read_only = ${value}`);
    await two.query("postgres", "SELECT pg_reload_conf()");
  };
  await setReadOnly("on");
  const { thaw } = await freeze(one);
  const options = { turnMs: NEVER_MS, connectMs: NEVER_MS, name: "test", settings: {} };
  const found = connect(address, options);
  await setReadOnly("off");
  const connection = await found;
  const [rows] = await connection.turn([{ text: "SHOW port", values: [] }]);
  expect(rows![0]).toEqual({ port: String(two.port) });
  connection.close();
  thaw();
});
