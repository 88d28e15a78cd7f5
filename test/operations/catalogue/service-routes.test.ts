// Several providers for a service: where an order goes after each outcome, and where it never goes.

import { describe, expect, test } from "bun:test";
import type { SubmissionResult } from "../../../src/domain/delivery/deliveries.ts";
import { Refusal } from "../../../src/domain/values/error-table.ts";
import { type StoreShop, seedStoreShop } from "../../support/seeds/store-shop.ts";
import { ENGINES, freshStore } from "../../support/databases/stores.ts";
import { verifyStore } from "../../support/databases/verify.ts";

const SERVER = "s".repeat(24);
const OTHER_SERVER = "t".repeat(24);
const RETRY_MS = 3_600_000;
const BACKOFF_MS = 1000;
const actor = { keyId: null, operator: "tester" };

const ACCEPTED = { outcome: "accepted", providerOrder: "4711" } as const;
const REFUSED = { outcome: "refused", cause: "Incorrect link", outOfFunds: false } as const;
const NO_FUNDS = { outcome: "refused", cause: "Not enough funds", outOfFunds: true } as const;
const NOT_SENT = { outcome: "not_sent", cause: "HTTP 429" } as const;
const UNCALLED = { outcome: "not_sent", cause: "late", providerNotCalled: true } as const;
const UNKNOWN = { outcome: "unknown", cause: "no reply" } as const;

const put = (shop: StoreShop, provider: string, service: string, priority: number | null = null) =>
  shop.run("putRoute", { id: "likes", provider, providerService: service, priority, actor });

const remove = (shop: StoreShop, provider: string, service: string) =>
  shop.run("removeRoute", { id: "likes", provider, providerService: service, actor });

const setActive = (shop: StoreShop, name: string, active: boolean) =>
  shop.run("setProviderActive", { name, active, actor });

/** The code with which a command is refused; null when it is done. */
const codeOf = (refused: Promise<unknown>): Promise<string | null> =>
  refused.then(
    () => null,
    (error: unknown) => (error instanceof Refusal ? error.code : String(error)),
  );

/** Where the order is: `placement provider:service`, with when it is due from `now` on. */
async function at(shop: StoreShop, orderId: number, now?: number): Promise<string> {
  const [row] = await shop.store.query(
    `SELECT placement, provider_id, provider_service, next_submit_at FROM orders WHERE order_id = ${orderId}`,
  );
  const { placement, provider_id: id, provider_service: service, next_submit_at: due } = row!;
  const wait = due === null || now === undefined ? "" : ` +${Number(due) - now}`;
  return `${String(placement)} ${String(id)}:${String(service)}${wait}`;
}

/** One attempt at the provider with this outcome. Returns where the order is then. */
async function attempt(
  shop: StoreShop,
  orderId: number,
  providerId: number,
  result: SubmissionResult,
  now = Date.now(),
): Promise<string> {
  const started = await shop.start(orderId, SERVER, now, providerId);
  if (!started.send) return `not sent to ${providerId}`;
  const { attemptId } = started;
  const input = { orderId, attemptId, result, placeRetryMs: RETRY_MS, backoffMs: BACKOFF_MS };
  await shop.run("finishAttempt", input, now);
  return at(shop, orderId, now);
}

describe.each(ENGINES)("on %s", (engine) => {
  test("a refusal, for whatever reason, passes the order on at once; the next provider's number and polls are its own", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
    const { orderId } = await shop.order();
    expect(await attempt(shop, orderId, 1, REFUSED)).toBe("queued 2:8 +0");
    expect(await attempt(shop, orderId, 2, NO_FUNDS)).toBe("queued 3:9 +0");
    expect(await attempt(shop, orderId, 3, ACCEPTED)).toBe("placed 3:9");
    expect(await shop.state(orderId)).toMatchObject({ status: "PROCESSING", balance: 99_000_000 });
    const poll = { limit: 100, pollIntervalMs: 60_000, jitter: 0 };
    const due = [];
    for (const providerId of [1, 2, 3])
      due.push(await shop.run("takeDuePolls", { providerId, ...poll }));
    expect(due).toEqual([[], [], [{ orderId, providerOrder: "4711" }]]);
    const providers = await shop.store.query(
      "SELECT provider_id, out_of_funds_at IS NULL AS has_funds FROM providers WHERE provider_id > 0 ORDER BY 1",
    );
    expect(providers.map(({ has_funds: has }) => Boolean(has))).toEqual([true, false, true]);
    await shop.store.close();
  });

  test("an order that all providers refused fails and is refunded, and was sent to each once", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
    const { orderId } = await shop.order();
    for (const providerId of [1, 2, 3]) await attempt(shop, orderId, providerId, REFUSED);
    expect(await at(shop, orderId)).toBe("refused 3:9");
    expect(await shop.state(orderId)).toMatchObject({ status: "FAILED", balance: 100_000_000 });
    for (const providerId of [1, 2, 3]) {
      expect(await attempt(shop, orderId, providerId, ACCEPTED)).toBe(`not sent to ${providerId}`);
    }
    await shop.store.close();
  });

  test("nothing follows an unknown outcome: no provider is sent the order again", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
    const { orderId } = await shop.order();
    await attempt(shop, orderId, 1, REFUSED);
    expect(await attempt(shop, orderId, 2, UNKNOWN)).toBe("unknown 2:8");
    for (const providerId of [1, 2, 3]) {
      expect(await attempt(shop, orderId, providerId, ACCEPTED)).toBe(`not sent to ${providerId}`);
    }
    // Settled, it is followed where it may have arrived.
    await shop.run("settleOrder", { id: String(orderId), providerOrder: "12", actor });
    expect(await at(shop, orderId)).toBe("placed 2:8");
    await shop.store.close();
  });

  test("a late refusal of an unknown order fails it as before: it goes to no other provider", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
    const { orderId } = await shop.order();
    const started = await shop.start(orderId, SERVER);
    if (!started.send) throw new Error("not sent");
    const { attemptId } = started;
    await shop.run("markInterruptedUnknown", { cause: "its server ended", server: OTHER_SERVER });
    const input = { orderId, attemptId, placeRetryMs: RETRY_MS, backoffMs: 0 };
    const finished = await shop.run("finishAttempt", { ...input, result: REFUSED });
    expect(finished).toMatchObject({ late: "applied", passedTo: null });
    expect(await at(shop, orderId)).toBe("refused 1:7");
    await shop.store.close();
  });

  test("an order that was not sent moves on at once, and after all were tried restarts at the first after a pause", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
    const { orderId, createdAt: now } = await shop.order();
    expect(await attempt(shop, orderId, 1, NOT_SENT, now)).toBe("queued 2:8 +0");
    expect(await attempt(shop, orderId, 2, NOT_SENT, now)).toBe("queued 3:9 +0");
    expect(await attempt(shop, orderId, 3, NOT_SENT, now)).toBe(`queued 1:7 +${BACKOFF_MS}`);
    expect(await attempt(shop, orderId, 1, REFUSED, now)).toBe("queued 2:8 +0");
    expect(await attempt(shop, orderId, 2, NOT_SENT, now)).toBe("queued 3:9 +0");
    // What refused it is left out.
    expect(await attempt(shop, orderId, 3, NOT_SENT, now)).toBe(`queued 2:8 +${BACKOFF_MS}`);
    // The others were tried as often: the pause comes first.
    expect(await attempt(shop, orderId, 2, REFUSED, now)).toBe("queued 3:9 +0");
    expect(await attempt(shop, orderId, 3, NOT_SENT, now)).toBe(`queued 3:9 +${BACKOFF_MS}`);
    const late = now + RETRY_MS;
    expect(await attempt(shop, orderId, 3, ACCEPTED, late)).toBe("not sent to 3");
    expect(await at(shop, orderId)).toBe("expired 3:9");
    await shop.store.close();
  });

  test("a route that was never tried is tried once, however late; then the order expires", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
    const { orderId, createdAt } = await shop.order();
    const late = createdAt + RETRY_MS + 1;
    expect(await attempt(shop, orderId, 1, REFUSED, late)).toBe("queued 2:8 +0");
    expect(await attempt(shop, orderId, 2, NOT_SENT, late)).toBe("queued 3:9 +0");
    expect(await attempt(shop, orderId, 3, NOT_SENT, late)).toBe("queued 2:8 +0");
    expect(await attempt(shop, orderId, 2, ACCEPTED, late)).toBe("not sent to 2");
    expect(await at(shop, orderId)).toBe("expired 2:8");
    await shop.store.close();
  });

  test("an attempt that ended before its call is made again at the same provider", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
    const { orderId, createdAt: now } = await shop.order();
    expect(await attempt(shop, orderId, 1, UNCALLED, now)).toBe(`queued 1:7 +${BACKOFF_MS}`);
    await shop.store.close();
  });

  test("an order that moved on is not sent by the worker of the provider that it left, under another's service id", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
    const { orderId } = await shop.order();
    await attempt(shop, orderId, 1, REFUSED);
    const started = await shop.start(orderId, OTHER_SERVER, undefined, 1);
    expect(started).toMatchObject({ send: false, isGivenUp: false });
    expect(await at(shop, orderId)).toBe("queued 2:8");
    await shop.store.close();
  });

  test("a refusal that is stored twice counts once, and returns the same next route again", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
    const { orderId } = await shop.order();
    const started = await shop.start(orderId, SERVER);
    if (!started.send) throw new Error("not sent");
    const { attemptId } = started;
    const input = { orderId, attemptId, result: REFUSED, placeRetryMs: RETRY_MS, backoffMs: 0 };
    const first = await shop.run("finishAttempt", input);
    expect(first).toMatchObject({ late: null, passedTo: "bulk" });
    expect(await shop.run("finishAttempt", input)).toMatchObject({ late: null, passedTo: "bulk" });
    expect(await at(shop, orderId)).toBe("queued 2:8");
    // The other provider's attempt is under way: the first one's outcome does not touch it.
    await shop.start(orderId, OTHER_SERVER, undefined, 2);
    expect(await shop.run("finishAttempt", input)).toMatchObject({ late: null, passedTo: null });
    expect(await at(shop, orderId)).toBe("sending 2:8");
    await shop.store.close();
  });

  test("of two servers that finish and start at once, the order is sent by one, to one provider at a time", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
    for (let round = 0; round < 10; round += 1) {
      const { orderId } = await shop.order();
      await attempt(shop, orderId, 1, REFUSED);
      const servers = [SERVER, OTHER_SERVER];
      const started = await Promise.all(
        [1, 2, 2, 3].map((providerId, index) =>
          shop.start(orderId, servers[index % 2]!, undefined, providerId),
        ),
      );
      expect(started.filter(({ send }) => send).length).toBe(1);
      expect(await at(shop, orderId)).toBe("sending 2:8");
    }
    await shop.store.close();
  });

  test("a deactivated provider is passed over, also by an order that waits for it; without another the order stays", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
    const { orderId, createdAt: now } = await shop.order();
    const pass = (providerId: number) => shop.run("moveToNextRoute", { orderId, providerId }, now);
    expect(await pass(1)).toBe(null);
    await setActive(shop, "bulk", false);
    expect(await attempt(shop, orderId, 1, REFUSED, now)).toBe("queued 3:9 +0");
    await setActive(shop, "core", false);
    expect(await pass(1)).toMatchObject({ passedTo: null });
    expect(await pass(3)).toBe(null);
    await setActive(shop, "bulk", true);
    expect(await pass(3)).toMatchObject({ passedTo: "bulk" });
    expect(await at(shop, orderId, now)).toBe("queued 2:8 +0");
    await setActive(shop, "bulk", false);
    expect(await pass(2)).toBe(null);
    // What is left for it is inactive: it goes on with what it has.
    expect(await attempt(shop, orderId, 2, NOT_SENT, now)).toBe(`queued 2:8 +${BACKOFF_MS}`);
    expect(await attempt(shop, orderId, 2, REFUSED, now)).toBe("refused 2:8");
    expect((await shop.state(orderId)).balance).toBe(100_000_000);
    await shop.store.close();
  });

  test("a service is suspended once all of its providers are inactive, and is back with the first that is not", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
    const state = async () => {
      const [row] = await shop.store.query("SELECT active, suspended FROM services");
      return [Number(row!["active"]), Number(row!["suspended"])];
    };
    const [offered, suspended] = [
      [1, 0],
      [0, 1],
    ];
    expect(await setActive(shop, "acme", false)).toEqual({ services: 0 });
    expect(await setActive(shop, "core", false)).toEqual({ services: 0 });
    expect(await state()).toEqual(offered!);
    expect(await setActive(shop, "bulk", false)).toEqual({ services: 1 });
    expect(await state()).toEqual(suspended!);
    expect(await codeOf(put(shop, "core", "10"))).toBe("provider_inactive");
    expect(await setActive(shop, "core", true)).toEqual({ services: 1 });
    expect(await state()).toEqual(offered!);
    await remove(shop, "core", "9");
    expect(await state()).toEqual(suspended!);
    await setActive(shop, "core", true);
    expect(await state()).toEqual(suspended!);
    await put(shop, "core", "9");
    expect(await state()).toEqual(offered!);
    await shop.store.close();
  });

  test("a provider that has a route, or only attempts, is not deleted", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
    const { orderId } = await shop.order();
    const drop = (name: string) => shop.run("deleteProvider", { name, actor });
    expect(await codeOf(drop("core"))).toBe("provider_in_use");
    await remove(shop, "core", "9");
    await drop("core");
    await attempt(shop, orderId, 1, REFUSED);
    await attempt(shop, orderId, 2, ACCEPTED);
    await remove(shop, "acme", "7");
    expect(await codeOf(drop("acme"))).toBe("provider_in_use");
    await shop.store.close();
  });

  test("the routes of a service that is deleted go with it, and its providers are free", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
    await shop.run("deleteService", { id: "likes", actor });
    expect(await shop.store.query("SELECT * FROM service_routes")).toEqual([]);
    await shop.run("deleteProvider", { name: "core", actor });
    await shop.store.close();
  });

  test("a service that returns to manual delivery has no routes left", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
    await shop.run("updateService", { id: "likes", changes: {}, provider: null, actor });
    expect((await shop.order()).status).toBe("PROCESSING");
    expect(await put(shop, "bulk", "8")).toMatchObject([{ providerId: 2, priority: 0 }]);
    await shop.store.close();
  });

  test("routes are tried by priority, equal ones in the order of adding; the first is the service's provider", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
    const order = async () => {
      const placed = await shop.order();
      return `${placed.delivery!.providerId}:${placed.delivery!.providerService}`;
    };
    const shown = (routes: { providerId: number; providerService: string; priority: number }[]) =>
      routes
        .map((each) => `${each.providerId}:${each.providerService} ${each.priority}`)
        .join(", ");
    expect(shown(await put(shop, "core", "10"))).toBe("1:7 0, 2:8 1, 3:9 2, 3:10 3");
    expect(shown(await put(shop, "bulk", "11", 2))).toBe("1:7 0, 2:8 1, 3:9 2, 2:11 2, 3:10 3");
    expect(await order()).toBe("1:7");
    expect(shown(await put(shop, "acme", "7", 2))).toBe("2:8 1, 3:9 2, 2:11 2, 1:7 2, 3:10 3");
    expect(await order()).toBe("2:8");
    expect(shown(await put(shop, "core", "10", 0))).toBe("3:10 0, 2:8 1, 3:9 2, 2:11 2, 1:7 2");
    expect(await order()).toBe("3:10");
    expect(shown(await remove(shop, "core", "10"))).toBe("2:8 1, 3:9 2, 2:11 2, 1:7 2");
    expect(await order()).toBe("2:8");
    // Another provider of the service: the first route alone changes, and none is there twice.
    const provider = { name: "acme", service: "7" };
    await shop.run("updateService", { id: "likes", changes: {}, provider, actor });
    expect(await order()).toBe("1:7");
    expect(shown(await remove(shop, "core", "9"))).toBe("1:7 1, 2:11 2");
    await remove(shop, "bulk", "11");
    expect(await remove(shop, "acme", "7")).toEqual([]);
    expect((await shop.order()).status).toBe("PROCESSING");
    expect(await codeOf(remove(shop, "acme", "7"))).toBe("route_not_found");
    await shop.store.close();
  });

  test("an order cancelled on request ends on the same route whether the request comes just before a refusal or just after it, and verifies", async () => {
    const ends = [];
    for (const isBefore of [true, false]) {
      const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
      await shop.run("updateService", { id: "likes", changes: { cancel: true }, actor });
      const { orderId } = await shop.order();
      const [key] = await shop.store.query("SELECT id, reseller_account FROM keys");
      const caller = {
        keyId: String(key!["id"]),
        resellerAccount: Number(key!["reseller_account"]),
      };
      const ask = () => shop.run("makeRequest", { ...caller, kind: "cancel", id: String(orderId) });
      const started = await shop.start(orderId, SERVER);
      if (!started.send) throw new Error("not sent");
      if (isBefore) expect((await ask()).state).toBe("requested");
      const { attemptId } = started;
      const input = { orderId, attemptId, placeRetryMs: RETRY_MS, backoffMs: BACKOFF_MS };
      await shop.run("finishAttempt", { ...input, result: REFUSED });
      if (!isBefore) expect((await ask()).state).toBe("done");
      expect(await attempt(shop, orderId, 2, ACCEPTED)).toBe("not sent to 2");
      const { requestId } = (
        await shop.store.query(
          "SELECT request_id AS \"requestId\" FROM order_requests WHERE state = 'done'",
        )
      )[0]!;
      ends.push({
        at: await at(shop, orderId),
        requestId: Number(requestId),
        ...(await shop.state(orderId)),
      });
      expect(await verifyStore(shop)).toEqual([]);
      await shop.store.close();
    }
    const cancelled = { status: "CANCELLED", placement: "queued", balance: 100_000_000 };
    const end = { at: "queued 2:8", requestId: 1, ...cancelled };
    expect(ends).toEqual([end, end]);
  });

  test("an order on a route that has refused it does not verify", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
    const { orderId } = await shop.order();
    await shop.store.query(
      `INSERT INTO attempts (attempt_id, order_id, outcome, started_at, finished_at, provider_id, provider_service)
      VALUES (900, ${orderId}, 'refused', 1, 2, 1, '7')`,
    );
    expect(await verifyStore(shop)).toMatchObject([{ subject: `order ${orderId}` }]);
    await shop.store.close();
  });

  test("an order whose route is removed stays on it until an attempt there ends as not sent", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
    const { orderId, createdAt: now } = await shop.order();
    await remove(shop, "acme", "7");
    expect(await at(shop, orderId)).toBe("queued 1:7");
    expect(await attempt(shop, orderId, 1, NOT_SENT, now)).toBe("queued 2:8 +0");
    await remove(shop, "bulk", "8");
    await remove(shop, "core", "9");
    expect(await attempt(shop, orderId, 2, NOT_SENT, now)).toBe(`queued 2:8 +${BACKOFF_MS}`);
    expect(await attempt(shop, orderId, 2, REFUSED, now)).toBe("refused 2:8");
    await shop.store.close();
  });

  test("the database itself refuses a second attempt that may arrive, a second refusal of a route, and a move of what was sent", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
    const { orderId } = await shop.order();
    await attempt(shop, orderId, 1, REFUSED);
    await shop.start(orderId, SERVER, undefined, 2);
    const add = (id: number, outcome: string, providerId: number, service: string) =>
      shop.store.query(
        `INSERT INTO attempts (attempt_id, order_id, outcome, started_at, finished_at, provider_id, provider_service)
        VALUES (${id}, ${orderId}, '${outcome}', 1, 2, ${providerId}, '${service}')`,
      );
    const move = (changes: string) =>
      shop.store.query(`UPDATE orders SET ${changes} WHERE order_id = ${orderId}`);
    for (const broken of [
      () => add(900, "accepted", 3, "9"),
      () => add(901, "unknown", 3, "9"),
      () => add(902, "refused", 1, "7"),
      () => move("provider_id = 3"),
      () => move("provider_id = 3, provider_service = '9'"),
      () => move("placement = 'queued', next_submit_at = 1, provider_id = 0"),
      () => move("placement = 'queued', next_submit_at = 1, provider_id = 999"),
      () => shop.store.query("DELETE FROM providers WHERE provider_id = 1"),
      () => shop.store.query("UPDATE attempts SET provider_id = 3"),
    ]) {
      expect(
        await broken().then(
          () => "taken",
          () => "refused",
        ),
      ).toBe("refused");
    }
    await shop.store.close();
  });
});

// Backups of PostgreSQL are restored by its own tools.
test("a restore makes an order that waited for its second provider unknown there", async () => {
  const shop = await seedStoreShop(await freshStore("sqlite"), { hasRoutes: true });
  const { orderId } = await shop.order();
  await attempt(shop, orderId, 1, REFUSED);
  const floors = {
    orders: 0,
    transfers: 0,
    audit: 0,
    services: 0,
    order_requests: 0,
    service_changes: 0,
  };
  await shop.run("carryOver", { floors, endedKeys: [], actor });
  expect(await at(shop, orderId)).toBe("unknown 2:8");
  await shop.store.close();
});
