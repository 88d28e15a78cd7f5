// References that are checked by statement instead of by foreign keys: docs/decisions/0026-batches-on-postgresql.md.

import { afterAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { createPostgresStore } from "../../../src/db/postgres/batch/store.ts";
import { verifyPostgres } from "../../../src/db/postgres/schema/verify.ts";
import { cluster } from "../../support/databases/postgres.ts";
import { insertService, insertUser } from "../../support/databases/stores.ts";

const ORDER = `INSERT INTO orders (order_id, id, reseller_account, service_id, service_name, price_micros, per, link,
    quantity, charge_micros, status, remains, created_at)
  VALUES (50, 'abcdefghijklmnopqrstuvwx', 3, 'likes', 's', 1, '1', 'l', 10, 10, 'PROCESSING', 10, 1)`;
const open: SQL[] = [];

async function market() {
  const server = await cluster();
  const database = await server.createDatabase();
  const address = server.address(database);
  const store = createPostgresStore(address);
  await store.runBatch([
    { run: (tx) => ({ account: insertUser(tx, "anna", 1_000_000) }) },
    { run: (tx) => insertService(tx, "likes") },
  ]);
  await store.close();
  const session = async () => {
    const { hostname, port } = address.hosts[0]!;
    const sql = new SQL({
      adapter: "postgres",
      hostname,
      port,
      username: "postgres",
      database,
      max: 1,
    });
    open.push(sql);
    const reserved = await sql.reserve();
    const [row] = (await reserved`SELECT pg_backend_pid() AS pid`) as { pid: number }[];
    return { run: (text: string) => reserved.unsafe(text), pid: row!.pid };
  };
  /** Once the session waits for a lock. */
  const waits = async (pid: number) => {
    for (;;) {
      const [row] = await server.query(
        "postgres",
        `SELECT 1 FROM pg_stat_activity WHERE pid = ${pid} AND wait_event_type = 'Lock'`,
      );
      if (row) return;
    }
  };
  return { server, database, address, session, waits };
}

/** What a statement failed with; "" when it did not. */
const failure = (running: Promise<unknown>) =>
  running.then(
    () => "",
    (error: { errno?: string }) => error.errno ?? "no SQLSTATE",
  );

const VIOLATION = "23503";

afterAll(() => Promise.all(open.map((sql) => sql.close({ timeout: 0 }))));

describe("a service and an order for it that meet in two transactions:", () => {
  test("the service stays where the order was inserted first", async () => {
    const { session, waits } = await market();
    const [placing, deleting] = [await session(), await session()];
    await placing.run("BEGIN");
    await placing.run(ORDER);
    const deleted = failure(deleting.run("DELETE FROM services WHERE id = 'likes'"));
    await waits(deleting.pid);
    await placing.run("COMMIT");
    expect(await deleted).toBe(VIOLATION);
  });

  test("the order is refused where the service was deleted first", async () => {
    const { session, waits } = await market();
    const [placing, deleting] = [await session(), await session()];
    await deleting.run("BEGIN");
    await deleting.run("DELETE FROM services WHERE id = 'likes'");
    const placed = failure(placing.run(ORDER));
    await waits(placing.pid);
    await deleting.run("COMMIT");
    expect(await placed).toBe(VIOLATION);
  });
});

test("verify names a row that refers to a missing one", async () => {
  const { server, database, address } = await market();
  await server.query(database, ORDER);
  await server.query(
    database,
    `SET session_replication_role = replica; DELETE FROM services WHERE id = 'likes'`,
  );
  const { problems } = await verifyPostgres(address, () => {});
  expect(problems.map(({ subject, problem }) => `${subject} ${problem}`)).toContain(
    "orders row 50 refers to a missing row of services",
  );
});
