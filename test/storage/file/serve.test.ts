// The server and its data directory: its lock, and that the server never continues after a fatal database error.

import { expect, test } from "bun:test";
import { damageTables } from "../../support/databases/damage.ts";
import { spawnServe } from "../../support/process.ts";
import { callApi } from "../../support/http/api.ts";
import { freshSqliteDatabase } from "../../support/databases/test-database.ts";

function shop() {
  const database = freshSqliteDatabase();
  database.user("anna", "1000");
  const order = { service: database.service(), link: "x", quantity: 100 };
  const { text } = database.key("anna", "full");
  return { database, order, key: text };
}

test("a second serve of one data directory exits 1 and names the database", async () => {
  const { database } = shop();
  const serve = await spawnServe(database.folder);
  const second = await spawnServe(database.folder).catch((error: Error) => error.message);
  expect(second).toContain(`another server uses ${database.connection.path}`);
  expect((await serve.stop()).exitCode).toBe(0);
});

test("a serve that cannot mark interrupted attempts unknown exits and releases the data directory", async () => {
  const { database } = shop();
  const { sqlite } = database.connection;
  const url = "http://127.0.0.1:1/";
  database.run("createProvider", { name: "acme", protocol: "smm-api", url, key: "k" });
  const service = database.service({ provider: { name: "acme", service: "7" } });
  const { id: keyId } = database.key("anna", "order");
  const resellerAccount = 3;
  const placed = { resellerAccount, keyId, service, link: "x", quantity: 100 };
  const { orderId } = database.run("placeOrder", placed);
  database.attempt(orderId);
  sqlite.run(
    `CREATE TRIGGER stuck BEFORE UPDATE ON orders BEGIN SELECT RAISE(ABORT, 'stuck'); END`,
  );
  const stuck = await spawnServe(database.folder).catch((error: Error) => error.message);
  expect(stuck).toContain("stuck");
  sqlite.run("DROP TRIGGER stuck");
  const serve = await spawnServe(database.folder);
  expect(sqlite.query("SELECT placement FROM orders").values()).toEqual([["unknown"]]);
  expect((await serve.stop()).exitCode).toBe(0);
});

test("a database that can no longer be written ends the server: logged, exit 1", async () => {
  const { database, order, key } = shop();
  const { sqlite, path } = database.connection;
  sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  sqlite.close();
  const serve = await spawnServe(database.folder);
  // Not the table, which a job of the server may have read before.
  damageTables(path, ["orders_by_status", "transfers_by_debit"]);
  const answer = await callApi(serve.url, "POST", "/orders", key, order).catch(() => null);
  expect(answer?.status ?? 500).toBe(500);
  const { exitCode, stderr } = await serve.ended();
  expect(exitCode).toBe(1);
  expect(stderr).toContain("the database can no longer be written: stopping");
  expect(stderr).toContain(path);
});
