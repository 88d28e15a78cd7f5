// Requests for orders on the way to their provider: sent at most once, whatever servers, crashes and late replies do; and
// a queued order is either cancelled or sent, never both.

import { describe, expect, test } from "bun:test";
import type { RequestResult } from "../../../src/domain/orders/order-requests.ts";
import type { Refusal } from "../../../src/domain/values/error-table.ts";
import { type StoreShop, seedStoreShop } from "../../support/seeds/store-shop.ts";
import { ENGINES, freshStore } from "../../support/databases/stores.ts";
import type { Engine } from "../../support/databases/engine.ts";

const [A, B] = ["a", "b"].map((name) => name.padEnd(24, "-")) as [string, string];
const actor = { keyId: null, operator: "tester" };
const FULL = 100_000_000;
const PAID = 99_000_000;
const HOUR_MS = 3_600_000;

const ACCEPTED = { outcome: "accepted", refill: null } as const;
const REFUSED = { outcome: "refused", cause: "no" } as const;
const NOT_SENT = { outcome: "not_sent", cause: "ECONNREFUSED" } as const;
const NO_REPLY = { outcome: "unknown", cause: "no reply" } as const;

async function open(engine: Engine) {
  const shop = await seedStoreShop(await freshStore(engine));
  const changes = { cancel: true, refill: true };
  await shop.run("updateService", { id: "likes", changes, actor });
  return shop;
}

async function callerOf({ store }: StoreShop) {
  const [row] = await store.query("SELECT id, reseller_account AS account FROM keys");
  return { keyId: String(row!["id"]), resellerAccount: Number(row!["account"]) };
}

async function ask(
  shop: StoreShop,
  orderId: number,
  kind: "cancel" | "refill" = "cancel",
  now?: number,
) {
  return shop.run("makeRequest", { ...(await callerOf(shop)), kind, id: String(orderId) }, now);
}

/** An order that the provider has. */
async function placed(shop: StoreShop, providerOrder = "4711") {
  const { orderId } = await shop.order();
  const started = await shop.start(orderId, A);
  if (!started.send) throw new Error("not sent");
  const { attemptId } = started;
  const result = { outcome: "accepted", providerOrder } as const;
  await shop.run("finishAttempt", { orderId, attemptId, result, placeRetryMs: 1000, backoffMs: 0 });
  return orderId;
}

const begin = (shop: StoreShop, requestId: number, server = A, now?: number, providerId = 1) =>
  shop.run("startRequest", { requestId, providerId, server, placeRetryMs: HOUR_MS }, now);

const finish = (shop: StoreShop, requestId: number, result: RequestResult, now?: number) =>
  shop.run("finishRequest", { requestId, result, backoffMs: 0, pollIntervalMs: 1000 }, now);

async function stateOf({ store }: StoreShop, requestId: number): Promise<string> {
  const [row] = await store.query(
    `SELECT state, unknown FROM order_requests WHERE request_id = ${requestId}`,
  );
  return Number(row!["unknown"]) === 1 ? "unknown" : String(row!["state"]);
}

/** A request that A has begun to send. */
async function sentByA(shop: StoreShop) {
  const orderId = await placed(shop);
  const { requestId } = await ask(shop, orderId);
  expect((await begin(shop, requestId)).send).toBe(true);
  return { orderId, requestId };
}

describe.each(ENGINES)("on %s", (engine) => {
  test("a request whose order has moved to another provider is sent only there, even by servers that read it before", async () => {
    const shop = await open(engine);
    const url = "http://127.0.0.1:1/";
    const bulk = { name: "bulk", protocol: "smm-api", url, key: "secret", actor };
    await shop.run("createProvider", bulk);
    const route = { id: "likes", provider: "bulk", providerService: "8", priority: null, actor };
    await shop.run("putRoute", route);
    const { orderId } = await shop.order();
    const refusal = { outcome: "refused", cause: "no", outOfFunds: false } as const;
    const taken = { outcome: "accepted", providerOrder: "4711" } as const;
    const outcomes = [
      [1, refusal],
      [2, taken],
    ] as const;
    let request = null;
    for (const [providerId, result] of outcomes) {
      const started = await shop.start(orderId, A, undefined, providerId);
      if (!started.send) throw new Error("not sent");
      if (providerId === 2) request = await ask(shop, orderId);
      const { attemptId } = started;
      await shop.run("finishAttempt", { orderId, attemptId, result, placeRetryMs: HOUR_MS, backoffMs: 0 }); // prettier-ignore
    }
    await shop.store.query("UPDATE order_requests SET provider_id = 1");
    const { requestId } = request!;
    // Two servers have read that it is due at the first provider; only bulk knows the number.
    expect(await begin(shop, requestId, A)).toEqual({ send: false });
    expect(await begin(shop, requestId, B)).toEqual({ send: false });
    expect(await begin(shop, requestId, B, undefined, 2)).toMatchObject({
      send: true,
      providerOrder: "4711",
    });
    await shop.store.close();
  });

  test("a request is given up as unreachable only after a call to its provider", async () => {
    const shop = await open(engine);
    const orderId = await placed(shop);
    const { requestId, createdAt } = await ask(shop, orderId);
    const late = createdAt + 2 * HOUR_MS;
    for (const now of [createdAt, late, late + HOUR_MS]) {
      expect([now, (await begin(shop, requestId, A, now)).send]).toEqual([now, true]);
      await finish(shop, requestId, { ...NOT_SENT, providerNotCalled: true }, now);
    }
    expect((await begin(shop, requestId, A, late)).send).toBe(true);
    await finish(shop, requestId, NOT_SENT, late);
    expect((await begin(shop, requestId, A, late)).send).toBe(false);
    expect(await stateOf(shop, requestId)).toBe("declined");
    await shop.store.close();
  });

  test("a queued order that is cancelled while its submission starts is either cancelled or sent", async () => {
    const shop = await open(engine);
    const caller = await callerOf(shop);
    for (let round = 0; round < 10; round += 1) {
      const { orderId } = await shop.order();
      const id = String(orderId);
      const [started, request] = await Promise.all([
        shop.start(orderId, A),
        shop.run("makeRequest", { ...caller, kind: "cancel", id }),
      ]);
      const { status } = await shop.state(orderId);
      const wasCancelled = request.state === "done";
      expect([started.send, status]).toEqual([
        !wasCancelled,
        wasCancelled ? "CANCELLED" : "PENDING",
      ]);
      if (wasCancelled) continue;
      expect(request.state).toBe("requested");
      if (!started.send) throw new Error("not sent");
      const result = { outcome: "refused", cause: "no", outOfFunds: false } as const;
      const input = {
        orderId,
        attemptId: started.attemptId,
        result,
        placeRetryMs: 0,
        backoffMs: 0,
      };
      await shop.run("finishAttempt", input);
      // The order failed and was refunded: there is nothing left to cancel.
      expect(await stateOf(shop, request.requestId)).toBe("done");
    }
    expect((await shop.state(1)).balance).toBe(FULL);
    await shop.store.close();
  });

  test("a cancelled queued order is never started", async () => {
    const shop = await open(engine);
    const { orderId } = await shop.order();
    expect((await ask(shop, orderId)).state).toBe("done");
    expect((await shop.start(orderId, A)).send).toBe(false);
    expect(await shop.state(orderId)).toMatchObject({ status: "CANCELLED", balance: FULL });
    await shop.store.close();
  });

  test("when two servers start the same request at once, only one sends it", async () => {
    const shop = await open(engine);
    const orderId = await placed(shop);
    const { requestId } = await ask(shop, orderId);
    const both = await Promise.all([begin(shop, requestId, A), begin(shop, requestId, B)]);
    expect(both.filter(({ send }) => send).length).toBe(1);
    await shop.store.close();
  });

  test.each([
    ["accepted", ACCEPTED, "accepted"],
    ["refused", REFUSED, "declined"],
    ["unknown", NO_REPLY, "unknown"],
    ["not sent", NOT_SENT, "requested"],
  ] as const)("a reply that is %s moves no money", async (_, result, state) => {
    const shop = await open(engine);
    const { orderId, requestId } = await sentByA(shop);
    await finish(shop, requestId, result);
    expect(await stateOf(shop, requestId)).toBe(state);
    expect(await shop.state(orderId)).toEqual({
      status: "PROCESSING",
      placement: "placed",
      balance: PAID,
    });
    expect((await begin(shop, requestId)).send).toBe(state === "requested");
    await shop.store.close();
  });

  test.each([
    [ACCEPTED, "accepted"],
    [REFUSED, "declined"],
    [NOT_SENT, "unknown"],
    [NO_REPLY, "unknown"],
  ] as const)(
    "a request whose server ended is unknown and never sent again; a late %j makes it %s",
    async (result, state) => {
      const shop = await open(engine);
      await shop.live(A);
      const { requestId } = await sentByA(shop);
      const mark = (at?: number) =>
        shop.run("markRequestsUnknown", { cause: "its server ended", server: B }, at);
      expect(await mark(Date.now() + HOUR_MS)).toEqual([]);
      await shop.die(A);
      expect(await mark()).toEqual([requestId]);
      expect([await stateOf(shop, requestId), (await begin(shop, requestId, B)).send]).toEqual([
        "unknown",
        false,
      ]);
      await finish(shop, requestId, result);
      expect(await stateOf(shop, requestId)).toBe(state);
      expect((await begin(shop, requestId, B)).send).toBe(false);
      await shop.store.close();
    },
  );

  test("a late reply does not change a request that the operator or the order has ended", async () => {
    const shop = await open(engine);
    const first = await sentByA(shop);
    const to = { to: "COMPLETED", note: null, actor } as const;
    await shop.run("transitionOrder", { id: String(first.orderId), ...to });
    expect(await stateOf(shop, first.requestId)).toBe("declined");
    expect(await finish(shop, first.requestId, ACCEPTED)).toBe("ignored");
    expect(await stateOf(shop, first.requestId)).toBe("declined");
    await shop.store.close();
  });

  test("a request that could not be sent for as long as orders are retried is declined", async () => {
    const shop = await open(engine);
    const { requestId } = await sentByA(shop);
    await finish(shop, requestId, NOT_SENT);
    const later = Date.now() + HOUR_MS + 1000;
    expect((await begin(shop, requestId, A, later)).send).toBe(false);
    expect(await stateOf(shop, requestId)).toBe("declined");
    await shop.store.close();
  });

  test.each([
    [{ outcome: "accepted", providerOrder: "9" }, "sent", "PROCESSING"],
    [{ outcome: "not_sent", cause: "ECONNREFUSED" }, "done", "CANCELLED"],
    [{ outcome: "unknown", cause: "no reply" }, "declined", "PENDING"],
  ] as const)(
    "a request for an order that is being sent waits: %j makes it %s",
    async (result, state, status) => {
      const shop = await open(engine);
      const { orderId } = await shop.order();
      const started = await shop.start(orderId, A);
      const { requestId } = await ask(shop, orderId);
      expect((await begin(shop, requestId)).send).toBe(false);
      expect(await stateOf(shop, requestId)).toBe("requested");
      if (!started.send) throw new Error("not sent");
      const input = {
        orderId,
        attemptId: started.attemptId,
        result,
        placeRetryMs: HOUR_MS,
        backoffMs: 0,
      };
      await shop.run("finishAttempt", input);
      await begin(shop, requestId);
      expect([await stateOf(shop, requestId), (await shop.state(orderId)).status]).toEqual([
        state,
        status,
      ]);
      await shop.store.close();
    },
  );

  test("a request for an order whose submission is unknown is refused", async () => {
    const shop = await open(engine);
    const { orderId } = await shop.order();
    const started = await shop.start(orderId, A);
    if (!started.send) throw new Error("not sent");
    const result = { outcome: "unknown", cause: "no reply" } as const;
    const input = { orderId, attemptId: started.attemptId, result, placeRetryMs: 0, backoffMs: 0 };
    await shop.run("finishAttempt", input);
    const refused = await ask(shop, orderId).catch((error: Refusal) => error.code);
    expect(refused).toBe("order_not_cancellable");
    await shop.store.close();
  });

  test("the database allows one open request of a kind for an order, and refuses to send an unknown one again", async () => {
    const shop = await open(engine);
    const { requestId } = await sentByA(shop);
    await finish(shop, requestId, NO_REPLY);
    const copy = `INSERT INTO order_requests (request_id, id, order_id, reseller_account, kind, state, key_id, created_at,
        changed_at) SELECT 999, '${"x".repeat(24)}', order_id, reseller_account, kind, 'accepted', key_id, 1, 1
      FROM order_requests`;
    const broken = async (sql: string) =>
      shop.store.query(sql).then(
        () => "done",
        () => "refused",
      );
    expect(await broken(copy)).toBe("refused");
    const set = (changes: string) => broken(`UPDATE order_requests SET ${changes}`);
    expect(await set("state = 'requested', unknown = 0, sent_at = NULL, next_at = 1")).toBe(
      "refused",
    );
    expect(await set("unknown = 0")).toBe("refused");
    expect(await set("order_id = order_id + 1")).toBe("refused");
    expect(await broken("DELETE FROM order_requests")).toBe("refused");
    expect(await set("state = 'declined', unknown = 0")).toBe("done");
    expect(await set("state = 'accepted'")).toBe("refused");
    await shop.store.close();
  });

  test("after a restore, requests that may have been sent are unknown, and those for the operator still wait", async () => {
    const shop = await open(engine);
    const terms = {
      priceMicros: 1_000_000,
      per: "1000",
      min: 1,
      max: 10_000,
      private: false,
    } as const;
    await shop.run("createService", { id: "by-hand", name: "H", ...terms, cancel: true, actor });
    const caller = await callerOf(shop);
    const order = { ...caller, service: "by-hand", link: "l", quantity: 1000 };
    const byHand = await ask(shop, (await shop.run("placeOrder", order)).orderId);
    const requested = await ask(shop, await placed(shop, "1"));
    const sent = await ask(shop, await placed(shop, "2"));
    await begin(shop, sent.requestId);
    const accepted = await ask(shop, await placed(shop, "3"));
    await begin(shop, accepted.requestId);
    await finish(shop, accepted.requestId, ACCEPTED);
    // It needs the owner, and this store is the service's: test/cli/storage/restored.postgres.ts.
    if (engine === "postgres") return shop.store.close();
    const floors = {
      orders: 0,
      transfers: 0,
      audit: 0,
      services: 0,
      order_requests: 70,
      service_changes: 0,
    };
    await shop.run("carryOver", { floors, endedKeys: [], actor });
    const states = await Promise.all(
      [byHand, requested, sent, accepted].map(({ requestId }) => stateOf(shop, requestId)),
    );
    expect(states).toEqual(["requested", "unknown", "unknown", "accepted"]);
    expect((await begin(shop, requested.requestId)).send).toBe(false);
    await shop.store.close();
  });
});
