// POST /orders for a service with a provider, over real HTTP on both sides: docs/specification/delivery.md#delivery.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { expectError } from "../../support/http/refusal.ts";
import { openService, type TestService } from "../../support/worlds/service.ts";
import {
  json,
  PROVIDER_KEY,
  type Reply,
  startUpstream,
  type Upstream,
} from "../../support/peers/upstream.ts";
import { until } from "../../support/until.ts";

let upstream: Upstream;
/** No wait of its ends within a test: what answers there did not wait for it. */
let market: TestService;
let key: string;
/** Its requests hardly wait for a provider. */
let hasty: TestService;
let hastyKey: string;

const NEVER_MS = 600_000;
/** An order that was not sent: where a machine is slow it may be tried again already. */
const WAITING = ["queued", "sending"];

async function openMarket(placeWait: number, providerTimeout: number) {
  // Replies of every kind come here: most of them would pause the provider.
  const terms = { placeWait, providerTimeout, providerPauseAfter: 0 };
  const opened = await openService({ settings: { ...terms, pollInterval: 200 } });
  opened.user("anna", "1000");
  const { url } = upstream;
  opened.run("createProvider", { name: "acme", protocol: "smm-api", url, key: PROVIDER_KEY });
  opened.service({ id: "likes", price: "2", provider: { name: "acme", service: "7" } });
  return { opened, key: opened.key("anna", "full").text };
}

beforeAll(async () => {
  upstream = await startUpstream();
  ({ opened: market, key } = await openMarket(NEVER_MS, NEVER_MS));
  ({ opened: hasty, key: hastyKey } = await openMarket(50, NEVER_MS));
});

afterEach(() => {
  upstream.always("add", null);
  upstream.always("status", null);
});

afterAll(async () => {
  await upstream.stop();
  await market.stop();
  await hasty.stop();
});

let links = 0;
function order(quantity = 100) {
  links += 1;
  return { service: "likes", link: `https://example.com/${links}`, quantity };
}

function placementOf(orderId: number, of = market): string {
  const [row] = of.query<{ placement: string }>(
    "SELECT placement FROM orders WHERE order_id = ?",
    orderId,
  );
  return row!.placement;
}

async function statusOf(orderId: number): Promise<string> {
  const answer = await market.call("GET", `/orders/${orderId}`, key);
  return answer.body.order.status;
}

const sentFor = (link: string) => upstream.adds().filter((form) => form["link"] === link).length;

test("an order that is accepted is PROCESSING in its own response and was sent once, as the protocol says", async () => {
  const body = order();
  const before = market.balance("anna");
  const answer = await market.call("POST", "/orders", key, body);
  expect(answer.status).toBe(200);
  expect(answer.body.order.status).toBe("PROCESSING");
  expect(Object.keys(answer.body.order)).toEqual([
    "id", "orderId", "service", "link", "quantity", "charge", "status", "createdAt",
  ]); // prettier-ignore
  expect(upstream.adds().at(-1)).toEqual({
    key: PROVIDER_KEY,
    action: "add",
    service: "7",
    link: body.link,
    quantity: "100",
  });
  expect(sentFor(body.link)).toBe(1);
  expect(before - market.balance("anna")).toBe(200_000);
});

test("a refused order is a 502 with the order, FAILED and refunded, without the provider's text", async () => {
  const before = market.balance("anna");
  upstream.next("add", json({ error: `Incorrect link for ${PROVIDER_KEY}` }));
  const answer = await market.call("POST", "/orders", key, order());
  expect(answer.status).toBe(502);
  expectError(answer, 502, "The provider refused the order; the charge was refunded", {
    order: expect.objectContaining({ status: "FAILED", charge: 0.2, quantity: 100 }),
  });
  expect(answer.text).not.toContain("Incorrect");
  expect(answer.text).not.toContain(PROVIDER_KEY);
  expect(market.balance("anna")).toBe(before);
  expect(placementOf(answer.body.order.orderId)).toBe("refused");
});

const NUMBERS: [what: string, reply: Reply, placement: string][] = [
  ["a number", json({ order: 501 }), "placed"],
  ["text of a number", json({ order: "502" }), "placed"],
  ["a success beside it", json({ status: "success", order: 503 }), "placed"],
  ["a null error", json({ order: 504, error: null }), "placed"],
  ["a 4xx", json({ order: 505 }, 404), "placed"],
  ["an error with a 4xx", json({ error: "Incorrect quantity" }, 400), "refused"],
  ["an untranslated error", json({ error: "neworder.error.not_enough_funds" }), "refused"],
  ["an error and a null order", json({ error: "Incorrect link", order: null }), "refused"],
  ["both", json({ error: "Try again", order: 32 }), "unknown"],
  ["an empty error beside an order", json({ error: "", order: 33 }), "unknown"],
  ["neither", json({ status: "success" }), "unknown"],
  ["order 0", json({ order: 0 }), "unknown"],
  ["a negative order", json({ order: -4 }), "unknown"],
  ["a broken number", json({ order: 1.5 }), "unknown"],
  ["a number past 2^53", { body: '{"order":90071992547409931234}' }, "unknown"],
  ["text that is no number", json({ order: "ok" }), "unknown"],
  ["an object for an order", json({ order: { id: 5 } }), "unknown"],
  ["true for an order", json({ order: true }), "unknown"],
  ["an empty error", json({ error: "" }), "unknown"],
  ["an error that is no text", json({ error: 5 }), "unknown"],
  ["a list", json([{ order: 5 }]), "unknown"],
  ["a bare string", json("Incorrect link"), "unknown"],
  ["null", json(null), "unknown"],
  ["bad JSON", { body: '{"order":12' }, "unknown"],
  ["nothing", { body: "" }, "unknown"],
  ["a page", { body: "<html>Just a moment…</html>" }, "unknown"],
  ["bytes that are no UTF-8", { body: "\u00ff\u00fe" }, "unknown"],
  ["a 500 with an order", json({ order: 12 }, 500), "unknown"],
  ["a 503 page", { status: 503, body: "busy" }, "unknown"],
  ["a redirect", { status: 302, body: "", headers: { location: "/elsewhere" } }, "unknown"],
  ["a redirect with an order", json({ order: 14 }, 307), "unknown"],
  ["more than 64 KiB", { body: JSON.stringify({ order: 12, pad: "x".repeat(1 << 16) }) }, "unknown"],
  ["a reset", "reset", "unknown"],
  ["a reply that is cut off", "cut", "unknown"],
]; // prettier-ignore

describe("the outcome of a reply:", () => {
  for (const [what, reply, placement] of NUMBERS) {
    test(`${what} is ${placement}, and was sent once`, async () => {
      const before = market.balance("anna");
      const body = order();
      upstream.next("add", reply);
      const answer = await market.call("POST", "/orders", key, body);
      const { orderId } = answer.body.order;
      const statuses = { placed: [200, "PROCESSING"], refused: [502, "FAILED"] } as const;
      const expected = statuses[placement as keyof typeof statuses] ?? [200, "PENDING"];
      expect([answer.status, answer.body.order.status]).toEqual([...expected]);
      expect(placementOf(orderId)).toBe(placement);
      expect(before - market.balance("anna")).toBe(placement === "refused" ? 0 : 200_000);
      expect(sentFor(body.link)).toBe(1);
    });
  }
});

test("a reply slower than --place-wait gives 200 PENDING, and the delivery continues", async () => {
  upstream.always("add", "hang");
  const answer = await hasty.call("POST", "/orders", hastyKey, order());
  expect([answer.status, answer.body.order.status]).toEqual([200, "PENDING"]);
  const { orderId, link } = answer.body.order;
  await until(() => sentFor(link) === 1);
  expect(placementOf(orderId, hasty)).toBe("sending");
  // Another order goes through meanwhile; this one is not in the queue any more.
  upstream.always("add", null);
  const next = await hasty.call("POST", "/orders", hastyKey, order());
  const other = next.body.order.orderId;
  await until(() => placementOf(other, hasty) === "placed");
  expect(placementOf(orderId, hasty)).toBe("sending");
  await upstream.down();
  await until(() => placementOf(orderId, hasty) === "unknown");
  await upstream.up();
  expect(sentFor(link)).toBe(1);
});

test("a reply slower than --provider-timeout is unknown, gives 200 PENDING and is not sent again", async () => {
  const { opened, key: ownKey } = await openMarket(NEVER_MS, 1000);
  upstream.always("add", "hang");
  const answer = await opened.call("POST", "/orders", ownKey, order());
  expect([answer.status, answer.body.order.status]).toEqual([200, "PENDING"]);
  const { orderId, link } = answer.body.order;
  expect(placementOf(orderId, opened)).toBe("unknown");
  await until(() => sentFor(link) === 1);
  upstream.always("add", null);
  await opened.stop();
  expect(sentFor(link)).toBe(1);
});

test("a provider that is down gives 200 PENDING at once; the order is sent once it is back", async () => {
  await upstream.down();
  const answer = await market.call("POST", "/orders", key, order());
  expect([answer.status, answer.body.order.status]).toEqual([200, "PENDING"]);
  const { orderId, link } = answer.body.order;
  expect(WAITING).toContain(placementOf(orderId));
  await upstream.up();
  await until(() => placementOf(orderId) === "placed");
  expect(await statusOf(orderId)).toBe("PROCESSING");
  expect(sentFor(link)).toBe(1);
});

test.each<[what: string, reply: Reply]>([
  ["an order number", json({ order: 601 }, 429)],
  ["an error", json({ error: "Too many requests" }, 429)],
  ["a page", { status: 429, body: "<html>slow down</html>", headers: { "retry-after": "1" } }],
])("HTTP 429 with %s gives 200 PENDING at once; the order is sent again", async (_, reply) => {
  const before = market.balance("anna");
  const body = order();
  upstream.always("add", reply);
  const answer = await market.call("POST", "/orders", key, body);
  expect([answer.status, answer.body.order.status]).toEqual([200, "PENDING"]);
  const { orderId } = answer.body.order;
  expect(WAITING).toContain(placementOf(orderId));
  upstream.always("add", null);
  await until(() => placementOf(orderId) === "placed");
  expect(await statusOf(orderId)).toBe("PROCESSING");
  const outcomes = market.query(
    "SELECT outcome FROM attempts WHERE order_id = ? ORDER BY attempt_id",
    orderId,
  );
  expect([outcomes[0], outcomes.at(-1)]).toEqual([
    { outcome: "not_sent" },
    { outcome: "accepted" },
  ]);
  expect(sentFor(body.link)).toBe(outcomes.length);
  expect(before - market.balance("anna")).toBe(200_000);
});

test("with an Idempotency-Key a retry gets the first response, 502 included, and sends nothing", async () => {
  const headers = { "idempotency-key": "once" };
  const body = order();
  upstream.next("add", json({ error: "Incorrect link" }));
  const first = await market.call("POST", "/orders", key, body, headers);
  const again = await market.call("POST", "/orders", key, body, headers);
  expect([first.status, again.status, again.text]).toEqual([502, 502, first.text]);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(sentFor(body.link)).toBe(1);
  // Duplicates that come while the first still waits for the provider wait with it.
  const late = order();
  upstream.next("add", "hang");
  const keyed = { "idempotency-key": "late" };
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => hasty.call("POST", "/orders", hastyKey, late, keyed)),
  );
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect([answers[0]!.status, answers[0]!.body.order.status]).toEqual([200, "PENDING"]);
  await until(() => sentFor(late.link) > 0);
  expect(sentFor(late.link)).toBe(1);
});

test("a slow provider delays neither another one's orders, nor manual ones, nor reads", async () => {
  const slow = await startUpstream();
  slow.always("add", "hang");
  const { url } = slow;
  market.run("createProvider", { name: "slow", protocol: "smm-api", url, key: PROVIDER_KEY });
  market.service({ id: "slow-likes", price: "2", provider: { name: "slow", service: "1" } });
  market.service({ id: "manual", price: "2" });
  const place = (service: string) => market.call("POST", "/orders", key, { ...order(), service });
  const stuck = Array.from({ length: 40 }, () => place("slow-likes"));
  await until(() => slow.adds().length === 32);
  const answers = await Promise.all([
    place("likes"),
    place("manual"),
    market.call("GET", "/balance", key),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(answers[0]!.body.order.status).toBe("PROCESSING");
  expect(slow.adds().length).toBe(32);
  await slow.stop();
  for (const answer of await Promise.all(stuck)) expect(answer.body.order.status).toBe("PENDING");
});

test("a reported status changes the order's state and refunds what the state table says", async () => {
  const before = market.balance("anna");
  const answer = await market.call("POST", "/orders", key, order(1000));
  const { orderId, link } = answer.body.order;
  const entry = [...upstream.book.values()].find(({ form }) => form["link"] === link)!;
  entry.status = {
    status: "Partial",
    start_count: "3572",
    remains: "157",
    charge: "0.27",
    currency: "USD",
  };
  const isPartial = () => market.balance("anna") === before - 2_000_000 + 314_000;
  await until(isPartial);
  const read = await market.call("GET", `/orders/${orderId}`, key);
  expect(read.body.order).toMatchObject({
    status: "PARTIAL",
    startCount: 3572,
    remains: 157,
    charge: 2,
  });
  // A late change is listed and never paid.
  entry.status = { status: "Canceled", remains: "1000" };
  const late = () => market.query("SELECT 1 FROM late_reports WHERE order_id = ?", orderId);
  await until(() => late().length === 1);
  expect(isPartial()).toBe(true);
});
