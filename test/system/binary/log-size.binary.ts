// The write-ahead log stays small under continuous load with continuous reads.

import { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { startServerProcess } from "../../support/binary.ts";
import { freshDatabase } from "../../support/databases/test-database.ts";
import { freshFolder } from "../../support/folders.ts";

const CALLERS = 32;
const READS_AN_ORDER = 3;
const MEBIBYTE = 1024 * 1024;

/** A server under load, and the size of its log. */
async function market() {
  const data = freshFolder();
  const database = freshDatabase(data);
  database.user("anna", "100000");
  const { text: key } = database.key("anna", "full");
  database.service({ id: "s1", price: "1", min: 1 });
  database.connection.sqlite.close();
  const server = await startServerProcess({ data });
  const path = join(data, "reseller.db");
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const body = JSON.stringify({ service: "s1", link: "x", quantity: 1 });
  /** Places orders until `enough` says so of the log's size; returns the largest it had. */
  const load = async (enough: (bytes: number, placed: number) => boolean) => {
    let placed = 0;
    let largest = 0;
    const caller = async () => {
      for (;;) {
        const { size } = statSync(`${path}-wal`);
        largest = Math.max(largest, size);
        if (enough(size, placed)) return;
        placed += 1;
        const order = await fetch(`${server.url}/api/v1/orders`, { method: "POST", headers, body });
        expect(order.status).toBe(200);
        for (let read = 0; read < READS_AN_ORDER; read += 1) {
          const balance = await fetch(`${server.url}/api/v1/balance`, { headers });
          expect(balance.status).toBe(200);
        }
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
    return largest;
  };
  return { path, server, load };
}

test("the WAL is reset every 16 MB while requests write and read continuously", async () => {
  const { server, load } = await market();
  const largest = await load((_bytes, placed) => placed >= 20_000);
  await server.stop();
  expect(largest).toBeGreaterThan(12 * MEBIBYTE);
  // Without resets it grows by 8 KB an order. A preempted reader delays a reset by 1 MB, seldom twice in a row.
  expect(largest).toBeLessThan(24 * MEBIBYTE);
});

test("a WAL that grew under a long reader is truncated once the reader ends, under the same load", async () => {
  const { path, server, load } = await market();
  const reader = new Database(path, { readonly: true });
  reader.run("BEGIN");
  reader.query("SELECT count(*) FROM orders").get();
  await load((bytes) => bytes > 64 * MEBIBYTE);
  reader.run("COMMIT");
  reader.close();
  await load((bytes, placed) => bytes <= 32 * MEBIBYTE || placed >= 20_000);
  expect(statSync(`${path}-wal`).size).toBeLessThanOrEqual(32 * MEBIBYTE);
  await server.stop();
});
