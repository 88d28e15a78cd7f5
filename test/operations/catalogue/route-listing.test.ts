// Services with several routes of which providers list some no more: whether the service is offered, where its orders go, and
// what a route without a drip-feed is not sent.

import { describe, expect, test } from "bun:test";
import { listAttempts } from "../../../src/db/delivery/deliveries.ts";
import { requireProvider, planCatalogue } from "../../../src/operations/providers/providers.ts";
import type { Order } from "../../../src/db/orders/orders.ts";
import { Refusal } from "../../../src/domain/values/error-table.ts";
import { type StoreShop, seedStoreShop } from "../../support/seeds/store-shop.ts";
import { type Random, randomFrom } from "../../support/random/seeded.ts";
import { ENGINES, freshStore } from "../../support/databases/stores.ts";

const actor = { keyId: null, operator: "tester" };
const SERVER = "s".repeat(24);
const RETRY_MS = 3_600_000;
/** Every list has it, so that none is empty. */
const OTHER = "999";

const entry = (service: string, dripfeed = false) => ({
  service,
  name: `Service ${service}`,
  category: "Services",
  type: "Default",
  dripfeed,
  rate: "0.5",
  min: 1,
  max: 10_000,
  cancel: false,
  refill: false,
});

/** A sync of the provider whose list has these services. */
async function sync(shop: StoreShop, name: string, listed: ReturnType<typeof entry>[]) {
  const upstream = [...listed, entry(OTHER)];
  const options = { markup: "100", newServices: "ignore" } as const;
  const plan = await shop.store.read((reader) =>
    planCatalogue(reader, requireProvider(reader, name), upstream, options),
  );
  await shop.run("syncCatalogue", { name, upstream, ...options, plan, actor });
  return plan;
}

/** Whether the service is offered, and which of its routes are delisted. */
async function stateOf(shop: StoreShop): Promise<string> {
  const [service] = await shop.store.query(
    "SELECT active, route_delisted, provider_service AS route FROM services WHERE id = 'likes'",
  );
  const further = await shop.store.query(
    "SELECT provider_service AS route FROM service_routes WHERE delisted = 1 ORDER BY place",
  );
  const first = Number(service!["route_delisted"]) === 1 ? [service!] : [];
  const gone = [...first, ...further].map(({ route }) => String(route));
  return [Number(service!["active"]) === 1 ? "offered" : "not offered", ...gone].join(" ");
}

const goesTo = (order: Order) => order.delivery!.providerService;

describe.each(ENGINES)("on %s", (engine) => {
  test("a service stays offered while any of its routes is listed, and its orders go to those", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
    expect(goesTo(await shop.order())).toBe("7");
    const plan = await sync(shop, "acme", []);
    expect([plan.deactivated, plan.routes]).toMatchObject([[], [{ providerService: "7" }]]);
    expect(await stateOf(shop)).toBe("offered 7");
    expect(goesTo(await shop.order())).toBe("8");
    await sync(shop, "bulk", []);
    expect(await stateOf(shop)).toBe("offered 7 8");
    const last = await shop.order();
    expect(goesTo(last)).toBe("9");
    expect((await sync(shop, "core", [])).deactivated).toMatchObject([{ id: "likes" }]);
    expect(await stateOf(shop)).toBe("not offered 7 8 9");
    expect((await sync(shop, "core", [])).deactivated).toEqual([]);
    // The second one is back: with it the service, at its own terms.
    expect((await sync(shop, "bulk", [entry("8")])).returned).toMatchObject([{ id: "likes" }]);
    expect(await stateOf(shop)).toBe("offered 7 9");
    expect(goesTo(await shop.order())).toBe("8");
    const relisted = await sync(shop, "acme", [entry("7")]);
    expect([relisted.updated, relisted.returned, relisted.unchanged]).toEqual([[], [], 1]);
    expect(await stateOf(shop)).toBe("offered 9");
    expect(goesTo(await shop.order())).toBe("7");
    const audited = await shop.store.query(
      "SELECT action FROM audit WHERE subject = 'likes' AND action <> 'route.put' ORDER BY seq",
    );
    expect(audited.map(({ action }) => action)).toEqual([
      "service.create",
      "service.deactivate",
      "service.update",
    ]);
    await shop.store.close();
  });

  test("orders never move to a delisted route, and leave one at once", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
    const { orderId, createdAt: now } = await shop.order();
    await sync(shop, "bulk", []);
    const refused = {
      outcome: "refused",
      cause: "Incorrect service ID",
      outOfFunds: false,
    } as const;
    const attempt = async (providerId: number) => {
      const started = await shop.start(orderId, SERVER, now, providerId);
      if (!started.send) throw new Error("not sent");
      const { attemptId } = started;
      const input = { orderId, attemptId, placeRetryMs: RETRY_MS, backoffMs: 1000 };
      return (await shop.run("finishAttempt", { ...input, result: refused }, now)).order;
    };
    expect(goesTo(await attempt(1))).toBe("9");
    expect(await attempt(3)).toMatchObject({
      status: "FAILED",
      delivery: { placement: "refused" },
    });
    await shop.store.close();
  });

  test("an entry that cannot be read, and a sync of other services, delist no route", async () => {
    const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
    const options = { markup: "0", newServices: "ignore" } as const;
    const planned = (more: object, ...upstream: object[]) =>
      shop.store.read((reader) =>
        planCatalogue(reader, requireProvider(reader, "bulk"), upstream as never, {
          ...options,
          ...more,
        }),
      );
    const odd = { service: "8", unreadable: "no rate" };
    expect((await planned({}, entry(OTHER), odd)).routes).toEqual([]);
    expect((await planned({ only: [OTHER] }, entry(OTHER))).routes).toEqual([]);
    expect((await planned({}, entry(OTHER))).routes).toHaveLength(1);
    await shop.store.close();
  });

  test("a service is offered exactly while the operator wants it and a listed route of an active provider exists, whatever changes", async () => {
    for (const seed of [1, 2, 3]) {
      const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
      const random = randomFrom(seed);
      const model = { isWanted: true };
      for (let step = 0; step < 60; step += 1) {
        const what = await chore(shop, random, model);
        expect([seed, step, what, await offered(shop)]).toEqual([
          seed,
          step,
          what,
          model.isWanted && (await hasOpenRoute(shop)),
        ]);
      }
      await shop.store.close();
    }
  });
});

const PROVIDERS = ["acme", "bulk", "core"];
const SERVICES = ["7", "8", "9", "10"];

/** Something random; what was refused has changed nothing. Returns what it was. */
async function chore(
  shop: StoreShop,
  random: Random,
  model: { isWanted: boolean },
): Promise<string> {
  const below = (limit: number) => Math.floor(random() * limit);
  const provider = PROVIDERS[below(3)]!;
  const providerService = SERVICES[below(4)]!;
  const route = { id: "likes", provider, providerService, actor };
  const active = below(2) === 0;
  const done = (refused: Promise<unknown>) =>
    refused.then(
      () => true,
      (error: unknown) => {
        if (error instanceof Refusal) return false;
        throw error;
      },
    );
  switch (below(6)) {
    case 0:
    case 1: {
      const listed = SERVICES.filter(() => below(2) === 0);
      if (
        !(await done(
          sync(
            shop,
            provider,
            listed.map((each) => entry(each)),
          ),
        ))
      )
        return "no sync";
      const marked = await shop.store
        .query(`SELECT provider_service AS route, route_delisted AS delisted FROM services
          JOIN providers USING (provider_id) WHERE id = 'likes' AND providers.name = '${provider}'
        UNION ALL SELECT provider_service, delisted FROM service_routes
          JOIN providers USING (provider_id) WHERE providers.name = '${provider}'`);
      for (const { route: id, delisted } of marked) {
        expect([id, Number(delisted)]).toEqual([id, listed.includes(String(id)) ? 0 : 1]);
      }
      return `sync of ${provider}: ${listed.join()}`;
    }
    case 2:
      await shop.run("setProviderActive", { name: provider, active, actor });
      return `${provider} ${active}`;
    case 3:
      await done(shop.run("putRoute", { ...route, priority: below(3) }));
      return `put ${provider} ${providerService}`;
    case 4: {
      const [routes] = await shop.store.query("SELECT count(*) AS further FROM service_routes");
      if (Number(routes!["further"]) > 0) await done(shop.run("removeRoute", route));
      return `remove ${provider} ${providerService}`;
    }
    default:
      if (await done(shop.run("setServiceActive", { id: "likes", active, actor }))) {
        model.isWanted = active;
      }
      return `service ${active}`;
  }
}

async function offered(shop: StoreShop): Promise<boolean> {
  const [row] = await shop.store.query("SELECT active FROM services WHERE id = 'likes'");
  return Number(row!["active"]) === 1;
}

async function hasOpenRoute(shop: StoreShop): Promise<boolean> {
  const open = await shop.store.query(`SELECT 1 FROM (
      SELECT provider_id, route_delisted AS delisted FROM services WHERE id = 'likes'
      UNION ALL SELECT provider_id, delisted FROM service_routes
    ) AS routes JOIN providers USING (provider_id) WHERE delisted = 0 AND providers.active = 1`);
  return open.length > 0;
}

describe.each(ENGINES)("a drip-feed on %s", (engine) => {
  async function openFed() {
    const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
    await shop.run("updateService", { id: "likes", changes: { dripfeed: true }, actor });
    return shop;
  }
  const place = (shop: StoreShop, given?: { runs: number; interval: number }) =>
    shop.store.query("SELECT id, reseller_account AS account FROM keys").then(([key]) =>
      shop.run("placeOrder", {
        resellerAccount: Number(key!["account"]),
        keyId: String(key!["id"]),
        service: "likes",
        link: "https://example.com/a",
        quantity: 100,
        ...(given && { given }),
      }),
    );
  const refuse = async (shop: StoreShop, orderId: number, providerId: number) => {
    const started = await shop.start(orderId, SERVER, undefined, providerId);
    if (!started.send) return started;
    const { attemptId } = started;
    const result = { outcome: "refused", cause: "no", outOfFunds: false } as const;
    const input = { orderId, attemptId, result, placeRetryMs: RETRY_MS, backoffMs: 0 };
    await shop.run("finishAttempt", input);
    return started;
  };
  const RUNS = { runs: 3, interval: 5 };

  test("skips a route whose provider lists no drip-feed, recorded as a refusal without a call", async () => {
    const shop = await openFed();
    await sync(shop, "bulk", [entry("8")]);
    await sync(shop, "core", [entry("9", true)]);
    const { orderId } = await place(shop, RUNS);
    expect((await refuse(shop, orderId, 1)).send).toBe(true);
    expect(await shop.start(orderId, SERVER, undefined, 2)).toMatchObject({
      send: false,
      isGivenUp: false,
      passedTo: "core",
    });
    const attempts = await shop.store.read((reader) => listAttempts(reader, orderId));
    expect(attempts.map(({ outcome, providerService }) => `${outcome} ${providerService}`)).toEqual(
      ["refused 7", "refused 8"],
    );
    expect(attempts[1]!.cause).toBe(
      "not sent: the provider's list says the service has no drip-feed",
    );
    expect((await shop.start(orderId, SERVER, undefined, 3)).send).toBe(true);
    // An order without runs goes there.
    const { orderId: plain } = await place(shop);
    await refuse(shop, plain, 1);
    expect((await shop.start(plain, SERVER, undefined, 2)).send).toBe(true);
    await shop.store.close();
  });

  test("that no route can serve fails and is refunded; a route without that information is tried", async () => {
    const shop = await openFed();
    const { orderId } = await place(shop, RUNS);
    await sync(shop, "core", [entry("9")]);
    await refuse(shop, orderId, 1);
    expect((await refuse(shop, orderId, 2)).send).toBe(true);
    expect(await shop.start(orderId, SERVER, undefined, 3)).toMatchObject({
      send: false,
      passedTo: null,
      order: { status: "FAILED", delivery: { placement: "refused" } },
    });
    expect(await shop.state(orderId)).toMatchObject({ status: "FAILED", balance: 100_000_000 });
    await shop.store.close();
  });

  test("is sent to the service's own provider only while the operator marks it as having drip-feed", async () => {
    const shop = await openFed();
    await sync(shop, "acme", [entry("7")]);
    const byHand = await place(shop, RUNS);
    expect((await shop.start(byHand.orderId, SERVER, undefined, 1)).send).toBe(true);
    const waiting = await place(shop, RUNS);
    await shop.run("updateService", { id: "likes", changes: { dripfeed: false }, actor });
    expect(await shop.start(waiting.orderId, SERVER, undefined, 1)).toMatchObject({
      send: false,
      passedTo: "bulk",
    });
    await shop.store.close();
  });
});

describe.each(ENGINES)("a request to cancel on %s", (engine) => {
  test.each([
    ["refused", { outcome: "refused", cause: "no", outOfFunds: false }],
    ["not sent", { outcome: "not_sent", cause: "HTTP 429" }],
  ] as const)(
    "that came while the order was being sent cancels it once it was %s: no other provider is asked",
    async (_, result) => {
      const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
      await shop.run("updateService", { id: "likes", changes: { cancel: true }, actor });
      const { orderId } = await shop.order();
      const started = await shop.start(orderId, SERVER);
      if (!started.send) throw new Error("not sent");
      const [key] = await shop.store.query("SELECT id, reseller_account AS account FROM keys");
      const asked = { resellerAccount: Number(key!["account"]), keyId: String(key!["id"]) };
      const made = await shop.run("makeRequest", { ...asked, kind: "cancel", id: String(orderId) });
      expect(made.state).toBe("requested");
      const { attemptId } = started;
      const input = { orderId, attemptId, result, placeRetryMs: RETRY_MS, backoffMs: 0 };
      const finished = await shop.run("finishAttempt", input);
      expect(finished).toMatchObject({
        passedTo: null,
        late: null,
        order: { status: "CANCELLED" },
      });
      // Stored twice, it changes nothing.
      await shop.run("finishAttempt", input);
      expect(await shop.state(orderId)).toEqual({
        status: "CANCELLED",
        placement: "queued",
        balance: 100_000_000,
      });
      for (const providerId of [1, 2, 3]) {
        expect((await shop.start(orderId, SERVER, undefined, providerId)).send).toBe(false);
      }
      const [request] = await shop.store.query("SELECT state FROM order_requests");
      expect(request).toEqual({ state: "done" });
      await shop.store.close();
    },
  );
});
