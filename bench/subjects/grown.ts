// Databases that hold millions of orders: a few that the service placed itself, multiplied by SQL.
// Kept in a folder under the system's temporary one while a run needs them, and for the next one if asked to.

import { Database } from "bun:sqlite";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { recordAllClockSteps } from "../../src/db/sqlite/clock-steps.ts";
import { load } from "../tools/load.ts";
import { say } from "../tools/say.ts";
import { type Market, market, serve } from "./reseller.ts";
import { placeOrders, RESELLERS } from "./subject.ts";

/** Rows a statement: bounds what one transaction holds in memory. */
const STEP = 1_000_000;

/** A data directory with that many orders of all resellers, and a few more once it was used. */
export async function databaseOf(orders: number, cache: string): Promise<Market> {
  const folder = join(cache, String(orders));
  const keysFile = join(folder, "keys.json");
  if (!existsSync(keysFile)) {
    rmSync(folder, { recursive: true, force: true });
    await grow(orders, folder, keysFile);
  }
  return { folder, keys: JSON.parse(readFileSync(keysFile, "utf8")) as string[] };
}

async function grow(orders: number, folder: string, keysFile: string): Promise<void> {
  say(`making a database of ${orders} orders`);
  const { folder: template, keys } = await market();
  const unfinished = `${folder}.unfinished`;
  mkdirSync(unfinished, { recursive: true, mode: 0o700 });
  cpSync(template, unfinished, { recursive: true });
  const running = await serve(unfinished, keys);
  await load(running.url, { shots: placeOrders(running, RESELLERS), connections: 1, seconds: 1 });
  await running.stop();
  multiply(join(unfinished, "reseller.db"), orders);
  writeFileSync(join(unfinished, "keys.json"), JSON.stringify(keys));
  renameSync(unfinished, folder);
  if (!existsSync(keysFile)) throw new Error(`${folder} was not made`);
}

/** Copies the orders that are there, and their transfers, until there are `wanted`; balances follow the ledger. */
function multiply(path: string, wanted: number): void {
  const database = new Database(path, { readwrite: true, create: false });
  // No durability needed: the database can be generated again.
  for (const pragma of ["journal_mode = OFF", "synchronous = OFF", "foreign_keys = OFF"]) {
    database.run(`PRAGMA ${pragma}`);
  }
  database.run("PRAGMA cache_size = -2000000");
  const { seeds } = database.query("SELECT count(*) AS seeds FROM orders").get() as {
    seeds: number;
  };
  // A random id of a cuid's form.
  const id = "'a' || substr(lower(hex(randomblob(12))), 2)";
  for (let first = seeds + 1; first <= wanted; first += STEP) {
    const last = Math.min(first + STEP - 1, wanted);
    const numbers = `WITH RECURSIVE numbers (n) AS (SELECT ${first} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${last})`;
    const seed = `numbers JOIN orders seed ON seed.order_id = 1 + n % ${seeds}`;
    copy(database, "orders", numbers, `${seed}`, { order_id: "n", id });
    copy(
      database,
      "transfers",
      numbers,
      `numbers JOIN transfers seed ON seed.order_id = 1 + n % ${seeds}`,
      { seq: "NULL", order_id: "n" },
    );
  }
  database.run(
    `UPDATE users SET balance_micros =
       (SELECT coalesce(sum(amount_micros), 0) FROM transfers WHERE credit_account = account) -
       (SELECT coalesce(sum(amount_micros), 0) FROM transfers WHERE debit_account = account)`,
  );
  recordAllClockSteps(database);
  database.run("PRAGMA journal_mode = WAL");
  database.close();
}

/** Inserts rows like `seed`, but for the columns that `instead` names. */
function copy(
  database: Database,
  table: string,
  numbers: string,
  from: string,
  instead: Record<string, string>,
): void {
  const columns = (database.query(`PRAGMA table_info(${table})`).all() as { name: string }[]).map(
    ({ name }) => name,
  );
  const values = columns.map((name) => instead[name] ?? `seed.${name}`);
  database.run(
    `INSERT INTO ${table} (${columns.join(", ")}) ${numbers} SELECT ${values.join(", ")} FROM ${from}`,
  );
}
