// POST /orders for a service with several providers, over real HTTP on both sides: docs/specification/delivery.md#delivery-routes.

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { openService, type TestService } from "../../support/worlds/service.ts";
import { reseller } from "../../support/worlds/shop.ts";
import {
  json,
  PROVIDER_KEY,
  type Reply,
  startUpstream,
  type Upstream,
} from "../../support/peers/upstream.ts";
import { until } from "../../support/until.ts";

/** The providers of the service, in the order in which they are tried, with its id there. */
const ROUTES = [
  ["acme", "7001"],
  ["bulk", "8002"],
  ["core", "9003"],
] as const;
const REFUSALS: Reply[] = [
  json({ error: "Incorrect service ID" }),
  json({ error: "neworder.error.not_enough_funds" }, 402),
];
/** However slow the machine is, what comes of an order is known before its response. */
const NEVER_MS = 600_000;
const BUSY = json({ error: "Too many requests" }, 429);

const upstreams = new Map<string, Upstream>();
let market: TestService;
let key: string;

beforeAll(async () => {
  market = await openService({
    settings: {
      placeWait: NEVER_MS,
      providerTimeout: NEVER_MS,
      pollInterval: 200,
    },
  });
  market.user("anna", "1000");
  key = market.key("anna", "full").text;
  for (const [name, service] of ROUTES) {
    const upstream = await startUpstream();
    upstreams.set(name, upstream);
    const { url } = upstream;
    market.run("createProvider", { name, protocol: "smm-api", url, key: PROVIDER_KEY });
    if (name === "acme") market.service({ id: "likes", price: "2", provider: { name, service } });
    else {
      const route = { id: "likes", provider: name, providerService: service, priority: null };
      market.run("putRoute", route);
    }
  }
});

beforeEach(() => {
  for (const upstream of upstreams.values()) upstream.always("add", null);
});

afterAll(async () => {
  await market.stop();
  for (const upstream of upstreams.values()) await upstream.stop();
});

const replies = (name: string, reply: Reply) => upstreams.get(name)!.always("add", reply);

let links = 0;
const newOrder = () => ({
  service: "likes",
  link: `https://example.com/${++links}`,
  quantity: 100,
});

/** The services under which each provider was sent the order, in the order of ROUTES. */
const sentFor = (link: string) =>
  ROUTES.map(([name]) =>
    upstreams
      .get(name)!
      .adds()
      .filter((form) => form["link"] === link)
      .map((form) => form["service"]),
  );

/** What the database holds of an order. */
function rowOf(orderId: number) {
  const [row] = market.query<{ status: string; placement: string; name: string }>(
    "SELECT status, placement, name FROM orders JOIN providers USING (provider_id) WHERE order_id = ?",
    orderId,
  );
  return row!;
}

async function timelineOf(orderId: number) {
  const options = Object.entries(market.location).flatMap(([name, value]) => [`--${name}`, value!]);
  const { json: shown } = await reseller(
    "admin",
    "order",
    "show",
    String(orderId),
    "--json",
    ...options,
  );
  const entries = shown.timeline as { what: string; provider: string | null }[];
  return entries
    .filter(({ provider }) => provider)
    .map(({ what, provider }) => `${what} ${provider}`);
}

test.each(REFUSALS)(
  "after a refusal the next provider is tried within one request (%#)",
  async (refusal) => {
    replies("acme", refusal);
    const answer = await market.call("POST", "/orders", key, newOrder());
    expect([answer.status, answer.body.order.status]).toEqual([200, "PROCESSING"]);
    const { orderId, link } = answer.body.order;
    expect(sentFor(link)).toEqual([["7001"], ["8002"], []]);
    expect(await timelineOf(orderId)).toEqual([
      "sending acme",
      "refused acme",
      "sending bulk",
      "accepted bulk",
    ]);
  },
);

test("after busy and unreachable providers the next one is tried within one request", async () => {
  replies("acme", BUSY);
  await upstreams.get("bulk")!.down();
  const answer = await market.call("POST", "/orders", key, newOrder());
  await upstreams.get("bulk")!.up();
  expect([answer.status, answer.body.order.status]).toEqual([200, "PROCESSING"]);
  const { orderId, link } = answer.body.order;
  expect(sentFor(link)).toEqual([["7001"], [], ["9003"]]);
  expect(await timelineOf(orderId)).toEqual([
    "sending acme",
    "not_sent acme",
    "sending bulk",
    "not_sent bulk",
    "sending core",
    "accepted core",
  ]);
  const accepted = upstreams.get("core")!.book;
  [...accepted.values()].at(-1)!.status = { status: "Completed", start_count: "1", remains: "0" };
  await until(() => rowOf(orderId).status === "COMPLETED");
});

test("after no reply no other provider is tried: the order is unknown, and PENDING for the caller", async () => {
  replies("acme", REFUSALS[0]!);
  replies("bulk", "reset");
  const answer = await market.call("POST", "/orders", key, newOrder());
  expect([answer.status, answer.body.order.status]).toEqual([200, "PENDING"]);
  const { orderId, link } = answer.body.order;
  expect(sentFor(link)).toEqual([["7001"], ["8002"], []]);
  expect(await timelineOf(orderId)).toEqual([
    "sending acme",
    "refused acme",
    "sending bulk",
    "unknown bulk",
  ]);
});

test("an order that all providers refuse is a 502 with its refund, was sent to each once, and names no provider", async () => {
  const before = market.balance("anna");
  for (const [name] of ROUTES) replies(name, json({ error: `no such service at ${name}` }));
  const answer = await market.call("POST", "/orders", key, newOrder());
  expect(answer.status).toBe(502);
  const { id, orderId, link } = answer.body.order;
  expect(answer.body.order.status).toBe("FAILED");
  expect(market.balance("anna")).toBe(before);
  expect(sentFor(link)).toEqual([["7001"], ["8002"], ["9003"]]);
  // No response to a reseller names a provider or a provider service.
  for (const path of [
    `/orders/${id}`,
    `/orders/${orderId}`,
    "/orders",
    "/services",
    "/transactions",
  ]) {
    const { text } = await market.call("GET", path, key);
    expect(text).not.toMatch(/acme|bulk|core|7001|8002|9003|no such service|provider|route/i);
  }
  expect(answer.text).not.toMatch(/acme|bulk|core|7001|8002|9003|no such service/);
});

test("busy and unreachable providers are tried again after a pause, until one takes the order", async () => {
  // Each of them once, so that it is the second round that succeeds, whenever that comes.
  for (const [name] of ROUTES) upstreams.get(name)!.next("add", BUSY);
  const answer = await market.call("POST", "/orders", key, newOrder());
  expect([answer.status, answer.body.order.status]).toEqual([200, "PENDING"]);
  const { orderId, link } = answer.body.order;
  await until(() => rowOf(orderId).status === "PROCESSING");
  const sent = sentFor(link).map((services) => services.length);
  expect(sent.reduce((sum, count) => sum + count)).toBe(4);
  expect(sent).toEqual([2, 1, 1]);
});

test("a deactivated provider is skipped, and the orders that it has are still polled", async () => {
  const place = async () => (await market.call("POST", "/orders", key, newOrder())).body.order;
  /** A server takes a change of its providers over within a second: the first order that it sends there. */
  const firstAt = async (name: string): Promise<number> => {
    const { orderId, status } = await place();
    expect(status).toBe("PROCESSING");
    return rowOf(orderId).name === name ? orderId : firstAt(name);
  };
  const placed = await firstAt("acme");
  market.run("setProviderActive", { name: "acme", active: false });
  expect(await timelineOf(await firstAt("bulk"))).toEqual(["sending bulk", "accepted bulk"]);
  for (const entry of upstreams.get("acme")!.book.values()) {
    entry.status = { status: "Completed", start_count: "1", remains: "0" };
  }
  await until(() => rowOf(placed).status === "COMPLETED");
  market.run("setProviderActive", { name: "acme", active: true });
  await firstAt("acme");
});
