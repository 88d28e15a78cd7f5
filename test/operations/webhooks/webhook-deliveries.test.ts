// Which deliveries a server takes, and what follows from the attempts it records.

import { describe, expect, test } from "bun:test";
import { WEBHOOK_LEASE_MS } from "../../../src/domain/webhooks/webhooks.ts";
import type { FinishedWebhookAttempt } from "../../../src/operations/webhooks/webhook-deliveries.ts";
import { nextWebhookDueAt } from "../../../src/db/webhooks/webhook-deliveries.ts";
import { ENGINES, freshStore } from "../../support/databases/stores.ts";
import { seedStoreShop, type StoreShop } from "../../support/seeds/store-shop.ts";

const [A, B] = ["a", "b"].map((name) => name.padEnd(24, "-")) as [string, string];
const DAY = 24 * 3_600_000;

/** What is taken at a time, by endpoint. */
async function taken(shop: StoreShop, server: string, now: number, limit = 64, perEndpoint = 4) {
  return shop.run("takeDueWebhookDeliveries", { server, limit, perEndpoint }, now);
}

function outcome(
  { deliveryId, attempt }: { deliveryId: number; attempt: number },
  at: number,
  result: Partial<FinishedWebhookAttempt> = {},
): FinishedWebhookAttempt {
  const response = { httpStatus: 200, error: null, response: "ok", retryAfterSeconds: null };
  return { deliveryId, attempt, at, durationMs: 5, ...response, ...result };
}

const FAILED = { httpStatus: 500, error: "http_status" };

describe.each(ENGINES)("on %s", (engine) => {
  test("several servers share the due deliveries, and each is taken once", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    for (let reseller = 0; reseller < 10; reseller += 1) {
      const endpoint = await shop.endpoint();
      for (let event = 0; event < 5; event += 1) await shop.event(endpoint, 1000);
    }
    const both = await Promise.all([taken(shop, A, 1000, 30), taken(shop, B, 1000, 30)]);
    const ids = both.flat().map(({ deliveryId }) => deliveryId);
    expect(new Set(ids).size).toBe(ids.length);
    // Ten endpoints of four each.
    expect(ids.length).toBe(40);
    expect(await taken(shop, A, 1000)).toEqual([]);
    await shop.store.close();
  });

  test("a taken delivery has everything to send, and success ends it", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    const endpoint = await shop.endpoint({ url: "https://example.test/hook" });
    const event = await shop.event(endpoint, 1000, '{"type":"webhook.test"}');
    const [due] = await taken(shop, A, 1000);
    expect(due).toEqual({
      deliveryId: expect.any(Number),
      attempt: 1,
      webhookId: endpoint.id,
      eventId: event,
      url: "https://example.test/hook",
      secrets: [endpoint.secret],
      body: '{"type":"webhook.test"}',
      isTest: false,
    });
    const record = { attempts: [outcome(due!, 1000)], jitter: 0.5 };
    expect(await shop.run("recordWebhookAttempts", record, 1100)).toEqual([
      { deliveryId: due!.deliveryId, webhookId: endpoint.id, result: "delivered", disabled: null },
    ]);
    // Once more changes nothing.
    expect((await shop.run("recordWebhookAttempts", record, 1200))[0]!.result).toBe("late");
    const rows = await shop.store.query("SELECT attempt, error, response FROM webhook_attempts");
    expect(rows).toEqual([{ attempt: expect.anything(), error: null, response: "ok" }]);
    expect(await taken(shop, A, 1000 + DAY)).toEqual([]);
    await shop.store.close();
  });

  test("a failure is tried again after the schedule's pause, and a success clears the count", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    const endpoint = await shop.endpoint();
    await shop.event(endpoint, 1000);
    const [first] = await taken(shop, A, 1000);
    const failure = { attempts: [outcome(first!, 1000, FAILED)], jitter: 0.5 };
    expect((await shop.run("recordWebhookAttempts", failure, 1000))[0]!.result).toBe("waiting");
    expect((await shop.webhook(endpoint)).failures).toBe(1);
    expect(await taken(shop, A, 5999)).toEqual([]);
    expect(await shop.store.read(nextWebhookDueAt)).toBe(6000);
    const [second] = await taken(shop, A, 6000);
    expect(second!.attempt).toBe(2);
    const success = { attempts: [outcome(second!, 6000)], jitter: 0.5 };
    await shop.run("recordWebhookAttempts", success, 6000);
    expect(await shop.webhook(endpoint)).toMatchObject({ failures: 0, failingSince: null });
    await shop.store.close();
  });

  test("deliveries that a killed server had under way are due when another starts, or when its lease ends", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    const endpoint = await shop.endpoint();
    await shop.event(endpoint, 1000);
    await shop.event(endpoint, 1000);
    expect((await taken(shop, A, 1000, 1)).length).toBe(1);
    expect(await shop.run("releaseWebhookDeliveries", { server: A }, 1000)).toBe(0);
    expect(await shop.run("releaseWebhookDeliveries", { server: B }, 1001)).toBe(1);
    const again = await taken(shop, B, 1001);
    expect(again.map(({ attempt }) => attempt).toSorted((a, b) => a - b)).toEqual([1, 2]);
    expect(await taken(shop, A, 1000 + WEBHOOK_LEASE_MS)).toEqual([]);
    const third = await taken(shop, A, 1001 + WEBHOOK_LEASE_MS);
    expect(third.map(({ attempt }) => attempt).toSorted((a, b) => a - b)).toEqual([2, 3]);
    await shop.store.close();
  });

  test("a delivery under way to an endpoint that is disabled can be replayed, and expires", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    const endpoint = await shop.endpoint();
    const gone = await shop.endpoint();
    const event = await shop.event(endpoint, 1000);
    await shop.event(gone, 1000);
    const [first] = await taken(shop, A, 1000);
    expect(first!.eventId).toBe(event);
    const failure = { attempts: [outcome(first!, 1000, FAILED)], jitter: 0 };
    await shop.run("recordWebhookAttempts", failure, 1001);
    const inFlight = 1001 + 10_000;
    expect((await taken(shop, A, inFlight)).map(({ attempt }) => attempt)).toEqual([2]);
    const actor = { keyId: null, operator: "root" };
    await shop.run("disableWebhook", { id: endpoint.id, actor }, inFlight);
    await shop.run("deleteWebhook", { id: gone.id, actor }, inFlight);
    // The server is killed, and comes back after the lease.
    const later = inFlight + WEBHOOK_LEASE_MS + 1;
    await shop.run("releaseWebhookDeliveries", { server: B }, later);
    const replay = { id: endpoint.id, actor, what: { delivery: `${event}.1` } };
    expect(await shop.run("replayWebhook", replay, later)).toBe(1);
    const again = await taken(shop, B, later);
    expect(again.map(({ eventId }) => eventId)).toEqual([event]);
    // Killed again: nobody releases what it had under way.
    while ((await shop.run("expireWebhooks", { limit: 10 }, later + 40 * 86_400_000)) > 0);
    expect(await shop.deliveries()).toEqual([]);
    await shop.store.close();
  });

  test("an attempt whose lease had ended still delivers, and its failure changes nothing", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    const endpoint = await shop.endpoint();
    await shop.event(endpoint, 1000);
    const [slow] = await taken(shop, A, 1000);
    const later = 1000 + WEBHOOK_LEASE_MS;
    const [again] = await taken(shop, B, later);
    const late = { attempts: [outcome(slow!, 1000, FAILED)], jitter: 0 };
    expect((await shop.run("recordWebhookAttempts", late, later))[0]!.result).toBe("late");
    expect(await shop.deliveries()).toMatchObject([{ state: "sending", server: B, attempts: 2 }]);
    const [third] = await taken(shop, A, later + WEBHOOK_LEASE_MS);
    const success = { attempts: [outcome(again!, later)], jitter: 0 };
    await shop.run("recordWebhookAttempts", success, later + WEBHOOK_LEASE_MS + 1);
    expect(await shop.deliveries()).toMatchObject([{ state: "delivered", attempts: 3 }]);
    const failure = { attempts: [outcome(third!, later, FAILED)], jitter: 0 };
    await shop.run("recordWebhookAttempts", failure, later + WEBHOOK_LEASE_MS + 2);
    expect(await shop.deliveries()).toMatchObject([{ state: "delivered" }]);
    await shop.store.close();
  });

  test("any text of a response is stored, its first 1024 characters", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    const endpoint = await shop.endpoint();
    await shop.event(endpoint, 1000);
    const [due] = await taken(shop, A, 1000);
    const response = `\0${"x".repeat(1022)}\u{1f600}`;
    const record = { attempts: [outcome(due!, 1000, { response })], jitter: 0 };
    await shop.run("recordWebhookAttempts", record, 1000);
    const [row] = await shop.store.query("SELECT response FROM webhook_attempts");
    expect(row!["response"]).toBe(`\ufffd${"x".repeat(1022)}\ufffd`);
    await shop.store.close();
  });

  test("410 disables at once; otherwise only five days with at least ten failures and no success do", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    const gone = await shop.endpoint();
    await shop.event(gone, 1000);
    const [due] = await taken(shop, A, 1000);
    const answer = { attempts: [outcome(due!, 1000, { ...FAILED, httpStatus: 410 })], jitter: 0 };
    expect((await shop.run("recordWebhookAttempts", answer, 1000))[0]!.disabled).toBe("gone");
    expect(await shop.webhook(gone)).toMatchObject({ active: false, disabledReason: "gone" });
    expect(await taken(shop, A, 1000 + 2 * DAY)).toEqual([]);

    const failing = await shop.endpoint();
    const fail = async (now: number) => {
      await shop.event(failing, now);
      const [each] = (await taken(shop, A, now)).filter(
        ({ webhookId }) => webhookId === failing.id,
      );
      const record = { attempts: [outcome(each!, now, FAILED)], jitter: 0.5 };
      return (await shop.run("recordWebhookAttempts", record, now))[0]!.disabled;
    };
    const start = 10 * DAY;
    for (let place = 0; place < 9; place += 1) expect(await fail(start + place)).toBeNull();
    // Ten of them, but not for five days yet.
    expect(await fail(start + 5 * DAY - 1)).toBeNull();
    expect(await fail(start + 5 * DAY)).toBe("failures");
    await shop.store.close();
  });

  test("no delivery stays scheduled for the far future after the clock was set back", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    const endpoint = await shop.endpoint();
    const ahead = 10 * DAY;
    await shop.event(endpoint, ahead);
    const [due] = await taken(shop, A, ahead);
    const failure = { attempts: [outcome(due!, ahead, FAILED)], jitter: 0.5 };
    await shop.run("recordWebhookAttempts", failure, ahead);
    const fresh = await shop.event(await shop.endpoint(), ahead);
    await shop.run("clampSchedules", { pollIntervalMs: 1, submitBackoffLimitMs: 1 }, 5000);
    expect((await taken(shop, A, 5000)).map(({ eventId }) => eventId)).toEqual([fresh]);
    // What has failed is due within the longest pause.
    expect((await taken(shop, A, 5000 + DAY)).map(({ eventId }) => eventId)).toContain(
      due!.eventId,
    );
    await shop.store.close();
  });

  test("after the clock was set back, a delivery that a lost connection prevented is due a minute later", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    const ahead = 10 * DAY;
    const event = await shop.event(await shop.endpoint(), ahead);
    // Taken but never begun: the reply to its taker was lost.
    expect(await taken(shop, A, ahead)).toHaveLength(1);
    await shop.run("clampSchedules", { pollIntervalMs: 1, submitBackoffLimitMs: 1 }, 5000);
    expect(await taken(shop, A, 5000 + WEBHOOK_LEASE_MS - 1)).toEqual([]);
    const again = await taken(shop, A, 5000 + WEBHOOK_LEASE_MS);
    expect(again.map(({ eventId, attempt }) => [eventId, attempt])).toEqual([[event, 2]]);
    await shop.store.close();
  });

  test("endpoints that fail share half of the places, one each, so that the others are not delayed", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 0, now: () => 1000 });
    for (let place = 0; place < 20; place += 1) {
      const endpoint = await shop.endpoint({ failures: 3 });
      for (let event = 0; event < 4; event += 1) await shop.event(endpoint, 1000);
    }
    const good = await shop.endpoint();
    for (let event = 0; event < 9; event += 1) await shop.event(good, 2000);
    const due = await taken(shop, A, 3000, 32);
    const ofGood = due.filter(({ webhookId }) => webhookId === good.id);
    expect(ofGood.length).toBe(4);
    expect(due.length - ofGood.length).toBe(16);
    const failing = new Set(due.map(({ webhookId }) => webhookId));
    expect(failing.size).toBe(17);
    await shop.store.close();
  });
});
