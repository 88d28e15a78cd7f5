// Providers whose replies leave it open whether they took orders: their submissions are paused, and go on.

import { describe, expect, test } from "bun:test";
import { listProviders } from "../../../src/db/providers/providers.ts";
import { createProviderWorker } from "../../../src/delivery/provider-worker.ts";
import { createSubmitter } from "../../../src/delivery/submission.ts";
import type { SubmissionResult } from "../../../src/domain/delivery/deliveries.ts";
import { seedStoreShop, type StoreShop } from "../../support/seeds/store-shop.ts";
import { ENGINES, freshStore } from "../../support/databases/stores.ts";
import { verifyStore } from "../../support/databases/verify.ts";

const [A, B] = ["a", "b"].map((name) => name.padEnd(24, "-")) as [string, string];
const RETRY_MS = 3_600_000;
const PAUSE_AFTER = 3;
const MINUTE_MS = 60_000;
const actor = { keyId: null, operator: "tester" };

const ACCEPTED = { outcome: "accepted", providerOrder: "4711" } as const;
const REFUSED = { outcome: "refused", cause: "Incorrect link", outOfFunds: false } as const;
const NOT_SENT = { outcome: "not_sent", cause: "HTTP 429" } as const;
const UNKNOWN = { outcome: "unknown", cause: "HTTP 502, a reply that is not JSON" } as const;

/** An attempt that is under way; call it with its outcome. Null: it was not sent. */
async function begin(shop: StoreShop, orderId: number, providerId = 1, now = Date.now()) {
  const started = await shop.start(orderId, A, now, providerId);
  if (!started.send) return null;
  const { attemptId } = started;
  return (result: SubmissionResult, pauseAfter = PAUSE_AFTER) => {
    const input = {
      orderId,
      attemptId,
      result,
      placeRetryMs: RETRY_MS,
      backoffMs: 1000,
      pauseAfter,
    };
    return shop.run("finishAttempt", input, now);
  };
}

/** A new order with this outcome at the first provider. */
async function submit(shop: StoreShop, result: SubmissionResult, pauseAfter = PAUSE_AFTER) {
  const { orderId } = await shop.order();
  const finish = await begin(shop, orderId);
  return finish === null ? null : finish(result, pauseAfter);
}

async function pauseOf(shop: StoreShop, providerId = 1): Promise<string | null> {
  const [row] = await shop.store.query(
    `SELECT paused_by FROM providers WHERE provider_id = ${providerId}`,
  );
  return row!["paused_by"] as string | null;
}

/** `placement provider +wait`. */
async function at(shop: StoreShop, orderId: number, now: number): Promise<string> {
  const [row] = await shop.store.query(
    `SELECT status, placement, provider_id, next_submit_at FROM orders WHERE order_id = ${orderId}`,
  );
  const { placement, provider_id: provider, next_submit_at: due } = row!;
  const wait = due === null ? "" : ` +${Number(due) - now}`;
  return `${String(placement)} ${String(provider)}${wait}`;
}

async function pauseByUnknown(shop: StoreShop): Promise<void> {
  for (let count = 0; count < PAUSE_AFTER; count += 1) await submit(shop, UNKNOWN);
  expect(await pauseOf(shop)).toBe("unknown");
}

const askBalance = async (shop: StoreShop, now: number) => {
  const due = await shop.run("takeDueBalances", null, now);
  return due.includes(1);
};
const tellBalance = (shop: StoreShop, now?: number) =>
  shop.run("recordProviderBalance", { providerId: 1, balance: 5, currency: "USD" }, now);

describe.each(ENGINES)("on %s", (engine) => {
  test("unknown outcomes in a row pause submissions; an answer between them, or a limit of 0, does not", async () => {
    const shop = await seedStoreShop(await freshStore(engine));
    for (const between of [ACCEPTED, REFUSED]) {
      await submit(shop, UNKNOWN);
      await submit(shop, UNKNOWN);
      await submit(shop, { ...between });
    }
    for (let count = 0; count < 5; count += 1) await submit(shop, UNKNOWN, 0);
    expect(await pauseOf(shop)).toBeNull();
    await submit(shop, UNKNOWN);
    // That it was not sent says nothing.
    await submit(shop, NOT_SENT);
    expect((await submit(shop, UNKNOWN))!.pausedAfter).toBeUndefined();
    expect((await submit(shop, UNKNOWN))!.pausedAfter).toBe(PAUSE_AFTER);
    expect(await pauseOf(shop)).toBe("unknown");
    expect(await submit(shop, ACCEPTED)).toBeNull();
    expect(await verifyStore(shop)).toEqual([]);
    await shop.store.close();
  });

  test("while a provider is paused an order becomes unknown only if it was under way before", async () => {
    const shop = await seedStoreShop(await freshStore(engine));
    const flying = [];
    for (let count = 0; count < 5; count += 1) {
      flying.push((await begin(shop, (await shop.order()).orderId))!);
    }
    const later = [];
    for (let count = 0; count < 30; count += 1) later.push((await shop.order()).orderId);
    await Promise.all(flying.map((finish) => finish(UNKNOWN)));
    for (const orderId of later) expect(await begin(shop, orderId)).toBeNull();
    const [row] = await shop.store.query(
      "SELECT count(*) AS unknown FROM orders WHERE placement = 'unknown'",
    );
    expect(Number(row!["unknown"])).toBe(flying.length);
    await shop.store.close();
  });

  test("an order waits at a paused provider, looks again every minute, and can be cancelled", async () => {
    const shop = await seedStoreShop(await freshStore(engine));
    const { orderId } = await shop.order();
    await pauseByUnknown(shop);
    const now = Date.now();
    expect(await shop.start(orderId, A, now)).toMatchObject({ send: false, isGivenUp: false });
    expect(await at(shop, orderId, now)).toBe(`queued 1 +${MINUTE_MS}`);
    const cancel = { id: String(orderId), to: "CANCELLED" as const, remains: null, note: null };
    await shop.run("transitionOrder", { ...cancel, actor } as never);
    expect(await shop.state(orderId)).toMatchObject({ status: "CANCELLED" });
    expect(await verifyStore(shop)).toEqual([]);
    await shop.store.close();
  });

  test("an order that waits for longer than --place-retry fails and is refunded, even if it was never tried", async () => {
    const shop = await seedStoreShop(await freshStore(engine));
    const { orderId, createdAt } = await shop.order();
    await pauseByUnknown(shop);
    const { balance: before } = await shop.state(orderId);
    const due = createdAt + RETRY_MS;
    expect(await shop.start(orderId, A, due - 1)).toMatchObject({ isGivenUp: false });
    expect(await at(shop, orderId, due)).toBe("queued 1 +0");
    expect(await shop.start(orderId, A, due)).toMatchObject({ send: false, isGivenUp: true });
    const { status, placement, balance } = await shop.state(orderId);
    expect([status, placement]).toEqual(["FAILED", "expired"]);
    expect(balance - before).toBe(1_000_000);
    expect(await verifyStore(shop)).toEqual([]);
    await shop.store.close();
  });

  test("an order of a paused provider goes to the next route at once, and waits only while all routes are paused", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
    const pause = (name: string, paused: boolean) =>
      shop.run("setProviderPaused", { name, paused, actor });
    const now = Date.now();
    const [first, second, third] = [
      (await shop.order()).orderId,
      (await shop.order()).orderId,
      (await shop.order()).orderId,
    ];
    await pause("acme", true);
    await pause("bulk", true);
    expect(await shop.start(first, A, now)).toMatchObject({ send: false, passedTo: "core" });
    expect(await at(shop, first, now)).toBe("queued 3 +0");
    await pause("core", true);
    expect(await begin(shop, second, 1, now)).toBeNull();
    expect(await at(shop, second, now)).toBe(`queued 1 +${MINUTE_MS}`);
    // One that was refused waits for a paused route: it is not given up.
    await pause("acme", false);
    const finish = await begin(shop, third, 1, now);
    await finish!(REFUSED);
    expect(await at(shop, third, now)).toBe("queued 2 +1000");
    // One of a provider that is inactive waits for a paused route too.
    await shop.run("setProviderActive", { name: "acme", active: false, actor });
    await shop.run("moveToNextRoute", { orderId: second, providerId: 1 }, now);
    expect(await at(shop, second, now)).toBe("queued 2 +0");
    expect(await verifyStore(shop)).toEqual([]);
    await shop.store.close();
  });

  test("the balance is requested after 30 s, then after twice as long each time; an answer ends the pause", async () => {
    const shop = await seedStoreShop(await freshStore(engine));
    await pauseByUnknown(shop);
    const { orderId } = await shop.order();
    const [row] = await shop.store.query("SELECT paused_at FROM providers WHERE provider_id = 1");
    let now = Number(row!["paused_at"]);
    // An answer to a call that began before the pause.
    expect(await tellBalance(shop, now)).toEqual({ isResumed: false });
    for (const seconds of [30, 60, 120, 240, 480, 900, 900]) {
      expect(await askBalance(shop, now + seconds * 1000 - 1)).toBe(false);
      now += seconds * 1000;
      expect(await askBalance(shop, now)).toBe(true);
    }
    expect(await begin(shop, orderId, 1, now)).toBeNull();
    expect(await at(shop, orderId, now)).toBe(`queued 1 +${MINUTE_MS}`);
    expect(await tellBalance(shop, now)).toEqual({ isResumed: true });
    expect(await pauseOf(shop)).toBeNull();
    expect(await at(shop, orderId, now)).toBe("queued 1 +0");
    // Until an order is answered, one more unknown outcome pauses again, and the next question waits for as long as the last.
    await (await begin(shop, orderId, 1, now))!(UNKNOWN);
    expect(await pauseOf(shop)).toBe("unknown");
    expect(await askBalance(shop, now + 899_999)).toBe(false);
    expect(await askBalance(shop, now + 900_000)).toBe(true);
    await tellBalance(shop, now + 900_000);
    await submit(shop, ACCEPTED);
    await submit(shop, UNKNOWN);
    expect(await pauseOf(shop)).toBeNull();
    await shop.store.close();
  });

  test("a pause for a time ends once, at its end, and the queued orders are due; others go on", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
    const { orderId } = await shop.order();
    const now = Date.now();
    const pause = (name: string, forMs: number | null, at = now) =>
      shop.run("setProviderPaused", { name, paused: true, forMs, actor }, at);
    await pause("acme", 2 * 60 * MINUTE_MS);
    await pause("bulk", null);
    await pause("core", 3 * 60 * MINUTE_MS);
    const end = now + 2 * 60 * MINUTE_MS;
    expect(await begin(shop, orderId, 1, now)).toBeNull();
    expect(await tellBalance(shop, now)).toEqual({ isResumed: false });
    expect(await shop.run("endTimedPauses", null, end - 1)).toEqual([]);
    expect(await pauseOf(shop)).toBe("operator");
    expect(await shop.run("endTimedPauses", null, end)).toEqual(["acme"]);
    expect(await shop.run("endTimedPauses", null, end)).toEqual([]);
    expect(await pauseOf(shop)).toBeNull();
    const finish = await begin(shop, orderId, 1, end);
    await finish!(ACCEPTED);
    // A pause without an end takes the place of one with an end, and resuming forgets the end.
    await pause("core", null);
    await pause("acme", MINUTE_MS);
    await shop.run("setProviderPaused", { name: "acme", paused: false, actor }, now);
    expect(await shop.run("endTimedPauses", null, end * 2)).toEqual([]);
    expect(await verifyStore(shop)).toEqual([]);
    await shop.store.close();
  });

  test("only an operator ends an operator's pause, and resuming restarts the count", async () => {
    const shop = await seedStoreShop(await freshStore(engine));
    await pauseByUnknown(shop);
    await shop.run("setProviderPaused", { name: "acme", paused: true, actor });
    expect(await askBalance(shop, Date.now() + 3_600_000)).toBe(false);
    expect(await tellBalance(shop)).toEqual({ isResumed: false });
    expect(await pauseOf(shop)).toBe("operator");
    const { orderId } = await shop.order();
    const now = Date.now();
    await begin(shop, orderId, 1, now);
    await shop.run("setProviderPaused", { name: "acme", paused: false, actor }, now);
    expect(await pauseOf(shop)).toBeNull();
    expect(await at(shop, orderId, now)).toBe("queued 1 +0");
    await submit(shop, UNKNOWN);
    await submit(shop, UNKNOWN);
    expect(await pauseOf(shop)).toBeNull();
    const audited = await shop.store.query(
      "SELECT action FROM audit WHERE action LIKE 'provider.%e' ORDER BY seq",
    );
    expect(audited.map(({ action }) => action)).toEqual([
      "provider.create",
      "provider.pause",
      "provider.resume",
    ]);
    await shop.store.close();
  });

  test("after a pause the first order sent is one of a reseller whose orders did not lead to it", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 2 });
    const queued = [];
    for (let count = 0; count < PAUSE_AFTER + 2; count += 1) queued.push(await shop.order(0));
    const { orderId: others } = await shop.order(1);
    const now = Date.now();
    for (const { orderId } of queued.slice(0, PAUSE_AFTER)) {
      await (await begin(shop, orderId, 1, now))!(UNKNOWN);
    }
    expect(await pauseOf(shop)).toBe("unknown");
    await shop.run("takeDueBalances", null, now + MINUTE_MS);
    await shop.run("recordProviderBalance", { providerId: 1, balance: 5, currency: "USD" }, now);
    expect(await pauseOf(shop)).toBe(null);
    const sent: number[] = [];
    const deps = shop.server(A, {
      submit({ orderId }) {
        sent.push(orderId);
        return Promise.resolve(orderId === others ? ACCEPTED : UNKNOWN);
      },
    });
    const settings = { ...deps.settings, pauseAfter: PAUSE_AFTER };
    const [provider] = await shop.store.read(listProviders);
    const worker = createProviderWorker({ ...deps, settings }, provider!, () => {});
    const submitter = createSubmitter(worker, { ended() {}, passedOn() {} });
    await submitter.begin();
    await submitter.idle();
    expect(sent[0]).toBe(others);
    await shop.store.close();
  });

  test("outcomes that two servers record at once are all counted, and pause once", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { resellers: 4 });
    const finishes = [];
    for (let reseller = 0; reseller < 4; reseller += 1) {
      const { orderId } = await shop.order(reseller);
      const started = await shop.start(orderId, reseller % 2 === 0 ? A : B);
      if (!started.send) throw new Error("not sent");
      const { attemptId } = started;
      const times = { placeRetryMs: RETRY_MS, backoffMs: 0, pauseAfter: 4 };
      finishes.push(() =>
        shop.run("finishAttempt", { orderId, attemptId, result: UNKNOWN, ...times }),
      );
    }
    const finished = await Promise.all(finishes.map((finish) => finish()));
    expect(finished.map(({ pausedAfter }) => pausedAfter).filter(Boolean)).toEqual([4]);
    expect(await pauseOf(shop)).toBe("unknown");
    await shop.store.close();
  });
});
