// Endpoints of webhooks: who may change them, what is remembered, and what becomes of the deliveries that wait.

import { describe, expect, test } from "bun:test";
import { WEBHOOKS_LIMIT } from "../../../src/domain/values/limits.ts";
import { DISABLED_REASONS } from "../../../src/domain/webhooks/webhook-events.ts";
import { combineSubscriptions, formatSecret } from "../../../src/domain/webhooks/webhooks.ts";
import { WEBHOOK_ATTEMPTS } from "../../../src/domain/webhooks/webhook-schedule.ts";
import { listAuditEntries } from "../../../src/db/administrators/audit.ts";
import * as postgres from "../../../src/db/postgres/schema/migrate.ts";
import { findUser } from "../../../src/db/users/users.ts";
import { listWebhooks } from "../../../src/db/webhooks/webhooks.ts";
import * as sqlite from "../../../src/storage/file/migrate.ts";
import type { FinishedWebhookAttempt } from "../../../src/operations/webhooks/webhook-deliveries.ts";
import { ENGINES, freshStore } from "../../support/databases/stores.ts";
import {
  seedStoreShop,
  type TestEndpoint,
  type StoreShop,
} from "../../support/seeds/store-shop.ts";

const MIGRATIONS = { sqlite: sqlite.MIGRATIONS, postgres: postgres.MIGRATIONS };
const DAY = 24 * 3_600_000;
const server = "s".repeat(24);
const actor = { keyId: null, operator: "tester" };

/** The bits of `*`: all types but order.progress and webhook.test, and that of later types. */
const ALL_BITS = 2 ** 30 + 0b11_1011_1111;

const secret = () => formatSecret(crypto.getRandomValues(new Uint8Array(32)));

async function taken(shop: StoreShop, now: number) {
  return shop.run("takeDueWebhookDeliveries", { server, limit: 64, perEndpoint: 64 }, now);
}

/** Takes what is due and records the same outcome for each. */
async function attempt(shop: StoreShop, now: number, error: string | null) {
  const due = await taken(shop, now);
  const reply = { httpStatus: error ? 500 : 200, error, response: "r", retryAfterSeconds: null };
  const attempts = due.map((each): FinishedWebhookAttempt => ({
    ...each,
    at: now,
    durationMs: 1,
    ...reply,
  }));
  await shop.run("recordWebhookAttempts", { attempts, jitter: 0.5 }, now);
  return due;
}

/** The endpoint and an event of it whose attempts all failed, the last at `at`. */
async function givenUp(
  shop: StoreShop,
): Promise<{ endpoint: TestEndpoint; event: string; at: number }> {
  const endpoint = await shop.endpoint();
  const event = await shop.event(endpoint, 1000);
  let at = 1000;
  for (let tries = 0; tries < WEBHOOK_ATTEMPTS; tries += 1) {
    await attempt(shop, at, "status");
    const [row] = await shop.store.query("SELECT due_at FROM webhook_deliveries");
    at = Number(row!["due_at"] ?? at);
  }
  return { endpoint, event, at };
}

const code = (promise: Promise<unknown>) =>
  promise.then(
    () => "done",
    (error: { code: string }) => error.code,
  );

describe.each(ENGINES)("on %s", (engine) => {
  test("a reseller has at most ten; a deleted one makes room; a child user has none", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    await shop.run("createUser", { username: "alice", name: "a", parent: null, actor });
    await shop.run("createUser", { username: "kid", name: "k", parent: "alice", actor });
    const create = (username: string) => {
      const terms = { url: "https://shop.example/", events: "*", balanceLowBelow: null };
      return shop.run("createWebhook", { ...terms, username, secret: secret(), actor });
    };
    const made = [];
    for (let place = 0; place < WEBHOOKS_LIMIT; place += 1) made.push(await create("alice"));
    expect(await code(create("alice"))).toBe("webhooks_too_many");
    expect(await code(create("kid"))).toBe("child_cannot_hold_webhook");
    expect(await code(create("nobody"))).toBe("user_not_found");
    await shop.run("deleteWebhook", { id: made[3]!.id, actor });
    expect(await code(create("alice"))).toBe("done");
    expect(await code(shop.run("testWebhook", { id: made[3]!.id, actor }))).toBe(
      "webhook_not_found",
    );
    await shop.store.close();
  });

  test("the account's row always matches what its endpoints subscribe to", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    await shop.run("createUser", { username: "alice", name: "a", parent: null, actor });
    const wanted = async () => {
      const [row] = await shop.store.query(
        "SELECT wanted_events AS bits, low_balance_micros AS low FROM users",
      );
      return [Number(row!["bits"]), row!["low"] === null ? null : Number(row!["low"])];
    };
    const create = (events: string, balanceLowBelow: number | null) => {
      const terms = { url: "https://shop.example/", events, balanceLowBelow };
      return shop.run("createWebhook", { ...terms, username: "alice", secret: secret(), actor });
    };
    expect(await wanted()).toEqual([0, null]);
    const low = await create("balance.low", 5_000_000);
    const completed = await create("order.completed", 9_000_000);
    // The threshold of an endpoint that does not want the event does not count.
    expect(await wanted()).toEqual([0b1_0000_0010, 5_000_000]);
    await shop.run("updateWebhook", { id: completed.id, changes: { events: "*" }, actor });
    expect(await wanted()).toEqual([ALL_BITS, 9_000_000]);
    await shop.run("disableWebhook", { id: completed.id, actor });
    expect(await wanted()).toEqual([0b1_0000_0000, 5_000_000]);
    await shop.run("deleteWebhook", { id: low.id, actor });
    expect(await wanted()).toEqual([0, null]);
    await shop.run("enableWebhook", { id: completed.id, replay: false, actor });
    expect(await wanted()).toEqual([ALL_BITS, 9_000_000]);
    await shop.store.close();
  });

  test("migration 2 gives `*` its bit for later types, to exactly the users whose endpoints subscribe to it", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    const { sql } = MIGRATIONS[engine].find(({ version }) => version === 2)!;
    const lists = ["*", "*,order.progress", "order.completed", "order.completed,balance.low"];
    const states = ["active", "deleted", ...DISABLED_REASONS];
    const cases = lists.flatMap((events) => states.map((state) => [events, state] as const));
    for (const [place, [events, state]] of cases.entries()) {
      const username = `u${place}`;
      await shop.run("createUser", { username, name: "n", parent: null, actor });
      const terms = {
        url: "https://shop.example/",
        balanceLowBelow: null,
        secret: secret(),
        actor,
      };
      const { id } = await shop.run("createWebhook", { ...terms, username, events });
      await shop.run("createWebhook", { ...terms, username, events: "order.failed" });
      if (state === "deleted") await shop.run("deleteWebhook", { id, actor });
      else if (state !== "active") {
        await shop.store.query(
          `UPDATE webhooks SET active = 0, disabled_reason = '${state}', disabled_at = 1 WHERE id = '${id}'`,
        );
      }
    }
    const rows = await shop.store.read((reader) =>
      cases.map((_, place) => {
        const { account } = findUser(reader, `u${place}`)!;
        return {
          account,
          bits: combineSubscriptions(listWebhooks(reader, account), null).wantedEvents,
        };
      }),
    );
    for (const { account, bits } of rows) {
      const before = bits % 2 ** 30;
      await shop.store.query(
        `UPDATE users SET wanted_events = ${before} WHERE account = ${account}`,
      );
    }
    await shop.store.query(sql);
    const found = await shop.store.query(
      "SELECT account, wanted_events AS bits FROM users ORDER BY account",
    );
    expect(
      found.map((row) => ({ account: Number(row["account"]), bits: Number(row["bits"]) })),
    ).toEqual(rows);
    expect(new Set(rows.map(({ bits }) => bits >= 2 ** 30)).size).toBe(2);
    await shop.store.close();
  });

  test("while a rotation's grace lasts both secrets sign, the new one first", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    const endpoint = await shop.endpoint();
    const next = secret();
    const rotate = { id: endpoint.id, secret: next, graceMs: 5000, actor };
    await shop.run("rotateWebhook", rotate, 1000);
    for (const at of [1000, 5999, 6000]) await shop.event(endpoint, at);
    const secrets = async (at: number) => (await taken(shop, at)).map((each) => each.secrets);
    expect(await secrets(1000)).toEqual([[next, endpoint.secret]]);
    expect(await secrets(5999)).toEqual([[next, endpoint.secret]]);
    expect(await secrets(6000)).toEqual([[next]]);
    const last = secret();
    await shop.run("rotateWebhook", { ...rotate, secret: last, graceMs: 0 }, 6001);
    await shop.event(endpoint, 6001);
    expect(await secrets(6001)).toEqual([[last]]);
    await shop.store.close();
  });

  test("rotated twice within a grace, the first secret signs for its whole time; a sixth earlier one is refused", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    const endpoint = await shop.endpoint();
    const [first, second, third] = [endpoint.secret, secret(), secret()];
    const rotate = (next: string, graceMs: number, now: number) =>
      shop.run("rotateWebhook", { id: endpoint.id, secret: next, graceMs, actor }, now);
    await rotate(second, 86_400_000, 1000);
    await rotate(third, 5000, 2000);
    for (const at of [6999, 7000, 86_400_999, 86_401_000]) await shop.event(endpoint, at);
    // What was taken a minute ago and not ended is taken again.
    const secrets = async (at: number) =>
      (await taken(shop, at)).map((each) => each.secrets).at(-1);
    expect(await secrets(6999)).toEqual([third, second, first]);
    expect(await secrets(7000)).toEqual([third, first]);
    expect(await secrets(86_400_999)).toEqual([third, first]);
    expect(await secrets(86_401_000)).toEqual([third]);
    for (let count = 0; count < 5; count += 1) await rotate(secret(), 1000, 90_000_000);
    expect(await code(rotate(secret(), 1000, 90_000_000))).toBe("webhook_secrets_too_many");
    await rotate(first, 0, 90_000_000);
    await shop.event(endpoint, 90_000_000);
    expect(await secrets(90_000_000)).toEqual([first]);
    await shop.store.close();
  });

  test("a test is one attempt, on a disabled endpoint too, and counts for nothing", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    const endpoint = await shop.endpoint({ events: "order.failed" });
    await shop.run("disableWebhook", { id: endpoint.id, actor });
    expect(await shop.run("testWebhook", { id: endpoint.id, actor }, 1000)).toBe(1);
    const [due] = await attempt(shop, 1000, "timeout");
    expect(JSON.parse(due!.body)).toEqual({
      type: "webhook.test",
      timestamp: new Date(1000).toISOString(),
      data: {},
    });
    expect(await shop.webhook(endpoint)).toMatchObject({ failures: 0, failingSince: null });
    expect(await shop.deliveries()).toMatchObject([{ state: "failed", attempts: 1 }]);
    await shop.store.close();
  });

  test("after ten attempts a delivery is given up, and a replay sends it once more: same id, same body", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    const { endpoint, event, at } = await givenUp(shop);
    expect(await shop.deliveries()).toMatchObject([
      { state: "failed", attempts: WEBHOOK_ATTEMPTS },
    ]);
    const failures = (await shop.webhook(endpoint)).failures;
    const replay = (delivery: string) =>
      shop.run("replayWebhook", { id: endpoint.id, what: { delivery }, actor }, at);
    expect(await code(replay(`${event}.99`))).toBe("delivery_not_found");
    expect(await replay(`${event}.3`)).toBe(1);
    const [due] = await attempt(shop, at, "status");
    expect(due).toMatchObject({ eventId: event, attempt: WEBHOOK_ATTEMPTS + 1, body: "{}" });
    // It failed: nothing more is tried, and nothing was counted.
    expect(await shop.deliveries()).toMatchObject([{ state: "failed" }]);
    expect((await shop.webhook(endpoint)).failures).toBe(failures);
    expect(await replay(`${event}.1`)).toBe(1);
    await attempt(shop, at, null);
    expect(await shop.deliveries()).toMatchObject([{ state: "delivered" }]);
    // What was delivered can be sent again too.
    expect(await replay(`${event}.1`)).toBe(1);
    expect((await taken(shop, at)).length).toBe(1);
    await shop.store.close();
  });

  test("another endpoint's delivery is not replayed", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    const { event, at } = await givenUp(shop);
    const other = await shop.endpoint();
    const replay = { id: other.id, what: { delivery: `${event}.1` }, actor };
    expect(await code(shop.run("replayWebhook", replay, at))).toBe("delivery_not_found");
    await shop.store.close();
  });

  test("a replay of all failed deliveries leaves out older ones, delivered ones and ones not yet tried", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    const { endpoint, at } = await givenUp(shop);
    const later = at + 1000;
    const delivered = await shop.event(endpoint, later);
    await attempt(shop, later, null);
    const retried = await shop.event(endpoint, later);
    await attempt(shop, later, "status");
    await shop.event(endpoint, later + DAY);
    const replay = (since: number) =>
      shop.run("replayWebhook", { id: endpoint.id, what: { since }, actor }, later + 1);
    expect(await replay(later)).toBe(1);
    expect((await attempt(shop, later + 1, null)).map(({ eventId }) => eventId)).toEqual([retried]);
    expect(await replay(0)).toBe(1);
    expect((await taken(shop, later + 1)).map(({ eventId }) => eventId)).not.toContain(delivered);
    await shop.store.close();
  });

  test("pending deliveries of a disabled endpoint are sent by enable --replay, and given up without it", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    const endpoint = await shop.endpoint();
    await shop.event(endpoint, 1000);
    await shop.event(endpoint, 2000);
    await shop.run("disableWebhook", { id: endpoint.id, actor }, 1000);
    expect(await taken(shop, 5000)).toEqual([]);
    // On a disabled endpoint a replay sends what was never tried, too.
    const id = endpoint.id;
    expect(await shop.run("replayWebhook", { id, what: { since: 2000 }, actor }, 5000)).toBe(1);
    expect((await attempt(shop, 5000, "status")).length).toBe(1);
    expect(await taken(shop, 5000 + DAY)).toEqual([]);
    const enabled = await shop.run("enableWebhook", { id, replay: true, actor }, 6000);
    expect(enabled).toMatchObject({ active: true, disabledReason: null, disabledAt: null });
    expect((await attempt(shop, 6000, null)).length).toBe(2);

    await shop.event(endpoint, 7000);
    await shop.run("disableWebhook", { id, actor }, 7000);
    await shop.run("enableWebhook", { id, replay: false, actor }, 8000);
    expect(await taken(shop, 8000 + DAY)).toEqual([]);
    expect((await shop.deliveries()).at(-1)).toMatchObject({ state: "failed" });
    expect(await shop.run("replayWebhook", { id, what: { since: 0 }, actor }, 8000)).toBe(1);
    await shop.store.close();
  });

  test("enabling an endpoint that is already enabled does not change its pending deliveries", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    const endpoint = await shop.endpoint();
    await shop.event(endpoint, 1000);
    await shop.run("enableWebhook", { id: endpoint.id, replay: false, actor }, 1000);
    expect((await taken(shop, 1000)).length).toBe(1);
    await shop.store.close();
  });

  test("attempts and ended deliveries are kept for 30 days, pending ones of a disabled endpoint for 7", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    const endpoint = await shop.endpoint();
    await shop.event(endpoint, 0);
    await attempt(shop, 0, null);
    const disabled = await shop.endpoint();
    await shop.event(disabled, 0);
    const replayed = await shop.endpoint();
    await shop.event(replayed, DAY);
    await shop.run("disableWebhook", { id: disabled.id, actor }, DAY);
    const rows = async () => {
      const count = async (table: string) =>
        Number((await shop.store.query(`SELECT count(*) AS n FROM ${table}`))[0]!["n"]);
      return [
        await count("webhook_attempts"),
        await count("webhook_deliveries"),
        await count("webhook_events"),
      ];
    };
    const states = async () => (await shop.deliveries()).map(({ state }) => state);
    const expire = async (now: number) => {
      while ((await shop.run("expireWebhooks", { limit: 2 }, now)) === 2);
    };
    await expire(8 * DAY);
    expect(await states()).toEqual(["delivered", "waiting", "waiting"]);
    await expire(8 * DAY + 1);
    expect(await states()).toEqual(["delivered", "failed", "waiting"]);
    await expire(30 * DAY);
    expect(await rows()).toEqual([1, 3, 3]);
    await expire(30 * DAY + 1);
    // What an endpoint in use still waits for is never deleted.
    expect(await rows()).toEqual([0, 1, 1]);
    await expire(90 * DAY);
    expect(await states()).toEqual(["waiting"]);
    await shop.store.close();
  });

  test("a deleted endpoint is sent nothing, has no secret, and is gone when its deliveries are", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    const endpoint = await shop.endpoint();
    await shop.event(endpoint, 0);
    await shop.event(endpoint, 0);
    const [first] = await shop.run(
      "takeDueWebhookDeliveries",
      { server, limit: 1, perEndpoint: 1 },
      0,
    );
    await shop.run("deleteWebhook", { id: endpoint.id, actor }, 0);
    expect(await taken(shop, DAY)).toEqual([]);
    const [row] = await shop.store.query("SELECT secret, previous_secret FROM webhooks");
    expect(row).toEqual({ secret: "", previous_secret: null });
    // The attempt that was under way.
    const reply = { httpStatus: 500, error: "status", response: null, retryAfterSeconds: null };
    const attempts = [{ ...first!, at: 0, durationMs: 1, ...reply }];
    await shop.run("recordWebhookAttempts", { attempts, jitter: 0 }, 0);
    const left = async (now: number) => {
      while ((await shop.run("expireWebhooks", { limit: 10 }, now)) > 0);
      return Number((await shop.store.query("SELECT count(*) AS n FROM webhooks"))[0]!["n"]);
    };
    expect(await left(0)).toBe(1);
    expect(await left(30 * DAY + 1)).toBe(0);
    await shop.store.close();
  });

  test("every change is in the audit log, and no secret is", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    await shop.run("createUser", { username: "alice", name: "a", parent: null, actor });
    const terms = { url: "https://shop.example/", events: "*", balanceLowBelow: 1 };
    const create = { ...terms, username: "alice", secret: secret(), actor };
    const { id } = await shop.run("createWebhook", create);
    await shop.run("updateWebhook", { id, changes: { balanceLowBelow: null }, actor });
    await shop.run("rotateWebhook", { id, secret: secret(), graceMs: 5, actor });
    await shop.run("disableWebhook", { id, actor });
    await shop.run("enableWebhook", { id, replay: true, actor });
    await shop.run("replayWebhook", { id, what: { since: 0 }, actor });
    await shop.run("deleteWebhook", { id, actor });
    const entries = await shop.store.read((reader) => listAuditEntries(reader, { limit: 100 }));
    const own = entries.filter(({ subject }) => subject === id).toReversed();
    expect(own.map(({ action }) => action)).toEqual([
      "webhook.create",
      "webhook.update",
      "webhook.rotate",
      "webhook.disable",
      "webhook.enable",
      "webhook.replay",
      "webhook.delete",
    ]);
    expect(own[1]).toMatchObject({
      before: { balanceLowMicros: 1 },
      after: { balanceLowMicros: null },
    });
    expect(
      JSON.stringify(entries, (_, value) => (typeof value === "bigint" ? String(value) : value)),
    ).not.toContain("whsec_");
    await shop.store.close();
  });
});
