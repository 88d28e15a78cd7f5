// The statements of batches are planned once and kept. A plan that was made while a table was empty must not stay: of an
// empty table reading the whole of some index costs as little as searching the right one. The same holds of a partial
// index without entries, until its table is analyzed again.

import { expect, test } from "bun:test";
import { createId } from "../../../src/db/port/ids.ts";
import { createPostgresStore } from "../../../src/db/postgres/batch/store.ts";
import {
  type CommandName,
  type CommandRequest,
  runBatch,
} from "../../../src/operations/batch/commands.ts";
import { cluster } from "../../support/databases/postgres.ts";

const BATCH = 32;
/** Some hundreds of orders, as in the first second of a server on a database that was just moved to. */
const FIRST_BATCHES = 16;
const COUNTED_BATCHES = 8;
const MANY = 40_000;
/** An order and its cancellation read some 180 pages, few of each index; with plans for empty tables 700. */
const BLOCKS_OF_ORDER = 350;
const STEP = 100;
/** A step reads some 340 pages; with all entries of an index of transfers, three times, 2,300. */
const BLOCKS_OF_STEP = 1000;

/** Rows of another account beside those that were placed. */
const FILL = `SET session_replication_role = replica;
  INSERT INTO orders (order_id, id, reseller_account, service_id, service_name, price_micros, per, link, quantity,
      charge_micros, status, remains, created_at, placement)
    SELECT n, left(md5(n::text), 24), 1000, 's', 'S', 1, '1', 'x', 10, 10, 'PROCESSING', 10, n, 'manual'
    FROM generate_series(1000001, 1000000 + ${MANY}) AS n;
  INSERT INTO transfers (seq, debit_account, credit_account, amount_micros, kind, order_id, created_at)
    SELECT n, 1000, 2, 10, 'order', n, n FROM generate_series(1000001, 1000000 + ${MANY}) AS n;
  INSERT INTO idempotency (seq, reseller_account, key, request_hash, order_id, created_at, uptime)
    SELECT n, 1000, 'k' || n, repeat('0', 64), n, n, 0 FROM generate_series(1000001, 1000000 + ${MANY}) AS n;`;

const BLOCKS = `SELECT
    (SELECT sum(idx_blks_hit + idx_blks_read) FROM pg_statio_user_indexes)
    + (SELECT sum(heap_blks_hit + heap_blks_read) FROM pg_statio_user_tables) AS blocks`;
const ACTOR = { keyId: null, operator: "test" };

/** A reseller with a balance and a service, in a database whose tables are as empty to the planner as they are then. */
async function shop() {
  const server = await cluster();
  const database = await server.createDatabase();
  // Nothing else is to end the plans; the planner takes tables that were analyzed to be as empty as they were then.
  const tables = await server.query(
    database,
    "SELECT format('ALTER TABLE %I SET (autovacuum_enabled = off)', tablename) AS text FROM pg_tables WHERE schemaname = 'public'",
  );
  for (const { text } of tables) await server.query(database, text as string);
  await server.query(database, "ANALYZE");
  const store = createPostgresStore(server.address(database), { lanes: 1 });
  let batches = 0;
  const run = async (requests: CommandRequest[]) => {
    const replies = await runBatch(store, requests, (batches += 1), createId());
    expect(replies.filter((reply) => !("done" in reply))).toEqual([]);
    return replies.map((reply) => (reply as { done: unknown }).done);
  };
  const one = async (name: CommandName, input: object): Promise<unknown> => {
    const command = { ...input, actor: ACTOR };
    return (await run([{ name, input: command, ids: [createId()] }]))[0];
  };
  const user = await one("createUser", { username: "anna", name: "Anna", parent: null });
  // Its transfer has the trigger plan how it finds orders, of which there are none.
  await one("creditUser", { username: "anna", amountMicros: 10 ** 15, note: null });
  const key = { type: "full", reach: "all", label: "", hash: "0".repeat(64), start: "rk_" };
  const { id: keyId } = (await one("createKey", { username: "anna", ...key })) as { id: string };
  const terms = { priceMicros: 1000, per: "1", min: 1, max: 1000, private: false };
  await one("createService", { id: "s", name: "S", ...terms });
  const caller = { resellerAccount: (user as { account: number }).account, keyId };
  /** Pages that its sessions read since pg_stat_reset(). */
  const closeAndCountBlocks = async (): Promise<number> => {
    // Sessions report what they read at their end.
    await store.close();
    await ended(() =>
      server.query(
        database,
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'reseller'",
      ),
    );
    const [read] = await server.query(database, BLOCKS);
    return Number(read!["blocks"]);
  };
  return {
    query: (text: string) => server.query(database, text),
    run,
    one,
    caller,
    closeAndCountBlocks,
  };
}

test("orders with Idempotency-Keys and their cancellations read no more pages after tables grow that were empty at planning time", async () => {
  const { query, run, caller, closeAndCountBlocks } = await shop();
  const placeAndCancel = async () => {
    const placed = await run(
      Array.from({ length: BATCH }, () => ({
        name: "placeOrderOnce",
        input: {
          order: { ...caller, service: "s", link: "x", quantity: 10 },
          claim: { key: createId(), requestHash: "0".repeat(64) },
        },
        ids: [createId()],
      })),
    );
    const ids = (placed as { response: { body: string } }[]).map(
      ({ response }) => (JSON.parse(response.body) as { order: { id: string } }).order.id,
    );
    const cancel = { to: "CANCELLED", note: null, actor: ACTOR };
    await run(ids.map((id) => ({ name: "transitionOrder", input: { id, ...cancel }, ids: [] })));
  };
  for (let batch = 0; batch < FIRST_BATCHES; batch += 1) await placeAndCancel();
  await query(FILL);
  await query("SELECT pg_stat_reset()");
  for (let batch = 0; batch < COUNTED_BATCHES; batch += 1) await placeAndCancel();
  expect((await closeAndCountBlocks()) / (BATCH * COUNTED_BATCHES)).toBeLessThan(BLOCKS_OF_ORDER);
});

test("a step of the daily totals reads only the rows that it counts, also before new tables are analyzed", async () => {
  const { query, one, closeAndCountBlocks } = await shop();
  await query("ANALYZE");
  await query(FILL);
  await query(
    `UPDATE totals_position SET orders = 1000000, transfers = 1000000, goal_orders = ${1_000_000 + MANY},
      goal_transfers = ${1_000_000 + MANY}, goal_transaction = 3`,
  );
  await query("SELECT pg_stat_reset()");
  expect(await one("countDailyTotals", { limit: STEP })).toBe("again");
  const [position] = await query("SELECT orders::int, transfers::int FROM totals_position");
  expect(position).toEqual({ orders: 1_000_000 + STEP, transfers: 1_000_000 + STEP });
  expect(await closeAndCountBlocks()).toBeLessThan(BLOCKS_OF_STEP);
});

async function ended(list: () => Promise<unknown[]>): Promise<void> {
  while ((await list()).length > 0) await Bun.sleep(10);
}
