// What is written for whom: each line of docs/specification/webhooks.md#webhook-events.

import { describe, expect, test } from "bun:test";
import { createId } from "../../../src/db/port/ids.ts";
import { formatSecret } from "../../../src/domain/webhooks/webhooks.ts";
import { DISABLED_RETENTION_MS } from "../../../src/domain/webhooks/webhooks.ts";
import type {
  CommandInput,
  CommandName,
  CommandOutput,
} from "../../../src/operations/batch/commands.ts";
import { execute } from "../../../src/operations/batch/execute.ts";
import type { Engine } from "../../support/databases/engine.ts";
import { expectEventDocumented } from "../../support/http/openapi.ts";
import { ENGINES, freshStore, type TestStore } from "../../support/databases/stores.ts";

const actor = { keyId: null, operator: "tester" };
const NOW = Date.parse("2026-11-21T00:49:31.840Z");

interface Shop {
  store: TestStore;
  run<Name extends CommandName>(
    name: Name,
    input: CommandInput<Name>,
    now?: number,
  ): Promise<CommandOutput<Name>>;
  reseller(username: string, balanceMicros?: number): Promise<{ account: number; keyId: string }>;
  webhook(
    username: string,
    events?: string,
    balanceLowBelow?: number | null,
  ): Promise<CommandOutput<"createWebhook">>;
  order(
    of: { account: number; keyId: string },
    service?: string,
  ): Promise<CommandOutput<"placeOrder">>;
  /** The bodies of all events so far, and to how many endpoints each goes. */
  events(): Promise<{ body: any; endpoints: number; account: number }[]>;
}

async function openShop(engine: Engine): Promise<Shop> {
  const store = await freshStore(engine);
  const run: Shop["run"] = async (name, input, now = NOW) => execute(store, name, input, now);
  const url = "http://127.0.0.1:1/";
  await run("createProvider", { name: "acme", protocol: "smm-api", url, key: "secret", actor });
  const terms = { priceMicros: 2_320_000, per: "1000", min: 10, max: 10_000 } as const;
  const likes = { id: "likes", name: "Likes", ...terms, private: false, actor };
  await run("createService", likes);
  const provider = { name: "acme", service: "7" };
  await run("createService", { ...likes, id: "views", name: "Views", provider });
  let keys = 0;
  return {
    store,
    run,
    async reseller(username, balanceMicros = 100_000_000) {
      const { account } = await run("createUser", {
        username,
        name: username,
        parent: null,
        actor,
      });
      await run("creditUser", { username, amountMicros: balanceMicros, note: null, actor });
      const hash = String(keys++).padStart(64, "0");
      const key = { username, type: "full", reach: "all", label: "", hash, start: "rk_" } as const;
      const { id } = await run("createKey", { ...key, actor });
      return { account, keyId: id };
    },
    webhook(username, events = "*", balanceLowBelow = null) {
      const secret = formatSecret(crypto.getRandomValues(new Uint8Array(32)));
      const hook = { url: `https://shop.example/${createId()}`, events, balanceLowBelow, secret };
      return run("createWebhook", { username, ...hook, actor });
    },
    order: ({ account: resellerAccount, keyId }, service = "likes") =>
      run("placeOrder", {
        resellerAccount,
        keyId,
        service,
        link: "https://x.example",
        quantity: 1000,
      }),
    async events() {
      const rows = await store.query(`SELECT body, reseller_account AS account,
        (SELECT count(*) FROM webhook_deliveries d WHERE d.event_id = e.event_id) AS endpoints
        FROM webhook_events e ORDER BY event_id`);
      for (const row of rows) expectEventDocumented(JSON.parse(String(row["body"])));
      return rows.map((row) => ({
        body: JSON.parse(String(row["body"])),
        endpoints: Number(row["endpoints"]),
        account: Number(row["account"]),
      }));
    },
  };
}

const types = async (shop: Shop) => (await shop.events()).map(({ body }) => body.type);
const sequences = async (shop: Shop) => (await shop.events()).map(({ body }) => body.data.sequence);

describe.each(ENGINES)("on %s", (engine) => {
  test("a transition is an event: the order in status form, its refund, the status before, and a sequence", async () => {
    const shop = await openShop(engine);
    const alice = await shop.reseller("alice");
    await shop.webhook("alice");
    const order = await shop.order(alice);
    expect(await shop.events()).toEqual([]);
    const id = String(order.orderId);
    await shop.run("transitionOrder", { id, to: "PARTIAL", remains: 157, note: null, actor });
    const [event] = await shop.events();
    expect(event).toEqual({
      account: alice.account,
      endpoints: 1,
      body: {
        type: "order.partial",
        timestamp: "2026-11-21T00:49:31.840Z",
        data: {
          order: {
            id: order.id,
            orderId: order.orderId,
            service: "Likes",
            link: "https://x.example",
            quantity: 1000,
            charge: 2.32,
            status: "PARTIAL",
            createdAt: "2026-11-21T00:49:31.840Z",
            startCount: 0,
            remains: 157,
            refunded: 0.36424,
          },
          previousStatus: "PROCESSING",
          sequence: 1,
        },
      },
    });
    expect(Object.keys(event!.body)).toEqual(["type", "timestamp", "data"]);
    const [row] = await shop.store.query("SELECT id FROM webhook_events");
    expect(row!["id"]).toMatch(/^evt_[a-z0-9]{24}$/);
    await shop.run("transitionOrder", { id, to: "REFUNDED", note: null, actor });
    expect((await shop.events())[1]!.body.data).toMatchObject({
      order: { status: "REFUNDED", refunded: 2.32 },
      previousStatus: "PARTIAL",
      sequence: 2,
    });
    await shop.store.close();
  });

  test.each([
    ["COMPLETED", "order.completed"],
    ["FAILED", "order.failed"],
    ["CANCELLED", "order.cancelled"],
  ] as const)("a transition to %s is the event %s", async (to, type) => {
    const shop = await openShop(engine);
    const alice = await shop.reseller("alice");
    await shop.webhook("alice");
    const { orderId } = await shop.order(alice);
    await shop.run("transitionOrder", { id: String(orderId), to, note: null, actor });
    expect(await types(shop)).toEqual([type]);
    await shop.store.close();
  });

  test("a provider's reply and its reports are events, and sequences count unwanted events too", async () => {
    const shop = await openShop(engine);
    const alice = await shop.reseller("alice");
    await shop.webhook("alice");
    const { orderId } = await shop.order(alice, "views");
    const server = "s".repeat(24);
    const started = await shop.run("startAttempt", {
      orderId,
      providerId: 1,
      server,
      placeRetryMs: 1000,
    });
    if (!started.send) throw new Error("not sent");
    const result = { outcome: "accepted", providerOrder: "9" } as const;
    const { attemptId } = started;
    const finish = { orderId, attemptId, result, placeRetryMs: 1000, backoffMs: 1 };
    await shop.run("finishAttempt", finish);
    // Once more changes nothing, and tells nothing.
    await shop.run("finishAttempt", finish);
    const report = (word: string, startCount: number | null, remains: number | null) =>
      shop.run("recordReports", {
        providerId: 1,
        reports: [{ orderId, report: { word, startCount, remains, text: word } }],
        pollIntervalMs: 1000,
        jitter: 0,
      });
    await report("In progress", 500, 900);
    await report("In progress", 500, 900);
    await report("In progress", 500, 400);
    await report("Completed", 500, 0);
    await report("Canceled", null, null);
    expect(await types(shop)).toEqual(["order.processing", "order.completed"]);
    expect(await sequences(shop)).toEqual([1, 4]);
    const [processing, completed] = await shop.events();
    expect(processing!.body.data).toMatchObject({ previousStatus: "PENDING" });
    expect(completed!.body.data.order).toMatchObject({ startCount: 500, remains: 0 });
    await shop.store.close();
  });

  test("order.progress is sent to endpoints that name it, when the start count or the remains changed", async () => {
    const shop = await openShop(engine);
    const alice = await shop.reseller("alice");
    await shop.webhook("alice", "*");
    await shop.webhook("alice", "order.progress");
    const { orderId } = await shop.order(alice);
    const id = String(orderId);
    const progress = { id, startCount: 10, remains: 700, actor };
    await shop.run("progressOrder", progress);
    await shop.run("progressOrder", progress);
    await shop.run("progressOrder", { ...progress, remains: null, startCount: 11 });
    await shop.run("transitionOrder", { id, to: "COMPLETED", note: null, actor });
    expect(await types(shop)).toEqual(["order.progress", "order.progress", "order.completed"]);
    const events = await shop.events();
    expect(events.map(({ endpoints }) => endpoints)).toEqual([1, 1, 1]);
    expect(events[1]!.body.data).toMatchObject({
      order: { startCount: 11, remains: 700, status: "PROCESSING" },
      previousStatus: "PROCESSING",
    });
    expect(await sequences(shop)).toEqual([1, 2, 3]);
    await shop.store.close();
  });

  test("the settlement of an unknown order and the end of its retries are events", async () => {
    const shop = await openShop(engine);
    const alice = await shop.reseller("alice");
    await shop.webhook("alice");
    const server = "s".repeat(24);
    const unknown = async () => {
      const { orderId } = await shop.order(alice, "views");
      await shop.run("startAttempt", { orderId, providerId: 1, server, placeRetryMs: 1000 });
      const cause = "gone";
      await shop.run("markInterruptedUnknown", { cause, server: "t".repeat(24) });
      return String(orderId);
    };
    await shop.run("settleOrder", { id: await unknown(), providerOrder: "12", actor });
    await shop.run("settleOrder", { id: await unknown(), providerOrder: null, actor });
    expect(await types(shop)).toEqual(["order.processing", "order.failed"]);
    await shop.store.close();
  });

  test("refused or rolled-back commands create no events", async () => {
    const shop = await openShop(engine);
    const alice = await shop.reseller("alice");
    await shop.webhook("alice");
    const { orderId } = await shop.order(alice);
    const id = String(orderId);
    const illegal = shop.run("transitionOrder", { id, to: "REFUNDED", note: null, actor });
    expect(await illegal.catch((error: Error) => error.message)).toBe("order_transition_illegal");
    expect(await shop.events()).toEqual([]);
    await shop.store.close();
  });

  test("balance.credited: recharges and the operator's credits, with the kind; not refunds, not a child's", async () => {
    const shop = await openShop(engine);
    const alice = await shop.reseller("alice", 1_000_000);
    await shop.run("createUser", { username: "kid", name: "kid", parent: "alice", actor });
    await shop.webhook("alice");
    const recharge = {
      keyId: alice.keyId,
      resellerAccount: alice.account,
      amountMicros: 2_500_000,
    };
    await shop.run("recharge", { ...recharge, username: "alice" });
    await shop.run("recharge", { ...recharge, username: "kid" });
    await shop.run("creditUser", { username: "alice", amountMicros: 1, note: "n", actor });
    await shop.run("debitUser", { username: "alice", amountMicros: 1, note: "n", actor });
    const { orderId } = await shop.order(alice);
    await shop.run("transitionOrder", { id: String(orderId), to: "CANCELLED", note: null, actor });
    const credited = (await shop.events()).filter(({ body }) => body.type === "balance.credited");
    expect(credited.map(({ body }) => body.data)).toEqual([
      { balance: 3.5, amount: 2.5, kind: "recharge" },
      { balance: 3.500001, amount: 0.000001, kind: "adjustment" },
    ]);
    await shop.store.close();
  });

  test("balance.low: falling below the endpoint's threshold, once per crossing, by a charge or a debit", async () => {
    const shop = await openShop(engine);
    const alice = await shop.reseller("alice", 12_000_000);
    await shop.webhook("alice", "balance.low", 10_000_000);
    await shop.webhook("alice", "balance.low", 5_000_000);
    // Has no threshold; has one and does not want the event.
    await shop.webhook("alice", "balance.low");
    await shop.webhook("alice", "order.completed", 10_000_000);
    const debit = (amountMicros: number) =>
      shop.run("debitUser", { username: "alice", amountMicros, note: null, actor });
    // Exactly at the threshold is not below it.
    await debit(2_000_000);
    expect(await shop.events()).toEqual([]);
    await shop.order(alice);
    await shop.order(alice);
    await shop.order(alice);
    await shop.order(alice);
    const [ten, five, ...none] = await shop.events();
    expect(none).toEqual([]);
    expect(ten).toMatchObject({ endpoints: 1, body: { data: { balance: 7.68, threshold: 10 } } });
    expect(five).toMatchObject({ endpoints: 1, body: { data: { balance: 3.04, threshold: 5 } } });
    // Up and down again: once more. Both at once: two events.
    await shop.run("creditUser", {
      username: "alice",
      amountMicros: 11_280_000,
      note: null,
      actor,
    });
    await debit(9_000_000);
    expect((await shop.events()).slice(2).map(({ body }) => body.data)).toEqual([
      { balance: 3, threshold: 10 },
      { balance: 3, threshold: 5 },
    ]);
    await shop.store.close();
  });

  test("orders of one batch cross a threshold once", async () => {
    const shop = await openShop(engine);
    const alice = await shop.reseller("alice", 12_000_000);
    await shop.webhook("alice", "*", 10_000_000);
    const order = { resellerAccount: alice.account, keyId: alice.keyId, service: "likes" };
    const entry = { order: { ...order, link: "https://x.example", quantity: 1000 } };
    await shop.run("placeOrders", { keyId: alice.keyId, entries: [entry, entry, entry] });
    expect((await shop.events()).map(({ body }) => body.data)).toEqual([
      { balance: 9.68, threshold: 10 },
    ]);
    await shop.store.close();
  });

  test("service.changed: price, bounds and availability, at the reseller's own price", async () => {
    const shop = await openShop(engine);
    await shop.reseller("alice");
    await shop.reseller("bob");
    await shop.webhook("alice");
    await shop.webhook("bob", "service.changed");
    const update = (changes: object) => shop.run("updateService", { id: "likes", changes, actor });
    const last = async () => (await shop.events()).splice(-2).map(({ body }) => body.data);
    const count = async () => (await shop.events()).length;
    await update({ priceMicros: 3_000_000, min: 20 });
    const service = { id: "likes", name: "Likes", price: 3, per: "1000", min: 20, max: 10_000 };
    const changed = {
      service,
      available: true,
      changes: [
        { field: "price", before: 2.32, after: 3 },
        { field: "min", before: 10, after: 20 },
      ],
    };
    expect(await last()).toEqual([changed, changed]);
    // A change that no event describes creates no event.
    await update({ name: "Likes" });
    await update({ priceMicros: 3_000_000 });
    expect(await count()).toBe(2);
    // A price of its own hides the service's.
    await shop.run("grantService", { id: "likes", username: "bob", priceMicros: 1_000_000, actor });
    expect((await last())[1]).toMatchObject({
      service: { price: 1 },
      changes: [{ field: "price", before: 3, after: 1 }],
    });
    await update({ priceMicros: 4_000_000 });
    expect(await count()).toBe(4);
    await update({ private: true });
    expect((await shop.events()).at(-1)!.body.data).toEqual({
      service: { ...service, price: 4 },
      available: false,
      changes: [{ field: "available", before: true, after: false }],
    });
    expect(await count()).toBe(5);
    await shop.run("revokeService", { id: "likes", username: "bob", actor });
    expect((await shop.events()).at(-1)!.body.data).toEqual({
      service: { ...service, price: 1 },
      available: false,
      changes: [{ field: "available", before: true, after: false }],
    });
    // Nobody may order it, so its changes create no events.
    await update({ priceMicros: 5_000_000 });
    expect(await count()).toBe(6);
    await update({ private: false });
    const back = {
      service: { ...service, price: 5 },
      available: true,
      changes: [{ field: "available", before: false, after: true }],
    };
    expect(await last()).toEqual([back, back]);
    await shop.run("setServiceActive", { id: "likes", active: false, actor });
    expect((await last())[0]).toMatchObject({ available: false });
    await shop.store.close();
  });

  test("a new service, an import and a catalogue sync are service.changed", async () => {
    const shop = await openShop(engine);
    await shop.reseller("alice");
    await shop.webhook("alice", "service.changed");
    const terms = { priceMicros: 1_000_000, per: "1000", min: 1, max: 10, private: false } as const;
    await shop.run("createService", { id: "new", name: "New", ...terms, actor });
    await shop.run("createService", { id: "own", name: "Own", ...terms, private: true, actor });
    const services = [{ id: "imported", name: "Imported", ...terms }];
    await shop.run("importServices", { services, actor });
    const ids = async () => (await shop.events()).map(({ body }) => body.data.service.name);
    expect(await ids()).toEqual(["New", "Imported"]);
    await shop.store.close();
  });

  test("a reseller gets only its own events, and each event is stored once for all its endpoints", async () => {
    const shop = await openShop(engine);
    const alice = await shop.reseller("alice");
    const bob = await shop.reseller("bob");
    await shop.webhook("alice");
    await shop.webhook("alice", "order.completed");
    await shop.webhook("alice", "order.failed");
    const complete = async (of: typeof alice) => {
      const { orderId } = await shop.order(of);
      await shop.run("transitionOrder", {
        id: String(orderId),
        to: "COMPLETED",
        note: null,
        actor,
      });
    };
    await complete(bob);
    await complete(alice);
    expect(await shop.events()).toMatchObject([{ account: alice.account, endpoints: 2 }]);
    await shop.store.close();
  });

  test("events are stored for 7 more days for an endpoint that failures disabled, and not for one that the operator disabled", async () => {
    const shop = await openShop(engine);
    await shop.reseller("alice");
    const { id } = await shop.webhook("alice");
    const credit = (now: number) =>
      shop.run("creditUser", { username: "alice", amountMicros: 1, note: null, actor }, now);
    await shop.store.query(
      `UPDATE webhooks SET active = 0, disabled_reason = 'gone', disabled_at = ${NOW}`,
    );
    await credit(NOW + DISABLED_RETENTION_MS - 1);
    expect((await shop.events()).length).toBe(1);
    await credit(NOW + DISABLED_RETENTION_MS);
    expect((await shop.events()).length).toBe(1);
    await shop.run("enableWebhook", { id, replay: false, actor });
    await credit(NOW);
    expect((await shop.events()).length).toBe(2);
    await shop.run("disableWebhook", { id, actor });
    await credit(NOW);
    expect((await shop.events()).length).toBe(2);
    await shop.store.close();
  });

  test("the sequence of an order grows even without webhooks", async () => {
    const shop = await openShop(engine);
    const alice = await shop.reseller("alice");
    const { orderId } = await shop.order(alice);
    const id = String(orderId);
    await shop.run("progressOrder", { id, startCount: 1, remains: null, actor });
    await shop.run("transitionOrder", { id, to: "COMPLETED", note: null, actor });
    await shop.webhook("alice");
    await shop.run("transitionOrder", { id, to: "REFUNDED", note: null, actor });
    expect(await sequences(shop)).toEqual([3]);
    await shop.store.close();
  });
});
