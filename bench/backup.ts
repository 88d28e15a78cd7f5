// The slowest order while a backup is made of a database of a gigabyte: `bun bench/backup.ts`, after `bun run build`.
// Four callers order without a pause to speak of, before the backup, during it and after it.

import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { startServerProcess } from "../test/support/binary.ts";
import { fillInBulk } from "../test/support/databases/bulk.ts";
import { callApi } from "../test/support/http/api.ts";
import { freshDatabase } from "../test/support/databases/test-database.ts";

/** With links of this length they make a gigabyte. */
const ORDERS = 1_450_000;
const LINK_BYTES = 300;
const CALLERS = 4;
const PAUSE_MS = 10;
/** How long orders are timed before and after the backup. */
const BESIDE_MS = 3000;

const database = freshDatabase();
fillInBulk(database, ORDERS, LINK_BYTES);
database.user("caller", "1000000");
const key = database.key("caller", "order").text;
const order = { service: database.service(), link: "x", quantity: 100 };
database.connection.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
database.connection.sqlite.close();
const megabytes = statSync(database.connection.path).size / 1e6;

const server = await startServerProcess({ data: database.folder });
const times: Record<string, number[]> = { before: [], during: [], after: [] };
let phase = "before";
const callers = Array.from({ length: CALLERS }, async () => {
  while (phase !== "done") {
    const started = performance.now();
    const during = times[phase];
    const { status } = await callApi(server.url, "POST", "/orders", key, order);
    if (status !== 200) throw new Error(`an order was answered with ${status}`);
    during?.push(performance.now() - started);
    await Bun.sleep(PAUSE_MS);
  }
});
await Bun.sleep(BESIDE_MS);
phase = "during";
const began = performance.now();
process.kill(server.pid, "SIGUSR1");
const folder = join(database.folder, "backups");
const isMade = () => existsSync(folder) && readdirSync(folder).some((name) => name.endsWith(".db"));
while (!isMade()) await Bun.sleep(PAUSE_MS);
const seconds = (performance.now() - began) / 1000;
phase = "after";
await Bun.sleep(BESIDE_MS);
phase = "done";
await Promise.all(callers);
await server.stop();

process.stdout.write(`${megabytes.toFixed(0)} MB backed up in ${seconds.toFixed(1)} s\n`);
for (const [name, measured] of Object.entries(times)) {
  const slowest = Math.max(...measured).toFixed(0);
  process.stdout.write(`${name}: ${measured.length} orders, the slowest took ${slowest} ms\n`);
}
