// `verify`, `doctor` and the commands that only files have, on PostgreSQL.

import { SQL } from "bun";
import { describe, expect, test } from "bun:test";
import { openShop, reseller, type Shop } from "../../support/worlds/shop.ts";
import { cluster, startCluster } from "../../support/databases/postgres.ts";
import type { Body } from "../../support/http/api.ts";
import { freshPostgresDatabase } from "../../support/databases/test-database.ts";
import { sampleOf } from "../../support/runs.ts";

/** As the triggers, foreign keys and CHECKs forbid it. */
const DAMAGE: [what: string, sql: string, found: string[]][] = [
  ["a balance above its ledger", "UPDATE users SET balance_micros = balance_micros + 7 WHERE username = 'alice'", ["user alice", "balance is 99652007", "add up to 99652000"]],
  ["deposits off their ledger", "UPDATE users SET deposited_micros = deposited_micros + 7 WHERE username = 'alice'", ["user alice", "deposits are 100000007", "less its debits are 100000000"]],
  ["a transfer that is gone", "DELETE FROM transfers WHERE kind = 'order' AND order_id = 1", ["user alice", "order 1", "charge is 232000", "were 0"]],
  ["a refund that is gone", "DELETE FROM transfers WHERE kind = 'partial_refund'", ["order 2", "refunded is 116000", "transferred back were 0"]],
  ["a quantity off its charge", "UPDATE orders SET quantity = 200 WHERE order_id = 1", ["order 1", "price and quantity give 464000"]],
  ["remains off the refund", "UPDATE orders SET remains = 10 WHERE order_id = 2", ["order 2", "PARTIAL gives 23200"]],
  ["a status that no event led to", "UPDATE orders SET status = 'FAILED' WHERE order_id = 3", ["order 3", "status is FAILED", "last event led to CANCELLED"]],
  ["an order refunded to somebody else", "UPDATE transfers SET credit_account = (SELECT account FROM users WHERE username = 'bob') WHERE kind = 'refund'", ["order 3", "user alice", "user bob", "refund between accounts"]],
  ["a balance after a transfer that is off", "UPDATE transfers SET balance_after_micros = balance_after_micros + 1 WHERE seq = 2", ["transfer 2", "the transfers up to it add up to"]],
  ["a key of a child user", "UPDATE keys SET reseller_account = (SELECT account FROM users WHERE username = 'kid')", ["belongs to the child user kid"]],
  ["a child of a child", "UPDATE users SET parent_account = (SELECT account FROM users WHERE username = 'kid') WHERE username = 'bob'", ["user bob", "parent kid is a child user"]],
  ["a reference to nothing", "DELETE FROM services WHERE id = 'followers'", ["orders row 1", "missing row of services"]],
  ["a completed order with something left", "UPDATE orders SET status = 'COMPLETED', remains = 5 WHERE order_id = 1", ["order 1", "COMPLETED with 5 remaining"]],
  ["an event that the state table forbids", "UPDATE order_events SET from_status = 'FAILED' WHERE order_id = 3", ["order 3", "from FAILED to CANCELLED"]],
  ["events with a gap", "INSERT INTO order_events (seq, order_id, from_status, to_status, created_at) VALUES (nextval('order_events_number'), 3, 'COMPLETED', 'REFUNDED', 1)", ["order 3", "an event begins at COMPLETED", "ended at CANCELLED"]],
  ["a used key of another reseller", usedKey("bob", "a", 1, '{"order":{"orderId":1}}'), ["used key 1", "its effect belongs to account"]],
  ["an effect under two keys", `${usedKey("alice", "a", 1, '{"order":{"orderId":1}}')};${usedKey("alice", "b", 1, '{"order":{"orderId":1}}')}`, ["order 1", "done under 2 idempotency keys"]],
  ["a kept answer that tells of another order", usedKey("alice", "a", 1, '{"order":{"orderId":3}}'), ["used key 1", "describes 3, but what was done is 1"]],
  ["a kept answer that is no answer", usedKey("alice", "a", 1, "{"), ["used key 1", "describes nothing"]],
  ["a sequence behind its table", "SELECT setval('orders_number', 1)", ["sequence orders_number", "its last number is 1, but the highest in use is 3"]],
  ["a trigger that is gone", "DROP TRIGGER orders_are_kept ON orders", ["trigger orders_are_kept of orders", "is missing"]],
  ["a trigger that is turned off", "ALTER TABLE orders DISABLE TRIGGER orders_final", ["trigger orders_final of orders", "differs from the migrations"]],
  ["a trigger of someone else's", "CREATE TRIGGER gift AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION refuse('no')", ["trigger gift of orders", "is not part of the migrations"]],
  ["a CHECK that is gone", "ALTER TABLE transfers DROP CONSTRAINT transfers_amount_micros_check", ["constraint transfers_amount_micros_check of transfers", "is missing"]],
  ["an index that is unique no more", "DROP INDEX transfers_once_an_order; CREATE INDEX transfers_once_an_order ON transfers (order_id, kind) WHERE order_id IS NOT NULL", ["index transfers_once_an_order of transfers", "differs from the migrations"]],
  ["a table that is gone", "DROP TABLE order_events", ["table order_events", "the last event of an order matches its status"]],
]; // prettier-ignore

function usedKey(username: string, key: string, orderId: number, body: string): string {
  return `INSERT INTO idempotency (seq, reseller_account, key, request_hash, order_id, response_status, response_body, created_at)
    SELECT nextval('idempotency_number'), account, '${key}', '${"0".repeat(64)}', ${orderId}, 200, '${body}', 1 FROM users WHERE username = '${username}'`;
}

/** Order 1 PROCESSING, 2 PARTIAL with 50 of 100 remaining, 3 CANCELLED. */
async function busyShop(): Promise<Shop> {
  const shop = openShop({ database: freshPostgresDatabase() });
  for (let made = 0; made < 3; made++) shop.order(100);
  await shop.cli("admin", "order", "partial", "2", "--remains", "50");
  await shop.cli("admin", "order", "cancel", "3");
  return shop;
}

/** Several statements as an administrator, past triggers and foreign keys: they do not see what a replica applies. */
async function damage(shop: Shop, sql: string): Promise<void> {
  const administrator = new SQL(shop.location.database!, { max: 1 });
  try {
    await administrator.unsafe(`SET session_replication_role = replica; ${sql}`);
  } finally {
    await administrator.close();
  }
}

describe("verify", () => {
  test("of an undamaged database is ok: exit 0, with its address and its counts", async () => {
    const shop = await busyShop();
    const { code, json } = await shop.cli("verify", "--json");
    expect(code).toBe(0);
    expect(json).toEqual({
      ok: true,
      database: shop.location.database!.replace(/\/\/[^@]*@/, "//"),
      users: 3,
      orders: 3,
      transfers: 7,
      usedKeys: 0,
      problems: [],
      problemCount: 0,
    });
    shop.close();
  });

  // The rules of both engines are tested one by one in test/cli/kernel/sqlite/verify.test.ts.
  test.each(sampleOf(DAMAGE, 3))(
    "finds, names and measures %s, and changes nothing",
    async (_, sql, found) => {
      const shop = await busyShop();
      await damage(shop, sql);
      const before = shop.fingerprint.bind(shop);
      const dump = found[0] === "table order_events" ? "" : before();
      const { code, json, told } = await shop.cli("verify", "--json");
      expect([code, told]).toEqual([1, expect.stringMatching(/\d+ problems? in postgres:/)]);
      const text = JSON.stringify(json.problems);
      for (const each of found) expect(text).toContain(each);
      if (dump !== "") expect(before()).toBe(dump);
      shop.close();
    },
  );

  test("lists fifty problems of a check and counts them all", async () => {
    const shop = openShop({ database: freshPostgresDatabase() });
    for (let made = 0; made < 60; made++) shop.order(10);
    await damage(shop, "UPDATE orders SET status = 'COMPLETED', remains = 5");
    const { json } = await shop.cli("verify", "--json");
    const remaining = json.problems.filter(
      ({ check }: Body) => check === "a completed order has no remains",
    );
    expect(remaining).toHaveLength(50);
    // Without events too.
    expect(json.problemCount).toBe(120);
    shop.close();
  });
});

describe("doctor", () => {
  const stateOf = (json: Body, name: string): unknown =>
    json.findings.find(({ check }: Body) => check === name)?.state;

  test("warns about settings that weaken durability and about missing servers, but does not fail", async () => {
    const shop = openShop({ database: freshPostgresDatabase() });
    const { code, json } = await shop.cli("doctor", "--json");
    expect([code, json.ok]).toEqual([0, true]);
    expect(json.findings.map(({ check, state }: Body) => [check, state])).toEqual([
      ["PostgreSQL", "ok"],
      ["fsync", "warn"],
      ["synchronous_commit", "warn"],
      ["synchronous_standby_names", "warn"],
      ["encryption", "ok"],
      ["clock difference", "ok"],
      ["schema", "ok"],
      ["standbys", "warn"],
      ["servers", "warn"],
      ["clock", "ok"],
      ["unknown placements", "ok"],
      ["unknown numbers", "ok"],
      ["oldest unchecked order", "ok"],
      ["webhooks", "ok"],
      ["keys that add credit", "warn"],
      ["imported keys", "ok"],
      ["payments", "ok"],
      ["e-mails", "ok"],
      ["surpluses of payments", "ok"],
      ["spend of resellers", "ok"],
      ["open files", "ok"],
    ]);
    shop.close();
  });

  test("lists the servers that hold a lease", async () => {
    const shop = openShop({ database: freshPostgresDatabase() });
    const now = Date.now();
    const lease = { name: "left", ended: [] };
    shop.execute("renewLease", { id: "a".repeat(24), ...lease }, now);
    const { json } = await shop.cli("doctor", "--json");
    const { state, found } = json.findings.find(({ check }: Body) => check === "servers");
    expect([state, found]).toEqual(["ok", "left"]);
    shop.close();
  });

  test("fails for a schema that no migration made", async () => {
    const shop = openShop({ database: freshPostgresDatabase() });
    await damage(shop, "DROP TRIGGER orders_are_kept ON orders");
    const damaged = await shop.cli("doctor", "--json");
    expect([damaged.code, stateOf(damaged.json, "schema")]).toEqual([1, "fail"]);
    shop.close();
  });

  test("fails when commits wait for a missing standby", async () => {
    const server = await startCluster({ fsync: "off" });
    const standby = "synchronous_standby_names";
    await server.query("postgres", `ALTER SYSTEM SET ${standby} = 'elsewhere'`);
    await server.query("postgres", "SELECT pg_reload_conf()");
    while ((await server.query("postgres", `SHOW ${standby}`))[0]![standby] === "");
    const address = `postgres://postgres@127.0.0.1:${server.port}/reseller_template`;
    const { code, json } = await reseller("doctor", "--json", "--database", address);
    server.stop("immediate");
    expect([code, stateOf(json, "standbys")]).toEqual([1, "fail"]);
  });
});

describe("a database that cannot be opened is reported in one sentence without the password:", () => {
  const COMMANDS = [
    ["admin", "user", "list"],
    ["admin", "user", "create", "zoe"],
    ["verify"],
    ["doctor"],
  ];
  const cases = [
    ["no server", "postgres://me:s3cret@127.0.0.1:1/shop", "cannot be reached"],
    ["a user that is refused", "DATABASE", "does not exist"],
  ] as const;
  test.each(COMMANDS.flatMap((argv) => cases.map((each) => [argv.join(" "), ...each] as const)))(
    "%s, %s",
    async (argv, _, url, why) => {
      const server = await cluster();
      const database =
        url === "DATABASE" ? `postgres://postgres:s3cret@127.0.0.1:${server.port}/nothing` : url;
      const { code, stdout, stderr } = await reseller(...argv.split(" "), "--database", database);
      expect(code).toBe(1);
      expect(stdout + stderr).toContain(why);
      expect(stdout + stderr).not.toContain("s3cret");
    },
  );

  test("an invalid address is wrong usage: exit 2", async () => {
    for (const argv of COMMANDS) {
      const { code, stderr } = await reseller(...argv, "--database", "postgres://me:s3cret@");
      expect([code, stderr]).toEqual([
        2,
        "error: the address of the database (--database) must be postgres://user:password@host:port/database\n",
      ]);
    }
  });

  test("a database without tables is named", async () => {
    const server = await cluster();
    await server.query("postgres", "CREATE DATABASE bare");
    const database = `postgres://postgres@127.0.0.1:${server.port}/bare`;
    const { code, stderr } = await reseller("admin", "user", "list", "--database", database);
    expect([code, stderr]).toEqual([1, expect.stringContaining("/bare is empty: run")]);
  });
});

test.each([
  "backup file.db",
  "backup send",
  "backup list",
  "backup check",
  "backup fetch file.db",
  "restore file.db",
  "restore s3://backups/reseller",
])("%s is refused on PostgreSQL, which has its own tools: exit 2", async (line) => {
  const shop = openShop({ database: freshPostgresDatabase() });
  const { code, stderr } = await shop.cli(...line.split(" "));
  expect([code, stderr]).toEqual([2, expect.stringContaining("PostgreSQL with its own tools")]);
  shop.close();
});

describe("settings that only SQLite has are refused with --database:", () => {
  // Nothing answers there: without the refusal the exit code would be 1.
  const database = ["--database", "postgres://me@127.0.0.1:1/shop"];
  const cases = [
    ["--backup-to", "s3://backups/reseller"],
    ["--checkpoint", "external"],
  ] as const;

  test.each(cases)("serve and doctor with %s: exit 2", async (flag, value) => {
    for (const command of ["serve", "doctor"]) {
      const { code, stderr } = await reseller(command, ...database, flag, value);
      expect([code, stderr]).toEqual([2, expect.stringContaining(`${flag} `)]);
      expect(stderr).toContain("remove it when using --database");
    }
  });

  test.each(cases)("config check finds %s", async (flag, value) => {
    const argv = ["config", "check", "--json", ...database];
    const off = await reseller(...argv, flag, value);
    expect(off.code).toBe(1);
    expect(off.json).toContainEqual({
      check: "off-site",
      state: "fail",
      detail: expect.stringContaining(`${flag} `),
    });
    const without = await reseller(...argv);
    expect(without.json).toContainEqual(
      expect.objectContaining({ check: "off-site", state: "ok" }),
    );
  });
});
