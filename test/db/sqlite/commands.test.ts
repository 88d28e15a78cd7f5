// Batches whose statements SQLite fails: what has a reply is committed, and only the command that fails is rolled back.

import { Database } from "bun:sqlite";
import { beforeEach, describe, expect, test } from "bun:test";
import { createId } from "../../../src/db/port/ids.ts";
import { findUser } from "../../../src/db/users/users.ts";
import type { Reply, CommandRequest } from "../../../src/operations/batch/commands.ts";
import { audit } from "../../support/databases/audit.ts";
import { freshSqliteDatabase, type TestDatabase } from "../../support/databases/test-database.ts";

let database: TestDatabase;
let place: (link: string, changes?: object) => CommandRequest;

beforeEach(() => {
  database = freshSqliteDatabase();
  database.user("anna", "1");
  const service = database.service();
  const { account } = database.read((reader) => findUser(reader, "anna"))!;
  const { id } = database.key("anna", "order");
  const order = { resellerAccount: account, keyId: id, service, quantity: 100 };
  place = (link, changes) => ({
    name: "placeOrder",
    input: { ...order, link, ...changes },
    ids: [createId()],
  });
});

const kindOf = (reply: Reply) => Object.keys(reply)[0];
const run = (requests: CommandRequest[]) => database.batch(requests, 1);
const links = () =>
  database.query("SELECT link FROM orders ORDER BY order_id").map(({ link }) => link);

/** Makes SQLite end the statement that writes the order, or the transfer, of the link `boom`. */
function installTrap(table: "orders" | "transfers", action: string): void {
  const isBoom =
    table === "orders"
      ? "NEW.link = 'boom'"
      : "(SELECT link FROM orders WHERE order_id = NEW.order_id) = 'boom'";
  database.connection.sqlite.run(
    `CREATE TRIGGER trap BEFORE INSERT ON ${table} WHEN ${isBoom}
     BEGIN SELECT RAISE(${action}, 'trapped'); END`,
  );
}

describe("when SQLite fails a statement, only its command is rolled back and the others are committed:", () => {
  test.each([
    ["before its first write", "orders", "ABORT"],
    ["between its order and its transfer", "transfers", "ABORT"],
    ["half way through a statement", "transfers", "FAIL"],
  ] as const)("%s", (_title, table, action) => {
    installTrap(table, action);
    const replies = run([place("a"), place("boom"), place("c")]);
    expect(replies.map(kindOf)).toEqual(["done", "failed", "done"]);
    expect(links()).toEqual(["a", "c"]);
    expect(database.balance("anna")).toBe(1_000_000 - 2 * 232_000);
    expect(audit(database)).toEqual({});
  });
});

test("when SQLite rolls back the whole transaction, the command that caused it fails and the others are carried out", () => {
  installTrap("transfers", "ROLLBACK");
  const replies = run([place("a"), place("boom"), place("c")]);
  expect(replies.map(kindOf)).toEqual(["done", "failed", "done"]);
  expect(links()).toEqual(["a", "c"]);
  expect(database.balance("anna")).toBe(1_000_000 - 2 * 232_000);
  expect(audit(database)).toEqual({});
});

test("a database that another process holds, or that is full, is `service_unavailable` and nothing is written", () => {
  const { sqlite } = database.connection;
  const before = database.fingerprint();
  sqlite.run(
    `PRAGMA max_page_count = ${(sqlite.query("PRAGMA page_count").values()[0] as [number])[0]}`,
  );
  const long = Array.from({ length: 4 }, () => place("x".repeat(2048), { quantity: 10 }));
  const full = run(long);
  sqlite.run("PRAGMA max_page_count = 1000000");
  expect(full).toEqual(long.map(() => ({ refused: "service_unavailable", details: null })));
  expect(database.fingerprint()).toBe(before);

  const other = freshHolder(database.connection.path);
  sqlite.run("PRAGMA busy_timeout = 0");
  expect(run([place("a")])).toEqual([{ refused: "service_unavailable", details: null }]);
  other.close();
  expect(run([place("a")]).map(kindOf)).toEqual(["done"]);
});

/** Another connection, in the middle of a write. */
function freshHolder(path: string): { close(): void } {
  const holder = new Database(path, { readwrite: true, create: false });
  holder.run("BEGIN IMMEDIATE");
  return holder;
}
