// Two servers in a chain: the shop has the maker as its provider, by the adapter that it has for any other. Whatever
// becomes of an order at the maker becomes of it at the shop, and both sides agree about the money.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connectProvider } from "../../../src/providers/protocols.ts";
import { freshDatabase, OPERATOR } from "../../support/databases/test-database.ts";
import { openService, startTestService, type TestService } from "../../support/worlds/service.ts";
import { smmClientOf } from "../../support/http/smm-client.ts";
import { startUpstream, json, PROVIDER_KEY, type Upstream } from "../../support/peers/upstream.ts";
import { until } from "../../support/until.ts";

const PRICE_AT_MAKER = "1.5";
const PRICE_AT_SHOP = "3";
const QUANTITY = 1000;
/** No call is given up however slow the machine is: without a reply nobody would know the outcome. */
const NEVER_MS = 600_000;
const SETTINGS = { pollInterval: 200, providerTimeout: NEVER_MS, placeWait: 2000 };
/** Settings of the shop, whose responses wait for the maker. The maker responds before its own provider does. */
const WAITING_SETTINGS = { ...SETTINGS, placeWait: NEVER_MS };

let last: Upstream;
let maker: TestService;
let shop: TestService;
let shopKey: string;
let makerKey: string;

beforeAll(async () => {
  last = await startUpstream();
  maker = await openService({ settings: SETTINGS });
  maker.user("shop", "1000");
  makerKey = maker.key("shop", "order").text;
  const asked = { cancel: true, refill: true };
  maker.service({ id: "by-hand", price: PRICE_AT_MAKER, min: 10, max: 10_000, ...asked });
  maker.run("createProvider", {
    name: "last",
    protocol: "smm-api",
    url: last.url,
    key: PROVIDER_KEY,
  });
  maker.service({ id: "passed-on", price: "1", provider: { name: "last", service: "7" } });
  shop = await openService({ settings: WAITING_SETTINGS });
  shop.user("anna", "100000");
  shopKey = shop.key("anna", "full").text;
  // With a slash at its end, which no redirect may take away.
  addMaker("maker", makerKey, `${maker.url}/api/v2/`);
  const fromMaker = { price: PRICE_AT_SHOP, provider: { name: "maker", service: "1" } };
  shop.service({ id: "s1", ...fromMaker, ...asked });
  shop.service({ id: "s2", price: PRICE_AT_SHOP, provider: { name: "maker", service: "2" } });
});

afterAll(async () => {
  await shop.stop();
  await maker.stop();
  await last.stop();
});

function addMaker(name: string, key: string, url = `${maker.url}/api/v2`): void {
  shop.run("createProvider", { name, protocol: "smm-api", url, key });
}

let links = 0;
const place = async (service = "s1", quantity = QUANTITY) => {
  const link = `https://example.com/${(links += 1)}`;
  const answer = await shop.call("POST", "/orders", shopKey, { service, link, quantity });
  return { answer, link, order: answer.body.order as { orderId: number; status: string } };
};

const orderAtShop = (orderId: number) =>
  shop.query<{ status: string; remains: number; charge: number; refunded: number; start: number }>(
    `SELECT status, remains, charge_micros AS charge, refunded_micros AS refunded, start_count AS start
    FROM orders WHERE order_id = ?`,
    orderId,
  )[0]!;

/** The order at the maker with that link. */
const atMaker = (link: string) =>
  maker.query<{ id: number; status: string; charge: number; refunded: number }>(
    `SELECT order_id AS id, status, charge_micros AS charge, refunded_micros AS refunded
    FROM orders WHERE link = ?`,
    link,
  );

const transition = (
  link: string,
  to: "COMPLETED" | "PARTIAL" | "FAILED" | "CANCELLED" | "REFUNDED",
  remains?: number,
) => {
  const [order] = atMaker(link);
  const of = remains === undefined ? {} : { remains };
  maker.run("transitionOrder", { id: String(order!.id), to, ...of, note: null, actor: OPERATOR });
};

const becomes = (orderId: number, status: string) =>
  until(() => orderAtShop(orderId).status === status, `order ${orderId} is ${status}`);

describe("an order is accepted, and", () => {
  test("is PROCESSING at both, once, and the shop has the maker's counts", async () => {
    const { answer, link, order } = await place();
    expect([answer.status, order.status]).toEqual([200, "PROCESSING"]);
    expect(atMaker(link)).toEqual([
      { id: expect.any(Number), status: "PROCESSING", charge: 1_500_000, refunded: 0 },
    ]);
    maker.run("progressOrder", {
      id: String(atMaker(link)[0]!.id),
      startCount: 3572,
      remains: 157,
      actor: OPERATOR,
    });
    await until(() => orderAtShop(order.orderId).remains === 157);
    expect(orderAtShop(order.orderId)).toMatchObject({ status: "PROCESSING", start: 3572 });
  });

  test.each([
    ["COMPLETED", undefined, "COMPLETED", 0, 0, 0],
    ["PARTIAL", 250, "PARTIAL", 250, 375_000, 750_000],
    ["PARTIAL", 0, "COMPLETED", 0, 0, 0],
    ["CANCELLED", undefined, "CANCELLED", QUANTITY, 1_500_000, 3_000_000],
    ["FAILED", undefined, "CANCELLED", QUANTITY, 1_500_000, 3_000_000],
  ] as const)(
    "%s with %p remaining at the maker is %s at the shop, with the refunds of both",
    async (to, remains, status, remaining, refundAtMaker, refundAtShop) => {
      const [paidBefore, gotBefore] = [maker.balance("shop"), shop.balance("anna")];
      const { link, order } = await place();
      transition(link, to, remains);
      await becomes(order.orderId, status);
      expect(orderAtShop(order.orderId)).toMatchObject({
        remains: remaining,
        refunded: refundAtShop,
      });
      expect(paidBefore - maker.balance("shop")).toBe(1_500_000 - refundAtMaker);
      expect(gotBefore - shop.balance("anna")).toBe(3_000_000 - refundAtShop);
    },
  );

  test("COMPLETED and later REFUNDED at the maker stays COMPLETED at the shop, and is listed as late", async () => {
    const { link, order } = await place();
    transition(link, "COMPLETED");
    await becomes(order.orderId, "COMPLETED");
    transition(link, "REFUNDED");
    const late = () =>
      shop.query("SELECT reported FROM late_reports WHERE order_id = ?", order.orderId);
    await until(() => late().length === 1);
    expect(late()).toEqual([{ reported: "CANCELLED" }]);
    expect(orderAtShop(order.orderId)).toMatchObject({ status: "COMPLETED", refunded: 0 });
  });

  test("PENDING at the maker, which waits for its own provider, is PROCESSING at the shop until that is done", async () => {
    last.always("add", json({ error: "busy" }, 429));
    const { link, order } = await place("s2");
    expect(order.status).toBe("PROCESSING");
    expect(atMaker(link)[0]!.status).toBe("PENDING");
    last.always("add", null);
    await until(() => last.adds().some((form) => form["link"] === link));
    await until(() => atMaker(link)[0]!.status === "PROCESSING");
    for (const entry of last.book.values()) {
      if (entry.form["link"] === link) entry.status = { status: "Completed", remains: "0" };
    }
    await becomes(order.orderId, "COMPLETED");
  });

  test("the maker replies before its own provider does", async () => {
    last.always("add", "hang");
    const { order, link } = await place("s2");
    expect(order.status).toBe("PROCESSING");
    await until(() => last.adds().some((form) => form["link"] === link));
    await last.down();
    await until(() => {
      const [row] = maker.query<{ placement: string }>(
        "SELECT placement FROM orders WHERE link = ?",
        link,
      );
      return row!.placement === "unknown";
    });
    last.always("add", null);
    await last.up();
    // An order that exists is told as it is, and so it stays open at the shop.
    expect(orderAtShop(order.orderId).status).toBe("PROCESSING");
  });
});

describe("an order is refused at the maker, and refunded at the shop,", () => {
  test.each([
    ["below the maker's minimum", "s1", 5],
    ["of a service that the maker does not offer", "gone", QUANTITY],
  ])("%s", async (_, service, quantity) => {
    if (service === "gone") {
      shop.service({ id: "gone", price: "3", provider: { name: "maker", service: "4711" } });
    }
    if (quantity < 10) {
      shop.run("updateService", { id: service, changes: { min: 1 }, actor: OPERATOR });
    }
    const before = shop.balance("anna");
    const { answer, link } = await place(service, quantity);
    expect([answer.status, answer.body.code]).toEqual([502, "provider_refused"]);
    expect(shop.balance("anna")).toBe(before);
    expect(atMaker(link)).toEqual([]);
  });

  test("because the shop has no funds at the maker, and the shop records that reason", async () => {
    maker.user("poor", "0.000001");
    addMaker("poor", maker.key("poor", "order").text);
    shop.service({ id: "s3", price: "3", provider: { name: "poor", service: "1" } });
    const { answer } = await place("s3");
    expect(answer.body.code).toBe("provider_refused");
    const [row] = shop.query<{ since: number | null }>(
      "SELECT out_of_funds_at AS since FROM providers WHERE name = 'poor'",
    );
    expect(row!.since).not.toBeNull();
  });

  test("with a key that the maker ended", async () => {
    const key = maker.key("shop", "order");
    addMaker("ended", key.text);
    shop.service({ id: "s4", price: "3", provider: { name: "ended", service: "1" } });
    maker.run("setKeyActive", { id: key.id, active: false });
    expect((await place("s4")).answer.body.code).toBe("provider_refused");
  });
});

describe("an order is not sent, and tried again,", () => {
  test("while the maker refuses connections, and then placed once", async () => {
    const database = freshDatabase();
    database.user("shop", "10");
    const key = database.key("shop", "order").text;
    database.service({ id: "by-hand", price: PRICE_AT_MAKER });
    const start = (port: number) => startTestService({ ...SETTINGS, ...database.location, port });
    const first = await start(0);
    addMaker("away", key, `${first.url}/api/v2`);
    shop.service({ id: "s5", price: "3", provider: { name: "away", service: "1" } });
    await first.stop();
    const { order, answer } = await place("s5");
    expect([answer.status, order.status]).toEqual([200, "PENDING"]);
    const again = await start(Number(new URL(first.url).port));
    await becomes(order.orderId, "PROCESSING");
    expect(database.query("SELECT order_id FROM orders")).toHaveLength(1);
    await again.stop();
    database.close();
  });

  test("while the maker's rate limit answers 429, and then placed once", async () => {
    const AT_ONCE = 14;
    const limited = await openService({
      settings: {
        ...SETTINGS,
        // The shop's polls take up to four of them.
        rateLimit: { requests: 10, milliseconds: 1000 },
      },
    });
    // Enough for however many orders it takes to meet the limit: without funds they would be refused.
    limited.user("shop", "100000");
    limited.service({ id: "by-hand", price: PRICE_AT_MAKER });
    const { text: limitedKey } = limited.key("shop", "order");
    addMaker("limited", limitedKey, `${limited.url}/api/v2`);
    const ask = smmClientOf(limited.url, limitedKey);
    shop.service({ id: "s6", price: "3", provider: { name: "limited", service: "1" } });
    const turnedAway = () =>
      shop.query("SELECT cause FROM attempts WHERE outcome = 'not_sent' AND cause = 'HTTP 429'");
    const orders: Awaited<ReturnType<typeof place>>[] = [];
    // Where a machine is slow the limit is refilled faster than orders come: calls that cost less use it up.
    while (turnedAway().length === 0) {
      const asking = Array.from({ length: 4 * AT_ONCE }, () => ask("balance"));
      const placing = Array.from({ length: AT_ONCE }, () => place("s6"));
      orders.push(...(await Promise.all(placing)));
      await Promise.all(asking);
    }
    for (const { order } of orders) await becomes(order.orderId, "PROCESSING");
    expect(limited.query("SELECT order_id FROM orders")).toHaveLength(orders.length);
    await limited.stop();
  });
});

test("the reply to an order is lost: it is unknown at the shop, there once at the maker, and settled by its number", async () => {
  const proxy = lossyProxy(maker.url);
  addMaker("lossy", makerKey, `${proxy.url}/api/v2`);
  shop.service({ id: "s7", price: "3", provider: { name: "lossy", service: "1" } });
  const { order, link } = await place("s7");
  expect(order.status).toBe("PENDING");
  expect(atMaker(link)).toHaveLength(1);
  const { id } = atMaker(link)[0]!;
  shop.run("settleOrder", {
    id: String(order.orderId),
    providerOrder: String(id),
  });
  transition(link, "COMPLETED");
  await becomes(order.orderId, "COMPLETED");
  expect(atMaker(link)).toHaveLength(1);
  await proxy.stop();
});

describe("a request goes through both:", () => {
  const ask = (orderId: number, kind: "cancel" | "refill") =>
    shop.call("POST", `/orders/${orderId}/${kind}`, shopKey);
  const stateAtShop = (orderId: number) =>
    shop.query<{ state: string }>(
      "SELECT state FROM order_requests WHERE order_id = ? ORDER BY request_id DESC LIMIT 1",
      orderId,
    )[0]!.state;
  const requestsAtMaker = (link: string) =>
    maker.query<{ id: string; kind: string; state: string }>(
      `SELECT order_requests.id, kind, state FROM order_requests
      JOIN orders ON orders.order_id = order_requests.order_id WHERE link = ?`,
      link,
    );
  const decide = (link: string, decision: "approve" | "decline" | "complete") => {
    const { id } = requestsAtMaker(link)[0]!;
    maker.run("decideRequest", { id, decision, note: null });
  };
  const comesTo = (orderId: number, state: string) =>
    until(() => stateAtShop(orderId) === state, `the request is ${state}`);

  test("a cancellation that the maker approves cancels both orders and refunds both sides", async () => {
    const [paid, got] = [maker.balance("shop"), shop.balance("anna")];
    const { link, order } = await place();
    await ask(order.orderId, "cancel");
    await comesTo(order.orderId, "accepted");
    expect(requestsAtMaker(link)).toMatchObject([{ kind: "cancel", state: "requested" }]);
    expect(got - shop.balance("anna")).toBe(3_000_000);
    decide(link, "approve");
    await becomes(order.orderId, "CANCELLED");
    expect(stateAtShop(order.orderId)).toBe("done");
    expect([maker.balance("shop"), shop.balance("anna")]).toEqual([paid, got]);
  });

  test("a cancellation that the maker refuses is declined, and one that it declines later ends with the order", async () => {
    const { link, order } = await place();
    maker.run("updateService", { id: "by-hand", changes: { cancel: false } });
    await ask(order.orderId, "cancel");
    await comesTo(order.orderId, "declined");
    maker.run("updateService", { id: "by-hand", changes: { cancel: true } });
    await ask(order.orderId, "cancel");
    await comesTo(order.orderId, "accepted");
    decide(link, "decline");
    transition(link, "COMPLETED");
    await becomes(order.orderId, "COMPLETED");
    expect(stateAtShop(order.orderId)).toBe("declined");
  });

  test.each([
    ["complete", "done"],
    ["decline", "declined"],
  ] as const)(
    "a refill that becomes %s at the maker is %s at the shop",
    async (decision, state) => {
      const { link, order } = await place();
      transition(link, "COMPLETED");
      await becomes(order.orderId, "COMPLETED");
      await ask(order.orderId, "refill");
      await comesTo(order.orderId, "accepted");
      decide(link, "approve");
      decide(link, decision);
      await comesTo(order.orderId, state);
      expect(requestsAtMaker(link)).toHaveLength(1);
    },
  );
});

test("the shop's own command line reads the maker's services and balance", async () => {
  const api = connectProvider(
    { protocol: "smm-api", url: `${maker.url}/api/v2`, key: makerKey },
    NEVER_MS,
  );
  const never = new AbortController().signal;
  expect(await api.services(never)).toEqual([
    {
      service: "1",
      name: "Followers",
      category: "Services",
      type: "Default",
      dripfeed: false,
      rate: PRICE_AT_MAKER,
      min: 10,
      max: 10_000,
      cancel: true,
      refill: true,
    },
    expect.objectContaining({ service: "2", rate: "1", cancel: false, refill: false }),
  ]);
  expect(await api.balance(never)).toEqual({
    balance: maker.balance("shop") / 1e6,
    currency: "USD",
  });
});

/** Passes every `add` on, and loses its reply. */
function lossyProxy(target: string) {
  const proxy = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const form = await request.text();
      const headers = { "content-type": request.headers.get("content-type")! };
      const url = new URL(request.url);
      const response = await fetch(target + url.pathname, { method: "POST", body: form, headers });
      const text = await response.text();
      if (new URLSearchParams(form).get("action") === "add") {
        return new Response("<html>Bad gateway</html>", { status: 502 });
      }
      return new Response(text, response);
    },
  });
  return { url: `http://127.0.0.1:${proxy.port}`, stop: () => proxy.stop(true) };
}
