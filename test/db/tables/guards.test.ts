// The constraints and triggers of the database refuse invalid writes: raw SQL on a connection of its own.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  freshDatabase,
  OPERATOR,
  type TestDatabase,
} from "../../support/databases/test-database.ts";

let database: TestDatabase;
let raw: Database;

beforeAll(() => {
  database = freshDatabase();
  database.user("anna", "10");
  database.user("cleo", "1", "anna");
  const key = database.key("anna", "full");
  const service = database.service({ id: "s1" });
  const place = () =>
    database.run("placeOrder", {
      resellerAccount: 3,
      keyId: key.id,
      service,
      link: "x",
      quantity: 100,
    });
  const transition = (to: "COMPLETED" | "PARTIAL" | "FAILED" | "CANCELLED" | "REFUNDED") => {
    const { id } = place();
    if (to === "REFUNDED") {
      database.run("transitionOrder", { id, to: "COMPLETED", note: null, actor: OPERATOR });
    }
    database.run("transitionOrder", { id, to, remains: 50, note: null, actor: OPERATOR });
  };
  place();
  for (const to of ["COMPLETED", "PARTIAL", "FAILED", "CANCELLED", "REFUNDED"] as const)
    transition(to);
  database.run("grantService", { id: "s1", username: "anna", priceMicros: 1 });
  raw = new Database(database.connection.path, { readwrite: true, create: false });
  raw.run("PRAGMA busy_timeout = 10000; PRAGMA foreign_keys = ON");
});
afterAll(() => {
  raw.close();
  database.connection.sqlite.close();
});

/** SQLite's error; null when the statement succeeds (in a transaction that is rolled back). */
function refusalOf(sql: string): string | null {
  raw.run("BEGIN IMMEDIATE");
  try {
    raw.run(sql);
    return null;
  } catch (error) {
    return (error as Error).message;
  } finally {
    if (raw.inTransaction) raw.run("ROLLBACK");
  }
}

const ORDER_1 = "WHERE order_id = 1";
const TERMS = {
  order_id: "99",
  id: "'zzzzzzzzzzzzzzzzzzzzzzzz'",
  reseller_account: "4",
  service_id: "'s2'",
  service_name: "'x'",
  price_micros: "1",
  per: "'1'",
  link: "'y'",
  quantity: "101",
  charge_micros: "1",
  created_at: "1",
};

type Values = Record<string, string | number>;

/** A valid INSERT, of which each value can be replaced. */
const insertInto =
  (table: string, defaults: Values) =>
  (changes: Values = {}): string => {
    const values = { ...defaults, ...changes };
    return `INSERT INTO ${table} (${Object.keys(values).join()}) VALUES (${Object.values(values).join()})`;
  };

const insertTransfer = insertInto("transfers", {
  debit_account: 1,
  credit_account: 3,
  amount_micros: 1,
  kind: "'adjustment'",
  order_id: "NULL",
  created_at: 1,
});

const insertUser = (parent: string, username = "new", id = "'nnnnnnnnnnnnnnnnnnnnnnnn'") =>
  `INSERT INTO accounts (account, kind) VALUES (90, 'user');
   INSERT INTO users (account, id, username, name, parent_account, created_at)
   VALUES (90, ${id}, '${username}', 'x', ${parent}, 1)`;

const insertKey = insertInto("keys", {
  id: "'kkkkkkkkkkkkkkkkkkkkkkkk'",
  reseller_account: 3,
  hash: `'${"0".repeat(64)}'`,
  start: "'rk_'",
  type: "'full'",
  reach: "'all'",
  active: 1,
  created_at: 1,
});

const insertService = insertInto("services", {
  id: "'s9'",
  name: "'x'",
  price_micros: 0,
  per: "'1'",
  min: 1,
  max: 1_000_000_000,
  active: 1,
  private: 0,
  created_at: 1,
});

const insertOrder = insertInto("orders", {
  order_id: "NULL",
  id: "'oooooooooooooooooooooooo'",
  reseller_account: 3,
  service_id: "'s1'",
  service_name: "'x'",
  price_micros: 0,
  per: "'1'",
  link: "'x'",
  quantity: 1_000_000_000,
  charge_micros: 0,
  status: "'PROCESSING'",
  remains: 1,
  created_at: 1,
});

const BOTH_ACTORS = { key_id: "(SELECT id FROM keys)", operator: "'x'" };
const insertEvent = insertInto("order_events", {
  order_id: 1,
  from_status: "'PENDING'",
  to_status: "'PROCESSING'",
  created_at: 1,
});

describe("is refused:", () => {
  test.each<[why: string, sql: string, says: string]>([
    ["a changed transfer", "UPDATE transfers SET amount_micros = 5 WHERE seq = 1", "append-only"],
    ["a changed note of a transfer", "UPDATE transfers SET note = 'x'", "append-only"],
    ["a deleted transfer", "DELETE FROM transfers WHERE seq = 1", "append-only"],
    ["a transfer of 0", insertTransfer({ amount_micros: 0 }), "CHECK"],
    ["a transfer below 0", insertTransfer({ amount_micros: -1 }), "CHECK"],
    ["a transfer of a fraction", insertTransfer({ amount_micros: 0.5 }), "cannot store REAL"],
    ["a transfer to itself", insertTransfer({ debit_account: 3 }), "CHECK"],
    ["a transfer to no account", insertTransfer({ credit_account: 99 }), "FOREIGN KEY"],
    ["a transfer of another kind", insertTransfer({ kind: "'gift'" }), "CHECK"],
    ["a refund without an order", insertTransfer({ kind: "'refund'" }), "CHECK"],
    ["a recharge with an order", insertTransfer({ kind: "'recharge'", order_id: 1 }), "CHECK"],
    ["a second charge", insertTransfer({ kind: "'order'", order_id: 1 }), "UNIQUE"],
    ["a second refund", insertTransfer({ kind: "'refund'", order_id: 4 }), "UNIQUE"],
    ["a second part", insertTransfer({ kind: "'partial_refund'", order_id: 3 }), "UNIQUE"],
    ["a balance below 0", "UPDATE users SET balance_micros = -1", "CHECK"],
    [
      "a balance above the deposits",
      "UPDATE users SET balance_micros = deposited_micros + 1",
      "CHECK",
    ],
    ["deposits below 0", "UPDATE users SET deposited_micros = -1, balance_micros = -1", "CHECK"],
    ["deposits past 9e18", "UPDATE users SET deposited_micros = 9000000000000000001", "CHECK"],
    ["a transfer past 2^53", insertTransfer({ amount_micros: "9007199254740992" }), "CHECK"],
    ["a balance of a fraction", "UPDATE users SET balance_micros = 0.5", "cannot store REAL"],
    ["a deleted user", "DELETE FROM users WHERE account = 4", "never deleted"],
    ["a user of another id", "UPDATE users SET id = 'zzzzzzzzzzzzzzzzzzzzzzzz'", "keeps"],
    ["a child user moved away", "UPDATE users SET parent_account = NULL", "keeps"],
    ["a child user of a child user", insertUser("4"), "must be a reseller"],
    ["a child user of nobody", insertUser("77"), "FOREIGN KEY"],
    ["a username in another case", insertUser("NULL", "ANNA"), "UNIQUE"],
    ["an empty username", insertUser("NULL", ""), "CHECK"],
    ["a key of a child user", insertKey({ reseller_account: 4 }), "never to a child user"],
    ["a key of nobody", insertKey({ reseller_account: 77 }), "FOREIGN KEY"],
    ["a key in clear", insertKey({ hash: "'rk_0'" }), "CHECK"],
    ["a key shown too far", insertKey({ start: "'rk_0123456'" }), "CHECK"],
    ["a key of another type", insertKey({ type: "'admin'" }), "CHECK"],
    ["a key of another reach", insertKey({ reach: "'none'" }), "CHECK"],
    ["a key half active", insertKey({ active: 2 }), "CHECK"],
    ["a key with another kind of id", insertKey({ id: "'k'" }), "CHECK"],
    ["an account of another kind", "INSERT INTO accounts VALUES (91, 'bank')", "CHECK"],
    ["a user with another kind of id", insertUser("NULL", "new", "'n'"), "CHECK"],
    ["a service at a price below 0", "UPDATE services SET price_micros = -1", "CHECK"],
    ["a service with min above max", "UPDATE services SET min = 10001", "CHECK"],
    ["a service with min 0", "UPDATE services SET min = 0", "CHECK"],
    ["a service past the largest quantity", insertService({ max: 1_000_000_001 }), "CHECK"],
    ["a service without id", insertService({ id: "''" }), "CHECK"],
    ["a service without name", insertService({ name: "''" }), "CHECK"],
    ["a service half active", insertService({ active: 2 }), "CHECK"],
    ["a service half private", insertService({ private: 2 }), "CHECK"],
    ["a grant at a price below 0", "UPDATE grants SET price_micros = -1", "CHECK"],
    ["a second version of the catalogue", "INSERT INTO catalogue_version VALUES (2, 1)", "CHECK"],
    ["a service of another unit", "UPDATE services SET per = '100'", "CHECK"],
    ["a deleted service that was ordered", "DELETE FROM services", "FOREIGN KEY"],
    ["an order number below 1", insertOrder({ order_id: 0 }), "CHECK"],
    ["an order with another kind of id", insertOrder({ id: "'o'" }), "CHECK"],
    ["an order number twice", insertOrder({ order_id: 1 }), "UNIQUE"],
    ["an order of nobody", insertOrder({ reseller_account: 77 }), "FOREIGN KEY"],
    ["an order of no service", insertOrder({ service_id: "'s8'" }), "FOREIGN KEY"],
    ["an order at a price below 0", insertOrder({ price_micros: -1 }), "CHECK"],
    ["an order of another unit", insertOrder({ per: "'100'" }), "CHECK"],
    ["an order without link", insertOrder({ link: "''" }), "CHECK"],
    ["an order of nothing", insertOrder({ quantity: 0, remains: 0 }), "CHECK"],
    ["an order of too much", insertOrder({ quantity: 1_000_000_001 }), "CHECK"],
    ["a charge below 0", insertOrder({ charge_micros: -1, refunded_micros: -1 }), "CHECK"],
    ["an event by two", insertEvent(BOTH_ACTORS), "CHECK"],
    ["a transfer by two", insertTransfer(BOTH_ACTORS), "CHECK"],
    ["a deleted order", `DELETE FROM orders ${ORDER_1}`, "never deleted"],
    ["a refund above the charge", "UPDATE orders SET refunded_micros = charge_micros + 1", "CHECK"],
    ["a refund below 0", "UPDATE orders SET refunded_micros = -1 WHERE order_id = 3", "CHECK"],
    ["an open order with a refund", `UPDATE orders SET refunded_micros = 1 ${ORDER_1}`, "CHECK"],
    [
      "a failed order that kept its charge",
      `UPDATE orders SET status = 'FAILED' ${ORDER_1}`,
      "CHECK",
    ],
    ["another status", `UPDATE orders SET status = 'DONE' ${ORDER_1}`, "CHECK"],
    ["remains below 0", `UPDATE orders SET remains = -1 ${ORDER_1}`, "CHECK"],
    ["remains above the quantity", `UPDATE orders SET remains = 101 ${ORDER_1}`, "CHECK"],
    ["a start count below 0", `UPDATE orders SET start_count = -1 ${ORDER_1}`, "CHECK"],
    ["a changed event", "UPDATE order_events SET note = 'x'", "append-only"],
    ["a deleted event", "DELETE FROM order_events", "append-only"],
    ...Object.entries(TERMS).map(([column, value]): [string, string, string] => [
      `an order with another ${column}`,
      `UPDATE orders SET ${column} = ${value} ${column === "link" ? "WHERE status = 'COMPLETED'" : ORDER_1}`,
      "keeps the terms",
    ]),
    ...["FAILED", "CANCELLED", "REFUNDED"].map((status): [string, string, string] => [
      `a transition from ${status}`,
      `UPDATE orders SET status = 'PARTIAL' WHERE status = '${status}'`,
      "are final",
    ]),
  ])("%s", (_why, sql, says) => {
    const before = database.fingerprint();
    expect(refusalOf(sql)).toContain(says);
    expect(database.fingerprint()).toBe(before);
  });
});

describe("is allowed, which proves that the refusals above come from what they name:", () => {
  test.each([
    ["a transfer", insertTransfer({})],
    ["a user", insertUser("3")],
    ["a key", insertKey()],
    ["a service", insertService()],
    ["an order", insertOrder()],
    ["an event", insertEvent()],
    [
      "the right link of an order that is delivered by hand",
      `UPDATE orders SET link = 'x' ${ORDER_1}`,
    ],
    ["progress", `UPDATE orders SET start_count = 1, remains = 0 ${ORDER_1}`],
    [
      "a failed order that is refunded",
      `UPDATE orders SET status = 'FAILED', refunded_micros = charge_micros ${ORDER_1}`,
    ],
    [
      "a balance as large as the largest deposits",
      "UPDATE users SET deposited_micros = 9000000000000000000, balance_micros = 9000000000000000000",
    ],
    ["a changed price", "UPDATE services SET price_micros = 1"],
  ])("%s", (_why, sql) => {
    expect(refusalOf(sql)).toBeNull();
  });
});
