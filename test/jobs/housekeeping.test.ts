// The housekeeping job, under clocks that are set, slow and wrong.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { uptime as uptimes } from "../../src/db/tables/database.ts";
import { findUser } from "../../src/db/users/users.ts";
import { hashRequest } from "../../src/domain/values/idempotency.ts";
import { createLog } from "../../src/monitoring/log.ts";
import { startHousekeeping, type BackgroundJob } from "../../src/jobs/housekeeping.ts";
import type { Order } from "../../src/db/orders/orders.ts";
import type { Outcome } from "../../src/operations/batch/idempotency.ts";
import type { ServerDatabase } from "../../src/server/database.ts";
import { refusalCode } from "../support/http/refusal.ts";
import { freshDatabase, type TestDatabase } from "../support/databases/test-database.ts";
import { openServerDatabase } from "../support/worlds/service.ts";

const HOUR = 3_600_000;
const YEAR = 365 * 24 * HOUR;

let database: TestDatabase;
let server: ServerDatabase;
let housekeeping: BackgroundJob;
let keyId: string;
/** The keys that `endExpiredKeys` may end are told by the writer's own clock, which is the real one. */
const clocks = { at: 0, offset: 0 };

beforeEach(async () => {
  Object.assign(clocks, { at: 0, offset: Date.now() });
  database = freshDatabase();
  database.user("anna", "100");
  database.service({ id: "likes" });
  keyId = database.key("anna", "full").id;
  server = await openServerDatabase(database);
  const given = { wall: () => clocks.at + clocks.offset, monotonic: () => clocks.at };
  housekeeping = await startHousekeeping(server.writer, createLog("silent"), {
    clocks: given,
    interval: 1,
  });
});
afterEach(async () => {
  await housekeeping.stop();
  await server.close();
  database.close();
});

const uptime = () => database.read((reader) => reader.row(uptimes.byKey, 1))!.milliseconds;

/** The service runs for that long, and looks after things once then. */
async function runFor(milliseconds: number): Promise<void> {
  clocks.at += milliseconds;
  const due = uptime() + milliseconds;
  while (uptime() < due) await new Promise(setImmediate);
  // The round that counted is over when the next one has been.
  clocks.at += 1;
  while (uptime() < due + 1) await new Promise(setImmediate);
}

const order = () => ({
  resellerAccount: database.read((reader) => findUser(reader, "anna"))!.account,
  keyId,
  service: "likes",
  link: "x",
  quantity: 100,
});
const place = () => database.run("placeOrder", order());
const placeAt = (now: number) => database.execute("placeOrder", order(), now) as Order;
const submitOnce = (now: number) => {
  const claim = { key: "k", requestHash: hashRequest("POST", "/", Buffer.from("{}")) };
  const input = { order: order(), claim };
  return (database.execute("placeOrderOnce", input, now) as Outcome<Order>).replayed;
};

test("uptime is the time that the service ran until its stop, whatever the wall clock does", async () => {
  await runFor(90_000);
  clocks.offset += 6 * YEAR;
  await runFor(30_000);
  clocks.offset -= 9 * YEAR;
  clocks.at += 500;
  await housekeeping.stop();
  expect(uptime()).toBe(90_001 + 30_001 + 500);
});

test("idempotency records survive a clock that is corrected by years, and expire after 72 hours of uptime", async () => {
  clocks.offset -= 6 * YEAR;
  expect(submitOnce(clocks.at + clocks.offset)).toBe(false);
  clocks.offset += 6 * YEAR;
  await runFor(70_000);
  expect(submitOnce(Date.now())).toBe(true);
  await runFor(71 * HOUR);
  expect(submitOnce(Date.now())).toBe(true);
  await runFor(HOUR);
  expect(submitOnce(Date.now())).toBe(false);
});

const expire = () =>
  database.query("UPDATE keys SET created_at = 0, expires_at = 1 WHERE id = ?", keyId);
/** What the key meets when the clock goes back to a time at which it had not expired. */
const refusalBefore = () => refusalCode(() => placeAt(0), database);

test("a key that expired an hour ago stays so when the clock goes back, until it is activated", async () => {
  expire();
  expect(refusalCode(place, database)).toBe("api_key_expired");
  await runFor(HOUR - 10_000);
  expect(placeAt(0).status).toBe("PROCESSING");
  await runFor(10_000);
  expect(refusalBefore()).toBe("api_key_expired");
  database.run("setKeyActive", { id: keyId, active: false });
  expect(refusalBefore()).toBe("api_key_inactive");
  database.run("setKeyActive", { id: keyId, active: true });
  expect(placeAt(0).status).toBe("PROCESSING");
});

test("no key expires by a clock that was set within the last hour", async () => {
  expire();
  for (const step of [2000, -2000, YEAR, -YEAR]) {
    await runFor(HOUR - 10_000);
    clocks.offset += step;
    await runFor(10_000);
    expect(placeAt(0).status).toBe("PROCESSING");
  }
  await runFor(HOUR);
  expect(refusalBefore()).toBe("api_key_expired");
});

test("a key that is rotated without grace expires at once", () => {
  const replacement = { hash: "0".repeat(64), start: "rk_" };
  database.run("rotateKey", { id: keyId, graceMilliseconds: 0, ...replacement });
  expect(refusalBefore()).toBe("api_key_expired");
  const { id } = database.key("anna", "full");
  database.run("rotateKey", { id, graceMilliseconds: HOUR, ...replacement, hash: "1".repeat(64) });
  keyId = id;
  expect(place().status).toBe("PROCESSING");
});

test("a key without an expiry never expires", async () => {
  await runFor(1000 * HOUR);
  expect(place().status).toBe("PROCESSING");
});

test("a server that does not lead counts the uptime, and expires nothing", async () => {
  await housekeeping.stop();
  let leads = false;
  const given = { wall: () => clocks.at + clocks.offset, monotonic: () => clocks.at };
  const options = { clocks: given, interval: 1, isLeader: () => leads };
  housekeeping = await startHousekeeping(server.writer, createLog("silent"), options);
  expect(submitOnce(Date.now())).toBe(false);
  await runFor(73 * HOUR);
  expect(submitOnce(Date.now())).toBe(true);
  leads = true;
  await runFor(1);
  expect(submitOnce(Date.now())).toBe(false);
});

test("old events of webhooks are deleted, but not by a clock that was set just now", async () => {
  const hook = { url: "https://shop.example/", events: "*", balanceLowBelow: null, secret: "s" };
  const { id } = database.run("createWebhook", { ...hook, username: "anna" });
  const input = { id, actor: { keyId: null, operator: "tester" } };
  database.execute("testWebhook", input, 1);
  const server = "s".repeat(24);
  const [due] = database.execute(
    "takeDueWebhookDeliveries",
    { server, limit: 1, perEndpoint: 1 },
    1,
  );
  const reply = { httpStatus: 200, error: null, response: null, retryAfterSeconds: null };
  const attempts = [{ ...due!, at: 1, durationMs: 1, ...reply }];
  database.execute("recordWebhookAttempts", { attempts, jitter: 0 }, 1);
  const events = () => database.query("SELECT id FROM webhook_events").length;
  clocks.offset += YEAR;
  await runFor(HOUR / 2);
  expect(events()).toBe(1);
  await runFor(HOUR);
  expect(events()).toBe(0);
});
