// What a used key keeps, in the transaction of its effect, and when it is forgotten.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { transact } from "../../src/db/connection.ts";
import { findUser } from "../../src/db/users.ts";
import { hashRequest, REMEMBERED_MILLISECONDS } from "../../src/domain/idempotency.ts";
import { contextAt, execute, runCommand } from "../../src/operations/commands.ts";
import { freshDatabase, micros, tryOut, type TestDatabase } from "../support/service.ts";

const HOUR = 60 * 60 * 1000;
let database: TestDatabase;
let account: number;
let keyId: string;

beforeEach(() => {
  database = freshDatabase();
  database.user("anna", "100");
  database.service({ id: "likes", price: "10" });
  keyId = database.key("anna", "full").id;
  account = findUser(database.connection, "anna")!.account;
});
afterAll(() => database.connection.sqlite.close());

function claim(key: string, body = "{}") {
  return { key, requestHash: hashRequest("POST", "/api/v1/orders", Buffer.from(body)) };
}

function orderOf() {
  return { resellerAccount: account, keyId, service: "likes", link: "a", quantity: 100 };
}

function place(key: string, now: number) {
  return execute(
    database.connection,
    "placeOrderOnce",
    { order: orderOf(), claim: claim(key) },
    now,
  );
}

function forget(limit: number, now: number): number {
  return execute(database.connection, "forgetUsedKeys", { limit }, now);
}

test("a key and its effect are kept or lost together", () => {
  const before = database.fingerprint();
  const cutOff = () =>
    transact(database.connection, (tx) => {
      const command = { order: orderOf(), claim: claim("k") };
      runCommand(tx, "placeOrderOnce", command, contextAt(0));
      throw new Error("cut off");
    });
  expect(cutOff).toThrow("cut off");
  expect(database.fingerprint()).toBe(before);
  expect(place("k", 0).replayed).toBe(false);
  expect(place("k", 0).replayed).toBe(true);
});

describe("used keys", () => {
  test("are kept for a day and more, though the clock be put forward by a day", () => {
    place("k", 0);
    expect(forget(100, 48 * HOUR)).toBe(0);
    expect(place("k", 48 * HOUR).replayed).toBe(true);
    expect(REMEMBERED_MILLISECONDS).toBeGreaterThan(48 * HOUR);
  });

  test("are then forgotten, oldest first and no more at once than asked", () => {
    for (let index = 0; index < 10; index++) place(`k${index}`, index);
    const later = REMEMBERED_MILLISECONDS + 8;
    expect([forget(3, later), forget(3, later), forget(3, later)]).toEqual([3, 3, 2]);
    expect(place("k9", later).replayed).toBe(true);
    expect(place("k0", later).replayed).toBe(false);
  });

  test("are forgotten without their orders and transfers", () => {
    place("k", 0);
    const before = database.fingerprint();
    forget(100, 4 * REMEMBERED_MILLISECONDS);
    expect(database.fingerprint()).toBe(before);
  });
});

describe("an order that waits for its answer", () => {
  beforeEach(() => {
    place("k", 0);
    database.connection.sqlite.run("DROP TRIGGER idempotency_keeps_its_answer");
    database.connection.sqlite.run(
      "UPDATE idempotency SET answer_status = NULL, answer_body = NULL",
    );
  });

  test("is told to its duplicates as it is at that moment", () => {
    const first = place("k", 1);
    expect(first).toMatchObject({ replayed: true, answer: null, effect: { status: "PROCESSING" } });
    database.run("moveOrder", {
      id: "1",
      to: "COMPLETED",
      note: null,
      actor: { keyId, operator: null },
    });
    expect(place("k", 2)).toMatchObject({ answer: null, effect: { status: "COMPLETED" } });
    expect(database.balance("anna")).toBe(micros("99"));
  });

  test("keeps the first answer it is given", () => {
    const given = { status: 502, body: '{"status":"error"}' };
    const record = (answer: typeof given) =>
      database.run("recordAnswer", { resellerAccount: account, key: "k", answer });
    record(given);
    record({ status: 200, body: "{}" });
    expect(place("k", 1)).toEqual({ replayed: true, answer: given });
  });
});

test("the database refuses to change what a key did or was answered", () => {
  place("k", 0);
  const attempt = (sql: string) => () => tryOut(database.connection, sql);
  expect(attempt("UPDATE idempotency SET order_id = 2")).toThrow();
  expect(attempt("UPDATE idempotency SET request_hash = 'x'")).toThrow();
  expect(attempt("UPDATE idempotency SET answer_body = '{}'")).toThrow();
  expect(attempt("UPDATE idempotency SET answer_body = NULL, answer_status = NULL")).toThrow();
});
