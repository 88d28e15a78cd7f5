// The write-ahead log stays small under load that never pauses, though somebody always reads.

import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { startServerProcess } from "../support/server-process.ts";
import { freshDatabase, freshFolder } from "../support/service.ts";

const CALLERS = 32;
const ORDERS = 15_000;
const READS_AN_ORDER = 3;
const MEBIBYTE = 1024 * 1024;

test("the log begins anew every 16 MB while requests write and read without pause", async () => {
  const data = freshFolder();
  const database = freshDatabase(data);
  database.user("anna", "100000");
  const { text: key } = database.key("anna", "full");
  database.service({ id: "s1", price: "1", min: 1 });
  database.connection.sqlite.close();
  const server = await startServerProcess({ data });
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const body = JSON.stringify({ service: "s1", link: "x", quantity: 1 });
  let placed = 0;
  let largest = 0;
  const caller = async () => {
    while (placed < ORDERS) {
      placed += 1;
      const order = await fetch(`${server.url}/api/v1/orders`, { method: "POST", headers, body });
      expect(order.status).toBe(200);
      for (let read = 0; read < READS_AN_ORDER; read += 1) {
        const balance = await fetch(`${server.url}/api/v1/balance`, { headers });
        expect(balance.status).toBe(200);
      }
      largest = Math.max(largest, statSync(join(data, "reseller.db-wal")).size);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  await server.stop();
  expect(largest).toBeGreaterThan(12 * MEBIBYTE);
  expect(largest).toBeLessThan(24 * MEBIBYTE);
});
