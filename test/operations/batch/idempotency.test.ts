// Idempotency records: written in the transaction of their effect, deleted after their retention.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { transact } from "../../../src/db/port/port.ts";
import type { Order } from "../../../src/db/orders/orders.ts";
import { findUser } from "../../../src/db/users/users.ts";
import { hashRequest, IDEMPOTENCY_RETENTION_MS } from "../../../src/domain/values/idempotency.ts";
import { executeIn } from "../../support/databases/execute-in.ts";
import type { Placed } from "../../../src/operations/orders/order-batches.ts";
import type { Outcome } from "../../../src/operations/batch/idempotency.ts";
import {
  freshDatabase,
  micros,
  openStore,
  tryOut,
  type TestDatabase,
} from "../../support/databases/test-database.ts";
import { ENGINE } from "../../support/databases/engine.ts";

const HOUR = 60 * 60 * 1000;
let database: TestDatabase;
let account: number;
let keyId: string;

beforeEach(() => {
  database = freshDatabase();
  database.user("anna", "100");
  database.service({ id: "likes", price: "10" });
  keyId = database.key("anna", "full").id;
  account = database.read((reader) => findUser(reader, "anna"))!.account;
});
afterAll(() => database.close());

function claim(key: string, body = "{}") {
  return { key, requestHash: hashRequest("POST", "/api/v1/orders", Buffer.from(body)) };
}

function orderOf() {
  return { resellerAccount: account, keyId, service: "likes", link: "a", quantity: 100 };
}

function place(key: string, now: number) {
  const input = { order: orderOf(), claim: claim(key) };
  return database.execute("placeOrderOnce", input, now) as Outcome<Order>;
}

function forget(limit: number, now = 0): number {
  return database.execute("expireIdempotencyRecords", { limit }, now) as number;
}

/** The service runs for that long. */
function runFor(milliseconds: number): void {
  const { milliseconds: seen } = database.run("addUptime", { milliseconds: 0, seen: null });
  database.run("addUptime", { milliseconds, seen });
}

test("a record and its effect are committed or rolled back together", async () => {
  const before = database.fingerprint();
  const store = openStore(database);
  const command = { order: orderOf(), claim: claim("k") };
  const cutOff = async () =>
    transact(store, (tx) => {
      executeIn(tx, "placeOrderOnce", command, 0);
      throw new Error("cut off");
    });
  expect(await cutOff().catch(String)).toContain("cut off");
  await store.close();
  expect(database.fingerprint()).toBe(before);
  expect(place("k", 0).replayed).toBe(false);
  expect(place("k", 0).replayed).toBe(true);
});

describe("idempotency records", () => {
  test("are kept when the clock is corrected by years, either way", () => {
    const [wrong, right] = [Date.UTC(2020, 0), Date.UTC(2026, 10, 21)];
    for (const [key, before, after] of [
      ["forwards", wrong, right],
      ["back", right, wrong],
    ] as const) {
      place(key, before);
      runFor(70_000);
      expect(forget(100, after)).toBe(0);
      expect(place(key, after).replayed).toBe(true);
    }
  });

  test("expire after their retention of uptime, oldest first, no more at once than the limit", () => {
    for (let index = 0; index < 10; index++) {
      place(`k${index}`, -index);
      runFor(1);
    }
    runFor(IDEMPOTENCY_RETENTION_MS - 2);
    expect([forget(3), forget(3), forget(3)]).toEqual([3, 3, 2]);
    expect(place("k8", 0).replayed).toBe(true);
    expect(place("k7", 0).replayed).toBe(false);
  });

  test("expire without their orders and transfers", () => {
    place("k", 0);
    runFor(4 * IDEMPOTENCY_RETENTION_MS);
    const before = database.fingerprint();
    expect(forget(100)).toBe(1);
    expect(database.fingerprint()).toBe(before);
  });

  test("are kept for 24 hours of real time and more, whatever the clock, restarts and crashes do", () => {
    database.run("creditUser", { username: "anna", amountMicros: micros("1000000"), note: null });
    const step = fc.record({
      placed: fc.boolean(),
      ran: fc.integer({ min: 0, max: 30 * HOUR }),
      /** The part of it that a crash lost. */
      lost: fc.integer({ min: 0, max: 60_000 }),
      off: fc.integer({ min: 0, max: 1000 * HOUR }),
      clock: fc.integer({ min: 0, max: 4e12 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        database.query("DELETE FROM idempotency");
        let real = 0;
        const usedAt: number[] = [];
        for (const { placed, ran, lost, off, clock } of steps) {
          if (placed) place(`k${usedAt.push(real) - 1}`, clock);
          real += ran + off;
          runFor(Math.max(0, ran - lost));
          forget(1000, clock);
        }
        for (const [index, at] of usedAt.entries()) {
          if (real - at <= 24 * HOUR) expect(place(`k${index}`, 0).replayed).toBe(true);
        }
        runFor(IDEMPOTENCY_RETENTION_MS + 1);
        forget(1000);
        expect(database.query("SELECT * FROM idempotency")).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});

function effectOf(outcome: Outcome<Placed[]>): Placed[] {
  if (outcome.response !== null) throw new Error("it has its response already");
  return outcome.effect;
}

describe("an order that waits for its response", () => {
  beforeEach(() => {
    place("k", 0);
    database.dropTrigger("idempotency_keeps_its_response");
    database.query("UPDATE idempotency SET response_status = NULL, response_body = NULL");
  });

  test("is returned to its duplicates in its current state", () => {
    const first = place("k", 1);
    expect(first).toMatchObject({
      replayed: true,
      response: null,
      effect: { status: "PROCESSING" },
    });
    database.run("transitionOrder", { id: "1", to: "COMPLETED", note: null });
    expect(place("k", 2)).toMatchObject({ response: null, effect: { status: "COMPLETED" } });
    expect(database.balance("anna")).toBe(micros("99"));
  });

  test("is returned with the ninety-nine others of its batch", () => {
    const order = { ...orderOf(), quantity: 10 };
    const entries = Array.from({ length: 100 }, () => ({ order }));
    const placeAll = () => {
      const input = { keyId, entries, resellerAccount: account, claim: claim("batch") };
      return database.execute("placeOrdersOnce", input, 0) as Outcome<Placed[]>;
    };
    const first = placeAll();
    const again = placeAll();
    expect([first.replayed, again.replayed]).toEqual([false, true]);
    expect(effectOf(again)).toEqual(effectOf(first));
    expect(effectOf(again).length).toBe(100);
  });

  test("keeps the first response that is stored", () => {
    const given = { status: 502, body: '{"status":"error"}' };
    const record = (response: typeof given) =>
      database.run("recordResponse", { resellerAccount: account, key: "k", response });
    record(given);
    record({ status: 200, body: "{}" });
    expect(place("k", 1)).toEqual({ replayed: true, response: given });
  });
});

test("the database refuses to change the effect or the response of a record", () => {
  place("k", 0);
  const attempt = (sql: string) => () => tryOut(database, sql);
  expect(attempt("UPDATE idempotency SET order_id = 2")).toThrow();
  expect(attempt("UPDATE idempotency SET request_hash = 'x'")).toThrow();
  expect(attempt("UPDATE idempotency SET uptime = 5")).toThrow(
    ENGINE === "sqlite" ? "keeps its age" : "keeps what it did",
  );
  expect(attempt("UPDATE idempotency SET response_body = '{}'")).toThrow();
  expect(attempt("UPDATE idempotency SET response_body = NULL, response_status = NULL")).toThrow();
});

test("the database refuses to turn the uptime back", () => {
  runFor(10);
  const attempt = (sql: string) => () => tryOut(database, sql);
  expect(attempt("UPDATE uptime SET milliseconds = 9")).toThrow("only grows");
  expect(attempt("DELETE FROM uptime")).toThrow("only grows");
  expect(attempt("INSERT INTO uptime VALUES (2, 0)")).toThrow();
});
