// Limits of a reseller over HTTP: each exactly at its edge, in both APIs, for replays, and for 32 orders at once; on
// PostgreSQL at two servers.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { OwnLimits } from "../../../src/domain/users/reseller-limits.ts";
import type { Service } from "../../../src/server/serve.ts";
import { ENGINE } from "../../support/databases/engine.ts";
import { type Body, callApi } from "../../support/http/api.ts";
import { openService, startTestService, type TestService } from "../../support/worlds/service.ts";

const CONNECTIONS = 32;
const ALLOWED = 3;
/** The charge of one order of the service `s`: 10 units, in micros and in USD. */
const CHARGE = 10_000_000;

let shop: TestService;
/** The servers of the database. */
let urls: string[];
let second: Service | undefined;
beforeAll(async () => {
  shop = await openService();
  if (ENGINE === "postgres") {
    second = await startTestService({ ...shop.location, server: "second" });
  }
  urls = [shop.url, ...(second ? [second.url] : [])];
  shop.service({ id: "s", price: "1", per: "1", min: 10, max: 100, dripfeed: true });
});
afterAll(async () => {
  await second?.stop();
  await shop.stop();
});

/** Each limit with room for ALLOWED orders, and the refusal of one more. */
const LIMITS = [
  {
    name: "orders-per-minute",
    limits: { ordersPerMinute: ALLOWED },
    status: 429,
    code: "orders_per_minute_exceeded",
    message: /^At most 3 orders a minute; the next minute begins at 20\S+:00\.000Z$/,
    rate: /^"orders-per-minute";r=0;t=(\d+)$/,
    policy: '"orders-per-minute";q=3;qu="orders";w=60',
    words: "Too many orders in a minute",
  },
  {
    name: "spend-per-day",
    limits: { spendPerDayMicros: ALLOWED * CHARGE },
    status: 429,
    code: "spend_limit_exceeded",
    message: /^At most 30 USD may be spent a day; 0 is left until 20\S+T00:00:00\.000Z$/,
    rate: /^"spend-per-day";r=0;t=(\d+)$/,
    policy: '"spend-per-day";q=30000000;qu="micro-usd";w=86400',
    words: "Spend limit reached",
  },
  {
    name: "spend-per-month",
    limits: { spendPerMonthMicros: ALLOWED * CHARGE },
    status: 429,
    code: "spend_limit_exceeded",
    message: /^At most 30 USD may be spent a month; 0 is left until 20\S+-01T00:00:00\.000Z$/,
    rate: /^"spend-per-month";r=0;t=(\d+)$/,
    policy: '"spend-per-month";q=30000000;qu="micro-usd"',
    words: "Spend limit reached",
  },
  {
    name: "open-orders",
    limits: { openOrders: ALLOWED },
    status: 403,
    code: "open_orders_exceeded",
    message: /^At most 3 orders may be open; place more when some have ended$/,
    rate: /^"open-orders";r=0$/,
    policy: '"open-orders";q=3;qu="orders"',
    words: "Too many open orders",
  },
] as const;

const NO_CHANGE: OwnLimits = {
  rateLimit: null,
  ordersPerMinute: null,
  spendPerDayMicros: null,
  spendPerMonthMicros: null,
  openOrders: null,
};

let resellers = 0;
/** A new reseller with a key and limits. */
function limited(limits: Partial<OwnLimits>) {
  const name = `reseller${++resellers}`;
  shop.user(name, "100000");
  shop.run("setLimits", { username: name, changes: { ...NO_CHANGE, ...limits } });
  return { name, key: shop.key(name, "order").text };
}

/** Runs a test's body until it ran within one UTC minute. Each run has resellers of its own. */
async function withinAMinute(run: () => Promise<void>): Promise<void> {
  const minute = () => Math.floor(Date.now() / 60_000);
  for (;;) {
    const begun = minute();
    try {
      await run();
      return;
    } catch (error) {
      if (minute() === begun) throw error;
    }
  }
}

const BODY = { service: "s", link: "https://example.com/a", quantity: 10 };
const place = (key: string, headers?: Record<string, string>, body: object = BODY) =>
  shop.call("POST", "/orders", key, body, headers);

/** Changes limits, and returns a key that obeys them at once: on PostgreSQL servers keep known keys for a second. */
function keyAfter(name: string, changes: Partial<OwnLimits>): string {
  shop.run("setLimits", { username: name, changes });
  return shop.key(name, "order").text;
}

let references = 0;
async function placeByPanel(key: string) {
  const ask = async (fields: Record<string, string>) => {
    const body = new URLSearchParams({ key, ...fields });
    const response = await fetch(`${shop.url}/api/v2`, { method: "POST", body });
    return { status: response.status, body: (await response.json()) as Body };
  };
  const [{ service }] = (await ask({ action: "services" })).body;
  const reference = `r${++references}`;
  const order = { service: String(service), link: BODY.link, quantity: "10", reference };
  return ask({ action: "add", ...order });
}

const ordersOf = (name: string) =>
  Number(
    shop.query<{ n: number }>(
      `SELECT count(*) AS n FROM orders JOIN users ON users.account = orders.reseller_account
        WHERE users.username = '${name}'`,
    )[0]!.n,
  );

describe.each(LIMITS)("$name", ({ name, limits, status, code, message, rate, policy, words }) => {
  test.each([1, 2, 3, 4])(
    "after %i orders, the next is placed if there is room, and otherwise changes nothing",
    (before) =>
      withinAMinute(async () => {
        const { name: reseller, key } = limited(limits);
        for (let placed = 0; placed < Math.min(before, ALLOWED); placed += 1) {
          expect((await place(key)).status).toBe(200);
        }
        const rows = shop.fingerprint();
        const next = await place(key);
        if (before < ALLOWED) {
          expect(next.status).toBe(200);
          expect(ordersOf(reseller)).toBe(before + 1);
          return;
        }
        expect([next.status, next.body.code, next.body.limit]).toEqual([status, code, name]);
        expect(next.body.message).toMatch(message);
        const seconds = rate.exec(next.headers.get("ratelimit")!)?.[1] ?? null;
        expect(next.headers.get("ratelimit")).toMatch(rate);
        expect(next.headers.get("retry-after")).toBe(seconds);
        expect(next.headers.get("ratelimit-policy")).toBe(policy);
        expect(shop.fingerprint()).toBe(rows);
      }),
  );

  test("holds in /api/v2, which keeps the status of a 429", () =>
    withinAMinute(async () => {
      const { key } = limited(limits);
      for (let placed = 0; placed < ALLOWED; placed += 1) {
        expect(await placeByPanel(key)).toEqual({
          status: 200,
          body: { order: expect.any(Number) },
        });
      }
      const refused = await placeByPanel(key);
      expect(refused.status).toBe(status === 429 ? 429 : 200);
      expect(refused.body.error).toBe(words);
    }));

  test("counts each order of a batch, and refuses only those above it", () =>
    withinAMinute(async () => {
      const { name: reseller, key } = limited(limits);
      const orders = Array.from({ length: 5 }, () => BODY);
      const { body } = await shop.call("POST", "/orders/batch", key, { orders });
      const results = body.results as { status: string; code?: string }[];
      expect(results.map((result) => result.code ?? result.status)).toEqual([
        "success",
        "success",
        "success",
        code,
        code,
      ]);
      expect(ordersOf(reseller)).toBe(ALLOWED);
      expect((await place(key)).body.code).toBe(code);
    }));

  test("counts a drip-feed as one order, with the charge of all its runs", () =>
    withinAMinute(async () => {
      const { key } = limited(limits);
      const drip = { ...BODY, runs: ALLOWED, interval: 60 };
      expect((await place(key, {}, drip)).status).toBe(200);
      expect((await place(key)).status).toBe(name.startsWith("spend") ? 429 : 200);
    }));

  test("never refuses a replay, and does not count it", () =>
    withinAMinute(async () => {
      const { name: reseller, key } = limited(limits);
      const once = { "idempotency-key": "k1" };
      const first = await place(key, once);
      const replay = async () => {
        const again = await place(key, once);
        expect([again.status, again.text]).toEqual([200, first.text]);
      };
      for (let replays = 0; replays < 2 * ALLOWED; replays += 1) await replay();
      for (let placed = 1; placed < ALLOWED; placed += 1) {
        expect((await place(key)).status).toBe(200);
      }
      const refused = await place(key, { "idempotency-key": "k2" });
      expect(refused.body.code).toBe(code);
      await replay();
      expect(ordersOf(reseller)).toBe(ALLOWED);
      // The refusal was not stored: with room, the same request is carried out.
      const unlimited = keyAfter(reseller, NO_CHANGE);
      expect((await place(unlimited, { "idempotency-key": "k2" })).status).toBe(200);
    }));

  test("does not refuse the operator, whose orders count", () =>
    withinAMinute(async () => {
      const { name: reseller, key } = limited(limits);
      const byOperator = () =>
        shop.run("placeOrderFor", {
          username: reseller,
          ...BODY,
          chargeMicros: CHARGE,
          reference: null,
          note: null,
          provider: null,
          providerService: null,
        });
      expect((await place(key)).status).toBe(200);
      for (let placed = 0; placed < ALLOWED; placed += 1) byOperator();
      const next = await place(key);
      // Orders a minute limit what keys do.
      if (name === "orders-per-minute") expect(next.status).toBe(200);
      else expect(next.body.code).toBe(code);
      byOperator();
    }));

  test(`lets exactly its number of ${CONNECTIONS} orders through that come at once`, () =>
    withinAMinute(async () => {
      const { name: reseller, key } = limited(limits);
      const answers = await Promise.all(
        Array.from({ length: CONNECTIONS }, (_, index) => {
          const url = urls[index % urls.length]!;
          return callApi(url, "POST", "/orders", key, BODY, { connection: "close" });
        }),
      );
      const codes = answers.map(({ body }) => body.code ?? "placed");
      expect(codes.filter((found) => found === "placed").length).toBe(ALLOWED);
      expect(codes.filter((found) => found === code).length).toBe(CONNECTIONS - ALLOWED);
      expect(ordersOf(reseller)).toBe(ALLOWED);
      expect(shop.balance(reseller)).toBe(100_000 * 1e6 - ALLOWED * CHARGE);
    }));
});

test("an order that ends makes room for another, one for one", async () => {
  const { name, key } = limited({ openOrders: 2 });
  const ids: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    while (ids.length < 2) ids.push((await place(key)).body.order.orderId);
    expect((await place(key)).body.code).toBe("open_orders_exceeded");
    const id = String(ids.shift());
    const to = (["COMPLETED", "CANCELLED", "FAILED"] as const)[round]!;
    shop.run("transitionOrder", { id, to, note: null });
  }
  expect(ordersOf(name)).toBe(4);
});

test("a refund gives the spend of its day back, and never more room than the limit", async () => {
  const { name, key: before } = limited({});
  const old = await place(before);
  const key = keyAfter(name, { spendPerDayMicros: 2 * CHARGE });
  const cancel = (order: typeof old) =>
    shop.run("transitionOrder", {
      id: String(order.body.order.orderId),
      to: "CANCELLED",
      note: null,
    });
  // What was spent before the limit was set counts.
  const second = await place(key);
  expect(second.status).toBe(200);
  expect((await place(key)).body.code).toBe("spend_limit_exceeded");
  cancel(second);
  cancel(old);
  for (let placed = 0; placed < 2; placed += 1) expect((await place(key)).status).toBe(200);
  expect((await place(key)).body.code).toBe("spend_limit_exceeded");
});
