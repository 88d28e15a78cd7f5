// `verify` finds every kind of damage, names it and by how much, and exits 1. The damage is done with raw SQL
// after the triggers and constraints that forbid it were taken away.

import { describe, expect, test } from "bun:test";
import { openShop, type Shop } from "../../../support/worlds/shop.ts";
import { seedEndedOrders } from "../../../support/seeds/shop-orders.ts";
import type { Body } from "../../../support/http/api.ts";

const DAMAGE: [what: string, sql: string, found: string[]][] = [
  ["a balance above its ledger", "UPDATE users SET balance_micros = balance_micros + 7 WHERE username = 'alice'", ["user alice", "balance is 99652007", "add up to 99652000"]],
  ["a balance of a child below its ledger", "UPDATE users SET balance_micros = 1 WHERE username = 'kid'", ["user kid", "balance is 1", "5000000"]],
  ["deposits off their ledger", "UPDATE users SET deposited_micros = deposited_micros + 7 WHERE username = 'alice'", ["user alice", "deposits are 100000007", "less its debits are 100000000"]],
  ["a transfer that is gone", "DELETE FROM transfers WHERE kind = 'order' AND order_id = 1", ["user alice", "order 1", "charge is 232000", "were 0"]],
  ["a transfer of another amount", "UPDATE transfers SET amount_micros = 5 WHERE kind = 'order' AND order_id = 1", ["order 1", "were 5"]],
  ["a refund that is gone", "DELETE FROM transfers WHERE kind = 'partial_refund'", ["order 2", "refunded is 116000", "transferred back were 0"]],
  ["a refund noted higher than the charge", "UPDATE orders SET refunded_micros = 300000 WHERE order_id = 3", ["order 3", "refunded 300000 of 232000"]],
  ["a charge off its price", "UPDATE orders SET charge_micros = charge_micros + 1 WHERE order_id = 1", ["order 1", "price and quantity give 232000"]],
  ["a quantity off its charge", "UPDATE orders SET quantity = 200 WHERE order_id = 1", ["order 1", "price and quantity give 464000"]],
  ["remains off the refund", "UPDATE orders SET remains = 10 WHERE order_id = 2", ["order 2", "PARTIAL gives 23200"]],
  ["an order that is cancelled without its refund", "UPDATE orders SET status = 'CANCELLED' WHERE order_id = 1", ["order 1", "CANCELLED gives 232000", "without an event"]],
  ["a status that no event led to", "UPDATE orders SET status = 'FAILED' WHERE order_id = 3", ["order 3", "status is FAILED", "last event led to CANCELLED"]],
  ["an order refunded to somebody else", "UPDATE transfers SET credit_account = (SELECT account FROM users WHERE username = 'bob') WHERE kind = 'refund'", ["order 3", "user alice", "user bob", "refund between accounts"]],
  ["a credit between two users", "UPDATE transfers SET debit_account = (SELECT account FROM users WHERE username = 'bob') WHERE kind = 'adjustment' AND seq = 1", ["adjustment between accounts", "user bob"]],
  ["a balance after a transfer that is off", "UPDATE transfers SET balance_after_micros = balance_after_micros + 1 WHERE seq = 2", ["transfer 2", "the transfers up to it add up to"]],
  ["a step of the clock that nobody noted", "UPDATE transfers SET created_at = 5 WHERE seq = 2", ["transfers 2", "its time is before"]],
  ["a step of the clock noted with another time", "UPDATE transfers SET created_at = 5 WHERE seq = 2; INSERT INTO clock_steps VALUES ('transfers', 2, 5, 6)", ["transfers 2", "its time is before"]],
  ["a key of a child user", "UPDATE keys SET reseller_account = (SELECT account FROM users WHERE username = 'kid')", ["belongs to the child user kid"]],
  ["a child of a child", "UPDATE users SET parent_account = (SELECT account FROM users WHERE username = 'kid') WHERE username = 'bob'", ["user bob", "parent kid is a child user"]],
  ["a reference to nothing", "DELETE FROM services WHERE id = 'followers'", ["orders row 1", "missing row of services"]],
  ["a row that breaks a CHECK", "UPDATE orders SET quantity = -1 WHERE order_id = 1", ["CHECK constraint failed in orders"]],
  ["a completed order with something left", "UPDATE orders SET status = 'COMPLETED', remains = 5 WHERE order_id = 1", ["order 1", "COMPLETED with 5 remaining"]],
  ["an event that the state table forbids", "UPDATE order_events SET from_status = 'FAILED' WHERE order_id = 3", ["order 3", "from FAILED to CANCELLED"]],
  ["events with a gap", "INSERT INTO order_events (order_id, from_status, to_status, created_at) VALUES (3, 'COMPLETED', 'REFUNDED', 1)", ["order 3", "an event begins at COMPLETED", "ended at CANCELLED"]],
  ["an order of a child user", "UPDATE orders SET reseller_account = (SELECT account FROM users WHERE username = 'kid') WHERE order_id = 1", ["order 1", "belongs to the child user kid"]],
  ["a used key of another reseller", usedKey("bob", "a", 1, '{"order":{"orderId":1}}'), ["used key 1", "its effect belongs to account"]],
  ["an effect under two keys", `${usedKey("alice", "a", 1, '{"order":{"orderId":1}}')};${usedKey("alice", "b", 1, '{"order":{"orderId":1}}')}`, ["order 1", "done under 2 idempotency keys"]],
  ["two open requests of a kind", `DROP INDEX order_requests_open; ${request(1, "cancel", "requested", 1)}; ${request(2, "cancel", "accepted", 1)}`, ["order 1", "2 requests to cancel are open"]],
  ["a request of another reseller", `${request(1, "cancel", "declined", 1)}; UPDATE order_requests SET reseller_account = (SELECT account FROM users WHERE username = 'bob')`, ["request 1", "its order to"]],
  ["an open request to cancel of an order that has ended", request(1, "cancel", "requested", 3), ["request 1", "it is requested, its order is CANCELLED"]],
  ["a cancellation that is done of an order that goes on", request(1, "cancel", "done", 1), ["request 1", "it is done, its order is PROCESSING"]],
  ["a refill of what was not delivered", request(1, "refill", "done", 1), ["request 1", "neither COMPLETED nor PARTIAL"]],
  ["a kept answer that tells of a request for another order", usedKey("alice", "a", 1, '{"request":{"orderId":3}}', '{"request":1}'), ["used key 1", "describes 3, but what was done is 1"]],
  ["a kept answer that tells of another order", usedKey("alice", "a", 1, '{"order":{"orderId":3}}'), ["used key 1", "describes 3, but what was done is 1"]],
  ["a kept answer that is no answer", usedKey("alice", "a", 1, "{"), ["used key 1", "describes nothing"]],
]; // prettier-ignore

/** SQL that remembers a key which placed that order. */
function usedKey(
  username: string,
  key: string,
  orderId: number,
  body: string,
  results: string | null = null,
): string {
  const kept = results === null ? "NULL" : `'${results}'`;
  return `INSERT INTO idempotency (reseller_account, key, request_hash, order_id, response_status, response_body, results, created_at)
    SELECT account, '${key}', '${"0".repeat(64)}', ${orderId}, 200, '${body}', ${kept}, 1 FROM users WHERE username = '${username}'`;
}

/** SQL that makes a request for an order with a key of its reseller, delivered by hand. */
function request(id: number, kind: string, state: string, orderId: number): string {
  return `INSERT INTO order_requests (request_id, id, order_id, reseller_account, kind, state, key_id, created_at, changed_at)
    SELECT ${id}, '${String(id).padStart(24, "r")}', ${orderId}, reseller_account, '${kind}', '${state}',
      (SELECT id FROM keys WHERE keys.reseller_account = orders.reseller_account), 1, 1
    FROM orders WHERE order_id = ${orderId}`;
}

/** A page of SQLite's: an index leaf without a cell. */
const EMPTY_INDEX = Uint8Array.of(10, 0, 0, 0, 0, 0x10, 0, 0);

describe("verify finds, names and counts damage, and changes nothing", () => {
  test.each(DAMAGE)("%s", async (_, sql, found) => {
    const shop = await seedEndedOrders(openShop());
    damage(shop, sql);
    const before = shop.dump();
    const { code, stdout, stderr } = await shop.cli("verify");
    expect(code).toBe(1);
    for (const text of found) expect(stdout).toContain(text);
    expect(stderr).toMatch(new RegExp(`^error: \\d+ problems? in ${shop.folder}/reseller\\.db`));
    const { json } = await shop.cli("verify", "--json");
    expect(json.ok).toBe(false);
    expect(json.problems.length).toBeGreaterThan(0);
    expect(shop.dump()).toBe(before);
  });
});

describe("a schema that no migration made is named, object by object:", () => {
  const SCHEMAS: [what: string, sql: string, problems: [subject: string, problem: string][]][] = [
    ["a trigger that is gone", "DROP TRIGGER orders_are_kept", [["trigger orders_are_kept", "is missing"]]],
    ["a trigger of someone else's", "CREATE TRIGGER gift AFTER INSERT ON orders BEGIN UPDATE users SET balance_micros = 1; END", [["trigger gift", "is not part of the migrations"]]],
    ["a trigger that guards no more", "DROP TRIGGER orders_final; CREATE TRIGGER orders_final BEFORE UPDATE OF status ON orders WHEN 0 BEGIN SELECT 1; END", [["trigger orders_final", "differs from the migrations"]]],
    ["an index that is unique no more", "DROP INDEX transfers_once_an_order; CREATE INDEX transfers_once_an_order ON transfers (order_id, kind) WHERE order_id IS NOT NULL", [["index transfers_once_an_order", "differs from the migrations"]]],
    ["a column, a table and a view more", "ALTER TABLE users ADD COLUMN age INTEGER; CREATE TABLE notes (text TEXT); CREATE VIEW rich AS SELECT * FROM users", [["table notes", "is not part of the migrations"], ["table users", "differs from the migrations"], ["view rich", "is not part of the migrations"]]],
    ["a literal in another case", "DROP TRIGGER users_are_kept; CREATE TRIGGER users_are_kept BEFORE DELETE ON users BEGIN SELECT RAISE(ABORT, 'Users are never deleted'); END", [["trigger users_are_kept", "differs from the migrations"]]],
  ]; // prettier-ignore
  test.each(SCHEMAS)("%s", async (_, sql, problems) => {
    const shop = await seedEndedOrders(openShop());
    shop.connection.sqlite.run(sql);
    const { code, json, stderr } = await shop.cli("verify", "--json");
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${shop.folder}/reseller.db`)]);
    expect(json).toMatchObject({ ok: false, problemCount: problems.length, orders: 3 });
    expect(json.problems).toEqual(
      problems.map(([subject, problem]) => {
        return { check: "the schema matches the migrations", subject, problem };
      }),
    );
    const { json: looked, ...doctor } = await shop.cli("doctor", "--json");
    expect(doctor.code).toBe(1);
    const { state, found } = looked.findings.find(({ check }: Body) => check === "schema");
    expect(state).toBe("fail");
    for (const [subject, problem] of problems) expect(found).toContain(`${subject} ${problem}`);
  });

  test("a missing table: the other checks continue", async () => {
    const shop = await seedEndedOrders(openShop());
    shop.connection.sqlite.run("PRAGMA foreign_keys = OFF; DROP TABLE order_events");
    shop.connection.sqlite.run(
      "UPDATE users SET balance_micros = 7, deposited_micros = 7 WHERE username = 'bob'",
    );
    const { code, json } = await shop.cli("verify", "--json");
    expect(code).toBe(1);
    const subjects = json.problems.map(({ subject }: Body) => subject);
    expect(subjects).toContain("table order_events");
    expect(subjects).toContain("user bob");
  });
});

test("SQLite's statistics, Litestream's tables and another spelling of the same SQL are no problem", async () => {
  const shop = await seedEndedOrders(openShop());
  shop.connection.sqlite.run(`CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
    CREATE TABLE _litestream_lock (id INTEGER);
    DROP TRIGGER users_are_kept;
    create trigger "users_are_kept" before delete ON \`users\`
    BEGIN /* kept */ SELECT raise(ABORT,'users are never deleted'); -- ever
    END;
    ANALYZE`);
  expect((await shop.cli("verify", "--json")).json).toMatchObject({ ok: true, problems: [] });
  expect((await shop.cli("doctor")).code).toBe(0);
});

describe("a damaged page is found and named", () => {
  const PAGES: [what: string, root: string, page: Uint8Array, found: string][] = [
    ["an index that lost its rows", "orders_by_status", EMPTY_INDEX, "orders_by_status"],
    ["a table overwritten with noise", "order_events", new Uint8Array(4096).fill(0xa5), "the last event of an order matches its status"],
  ]; // prettier-ignore
  test.each(PAGES)("%s", async (_, root, page, found) => {
    const shop = await seedEndedOrders(openShop());
    const { sqlite } = shop.connection;
    const [row] = sqlite.query("SELECT rootpage FROM sqlite_schema WHERE name = ?").values(root);
    sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
    sqlite.close();
    const file = `${shop.folder}/reseller.db`;
    const bytes = await Bun.file(file).bytes();
    bytes.set(page, (Number(row![0]) - 1) * 4096);
    await Bun.write(file, bytes);
    const { code, json, stderr } = await shop.cli("verify", "--json");
    expect(code).toBe(1);
    expect(stderr).toContain(file);
    expect(JSON.stringify(json.problems)).toContain(found);
  });
});

function damage({ connection: { sqlite } }: Shop, sql: string): void {
  const triggers = sqlite
    .query<{ name: string; sql: string }, []>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'",
    )
    .all();
  sqlite.run("PRAGMA foreign_keys = OFF");
  sqlite.run("PRAGMA ignore_check_constraints = ON");
  sqlite.transaction(() => {
    for (const { name } of triggers) sqlite.run(`DROP TRIGGER ${name}`);
    for (const statement of sql.split("; ")) sqlite.run(statement);
    for (const trigger of triggers) sqlite.run(trigger.sql);
  })();
}
