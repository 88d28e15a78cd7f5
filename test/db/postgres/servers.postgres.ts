// Two servers on one database.

import { expect, test } from "bun:test";
import { connect } from "../../../src/db/postgres/connection/connection.ts";
import { type Tx, TransientError } from "../../../src/db/port/port.ts";
import { Lane } from "../../../src/db/postgres/connection/lane.ts";
import { createPostgresStore } from "../../../src/db/postgres/batch/store.ts";
import { createId } from "../../../src/db/port/ids.ts";
import { accounts } from "../../../src/db/tables/ledger.ts";
import { users } from "../../../src/db/tables/users.ts";
import { runBatch } from "../../../src/operations/batch/commands.ts";
import { insertKey, insertService, insertUser } from "../../support/databases/stores.ts";
import { cluster } from "../../support/databases/postgres.ts";

const LOAD = new URL("./port-load.ts", import.meta.url).pathname;
const STUCK = new URL("./stuck-server.ts", import.meta.url).pathname;
const BEGIN = { text: "BEGIN", values: [] };
const COMMIT = { text: "COMMIT", values: [] };
/** Time limits that no connection reaches, however slow the machine is. */
const NO_TIME_LIMITS = { turnMs: 600_000, connectMs: 600_000 };
const USERS = 6;
const BALANCE = 100;

test("two processes write the same rows in every order: no deadlock, no failure, no money lost", async () => {
  const server = await cluster();
  const database = await server.createDatabase();
  const store = createPostgresStore(server.address(database));
  await store.runBatch([
    { run: (tx) => insertService(tx, "service") },
    ...Array.from({ length: USERS }, (_, user) => ({
      run: (tx: Parameters<typeof insertUser>[0]) =>
        insertKey(tx, insertUser(tx, `user${user}`, BALANCE)),
    })),
  ]);
  await store.close();
  const results = await Promise.all(
    ["1", "2"].map(async (seed) => {
      const child = Bun.spawn([process.execPath, LOAD, String(server.port), database, seed], {
        stdout: "pipe",
        stderr: "inherit",
      });
      const text = await child.stdout.text();
      expect(await child.exited).toBe(0);
      return JSON.parse(text) as { done: number; failures: Record<string, number> };
    }),
  );
  for (const { done, failures } of results) {
    expect(done).toBeGreaterThan(500);
    // A user without money is refused; nothing else may go wrong.
    expect(Object.keys(failures).filter((message) => message !== "poor")).toEqual([]);
  }
  const [totals] = await server.query(
    database,
    "SELECT sum(balance_micros)::int AS sum FROM users",
  );
  expect(totals!["sum"]).toBe(USERS * BALANCE);
  const [statistics] = await server.query(
    database,
    `SELECT deadlocks::int AS deadlocks FROM pg_stat_database WHERE datname = '${database}'`,
  );
  expect(statistics!["deadlocks"]).toBe(0);
});

test("an update that changes nothing also waits for the account's lock, because its decision may become outdated", async () => {
  const server = await cluster();
  const database = await server.createDatabase();
  const store = createPostgresStore(server.address(database));
  const [made] = await store.runBatch([{ run: (tx) => insertUser(tx, "one") }]);
  const account = (made as { done: number }).done;
  const options = { ...NO_TIME_LIMITS, name: "other", settings: {} };
  const other = await connect(server.address(database), options);
  const lock = `SELECT 1 FROM accounts WHERE account = ${account} FOR NO KEY UPDATE`;
  await other.turn([BEGIN, { text: lock, values: [] }]);
  let isDone = false;
  const updated = store
    .runBatch([{ run: (tx) => tx.update(users, { account }, { name: "one" }) }])
    .then(() => (isDone = true));
  const waiting = async () => {
    const [row] = await server.query(
      database,
      "SELECT count(*)::int AS waiting FROM pg_locks WHERE NOT granted AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())",
    );
    return row!["waiting"] === 1;
  };
  while (!isDone && !(await waiting()));
  expect(isDone).toBe(false);
  await other.turn([COMMIT]);
  await updated;
  other.close();
  await store.close();
});

test("a key deactivated on another server cannot recharge after the commit", async () => {
  const server = await cluster();
  const database = await server.createDatabase();
  const store = createPostgresStore(server.address(database));
  const [made] = await store.runBatch([
    {
      run(tx) {
        const reseller = insertUser(tx, "reseller");
        const { account: child } = tx.insert(accounts, { kind: "user" });
        const row = { id: createId(), username: "child", name: "child", createdAt: 1 };
        tx.insert(users, { ...row, account: child, parentAccount: reseller });
        return { reseller, child, keyId: insertKey(tx, reseller) };
      },
    },
  ]);
  const { reseller, child, keyId } = (made as { done: Record<string, number> }).done;
  const options = { ...NO_TIME_LIMITS, name: "other", settings: {} };
  const other = await connect(server.address(database), options);
  const lock = `SELECT 1 FROM accounts WHERE account = ${reseller} FOR NO KEY UPDATE`;
  const deactivate = `UPDATE keys SET active = 0 WHERE reseller_account = ${reseller}`;
  await other.turn([BEGIN, { text: lock, values: [] }, { text: deactivate, values: [] }]);
  const input = { keyId, resellerAccount: reseller, username: "child", amountMicros: 5 };
  let isDone = false;
  const recharged = runBatch(store, [{ name: "recharge", input, ids: [] }], 1, "seed");
  void (recharged as Promise<unknown>).then(() => (isDone = true));
  const waiting = async () => {
    const [row] = await server.query(
      database,
      "SELECT count(*)::int AS waiting FROM pg_locks WHERE NOT granted AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())",
    );
    return row!["waiting"] === 1;
  };
  while (!isDone && !(await waiting()));
  await other.turn([COMMIT]);
  expect(await recharged).toEqual([{ refused: "api_key_inactive", details: null }]);
  const [row] = await server.query(
    database,
    `SELECT balance_micros::int AS balance FROM users WHERE account = ${child}`,
  );
  expect(row).toEqual({ balance: 0 });
  other.close();
  await store.close();
});

test("a locked account delays a batch for a limited time, however many commands it has for that account", async () => {
  const server = await cluster();
  const database = await server.createDatabase();
  const store = createPostgresStore(server.address(database));
  const [made] = await store.runBatch([{ run: (tx) => insertUser(tx, "one") }]);
  const account = (made as { done: number }).done;
  await store.close();
  const options = { ...NO_TIME_LIMITS, name: "other", settings: {} };
  const other = await connect(server.address(database), options);
  const lock = `SELECT 1 FROM accounts WHERE account = ${account} FOR NO KEY UPDATE`;
  await other.turn([BEGIN, { text: lock, values: [] }]);
  const settings = { lock_timeout: "'50ms'" };
  const lane = new Lane(server.address(database), {
    ...options,
    settings,
    primaryWaitMs: 300,
    now: Date.now,
  });
  const alone = new Set<number>();
  const running: number[] = [];
  const jobs = Array.from({ length: 30 }, (_, index) => ({
    run(tx: Tx) {
      // A command that runs twice in succession is alone in its batch.
      if (running.at(-1) === index) alone.add(index);
      running.push(index);
      return tx.update(users, { account }, { name: `name ${index}` });
    },
  }));
  const outcomes = await lane.run(jobs);
  expect(outcomes).toEqual(jobs.map(() => ({ threw: expect.any(TransientError) as unknown })));
  expect(alone).toContain(0);
  expect(alone).not.toContain(29);
  await other.turn([COMMIT]);
  expect(await lane.run(jobs.slice(0, 1))).toMatchObject([{ done: { name: "name 0" } }]);
  lane.close();
  other.close();
});

test("a server that stops in the middle of a batch does not block others from its accounts", async () => {
  const server = await cluster();
  const database = await server.createDatabase();
  const store = createPostgresStore(server.address(database));
  const [made] = await store.runBatch([{ run: (tx) => insertUser(tx, "one") }]);
  const account = (made as { done: number }).done;
  const stuck = Bun.spawn(
    [process.execPath, STUCK, String(server.port), database, String(account)],
    { stdout: "pipe", stderr: "inherit" },
  );
  try {
    const { value } = await stuck.stdout.getReader().read();
    expect(new TextDecoder().decode(value)).toBe("locked");
    const [outcome] = await store.runBatch([
      { run: (tx) => tx.update(users, { account }, { balanceMicros: 5n }) },
    ]);
    expect(outcome).toHaveProperty("done");
  } finally {
    stuck.kill("SIGKILL");
    await store.close();
  }
});
