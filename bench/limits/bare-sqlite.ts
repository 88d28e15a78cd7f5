// The limit of the database: what an order writes, in a loop without HTTP or threads, 128 orders a transaction.
// bun bench/limits/bare-sqlite.ts DATA SECONDS KEY… prints orders a second.

import { Database } from "bun:sqlite";
import { join } from "node:path";

const BATCH = 128;
const QUANTITY = 100;

const [folder, seconds, ...keys] = process.argv.slice(2) as [string, string, ...string[]];
const database = new Database(join(folder, "reseller.db"), { readwrite: true, create: false });
database.run("PRAGMA journal_mode = WAL");
database.run("PRAGMA synchronous = FULL");
database.run("PRAGMA foreign_keys = ON");
database.run("PRAGMA cache_size = -16384");

interface Key {
  id: string;
  account: number;
}
interface Service {
  id: string;
  name: string;
  price: number;
  per: string;
}

const findKey = database.query<Key, [string]>(
  "SELECT id, reseller_account AS account, type, reach, active FROM keys WHERE hash = ?",
);
const findService = database.query<Service, [string]>(
  "SELECT id, name, price_micros AS price, per, min, max, active, private FROM services WHERE id = ?",
);
const findGrant = database.query<{ price: number | null }, [string, number]>(
  "SELECT price_micros AS price FROM grants WHERE service_id = ? AND reseller_account = ?",
);
const debit = database.query<null, [number, number]>(
  `UPDATE users SET balance_micros = balance_micros - ?1 WHERE account = ?2 AND balance_micros >= ?1`,
);
const insertOrder = database.query<{ order_id: number }, (string | number)[]>(
  `INSERT INTO orders (id, reseller_account, service_id, service_name, price_micros, per, link, quantity,
     charge_micros, status, remains, created_at)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'PROCESSING', ?, ?) RETURNING order_id`,
);
const insertTransfer = database.query<null, (string | number)[]>(
  `INSERT INTO transfers (debit_account, credit_account, amount_micros, kind, order_id, key_id, created_at)
   VALUES (?, 2, ?, 'order', ?, ?, ?)`,
);

const hashes = keys.map((key) => new Bun.CryptoHasher("sha256").update(key).digest("hex"));
const started = performance.now();
let placed = 0;
while (performance.now() - started < Number(seconds) * 1000) {
  database.run("BEGIN IMMEDIATE");
  for (let count = 0; count < BATCH; count += 1) placeOrder(hashes[count % hashes.length]!);
  database.run("COMMIT");
  placed += BATCH;
}
process.stdout.write(`${placed / ((performance.now() - started) / 1000)}\n`);

function placeOrder(hash: string): void {
  const key = findKey.get(hash)!;
  const { id, name, price: listed, per } = findService.get("bench")!;
  const price = findGrant.get("bench", key.account)?.price ?? listed;
  const charge = Math.ceil((price * QUANTITY) / 1000);
  if (debit.run(charge, key.account).changes !== 1) throw new Error("the balance is too low");
  const now = Date.now();
  const order = insertOrder.get(
    randomId(), key.account, id, name, price, per, "https://example.com/me", QUANTITY, charge, QUANTITY, now,
  )!; // prettier-ignore
  insertTransfer.run(key.account, charge, order.order_id, key.id, now);
}

/** As long as a cuid, as cheap as an id can be. */
function randomId(): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, 24);
}
