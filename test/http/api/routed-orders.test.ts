// Orders of every type that their first provider does not take, over real HTTP on all sides: what the next one is sent, where
// requests for them go, what they cost, and that a reseller is told of none of that.

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { parseNetwork } from "../../../src/config/networks.ts";
import { findCost } from "../../../src/db/delivery/costs.ts";
import { formatMicros } from "../../../src/domain/ledger/money.ts";
import { reseller } from "../../support/worlds/shop.ts";
import { askSmmApi } from "../../support/http/smm-client.ts";
import { openService, type TestService } from "../../support/worlds/service.ts";
import { OPERATOR } from "../../support/databases/test-database.ts";
import { json, PROVIDER_KEY, startUpstream, type Upstream } from "../../support/peers/upstream.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import { OK, type Receiver, startReceiver } from "../../support/peers/webhook-receiver.ts";
import { until } from "../../support/until.ts";

let acme: Upstream;
let bulk: Upstream;
let receiver: Receiver;
let market: TestService;
let key: string;
let links = 0;

beforeAll(async () => {
  [acme, bulk] = [await startUpstream(), await startUpstream()];
  receiver = await startReceiver(OK);
  const network = parseNetwork("127.0.0.0/8")!;
  const webhooks = { webhookAllowHttp: true, webhookAllow: [network] };
  market = await openService({ settings: { placeWait: 6e4, pollInterval: 50, ...webhooks } });
  market.user("anna", "1000");
  key = market.key("anna", "full").text;
  const hook = { url: `http://127.0.0.1:${receiver.port}/`, events: ["*"] };
  expect((await market.call("POST", "/webhooks", key, hook)).status).toBe(200);
  const protocol = "smm-api";
  const provider = { protocol, key: PROVIDER_KEY };
  market.run("createProvider", { name: "acme", ...provider, url: acme.url });
  const rupees = { rateToUsd: "0.5", currency: "INR" };
  market.run("createProvider", { name: "bulk", ...provider, url: bulk.url, ...rupees });
  const wishes = { cancel: true, refill: true, min: 1 };
  const routed = (id: string, fields: object) => {
    market.service({ id, ...wishes, ...fields, provider: { name: "acme", service: "7001" } });
    market.run("putRoute", { id, provider: "bulk", providerService: "8002", priority: null });
  };
  routed("comments", { type: "custom_comments", price: "300" });
  routed("package", { type: "package", per: "order", price: "3", min: 500, max: 500 });
  routed("drip", { dripfeed: true, price: "2" });
  market.run("setDiscount", { username: "anna", discountPpm: 100_000, actor: OPERATOR });
});

beforeEach(() => {
  acme.always("add", json({ error: "no such service at acme" }));
  bulk.always("add", null);
});

afterAll(async () => {
  await market.stop();
  for (const each of [acme, bulk, receiver]) await each.stop();
});

async function place(service: string, fields: object) {
  const body = { service, link: `https://example.com/${++links}`, ...fields };
  const answer = await market.call("POST", "/orders", key, body);
  expect(answer.status).toBe(200);
  return answer.body.order as { orderId: number; status: string; charge: number };
}

const sent = (upstream: Upstream, action: string) =>
  upstream.received.filter((form) => form["action"] === action);

function requestOf(orderId: number) {
  const [row] = market.query<{ state: string; name: string | null }>(
    `SELECT state, name FROM order_requests LEFT JOIN providers USING (provider_id)
    WHERE order_id = ? ORDER BY request_id DESC LIMIT 1`,
    orderId,
  );
  return `${row!.state} ${row!.name}`;
}

const costOf = (orderId: number) => {
  const cost = market.read((reader) => findCost(reader, orderId));
  return cost && formatMicros(cost.costMicros);
};

/** What bulk says of the order that it was sent last. */
function report(status: object): void {
  [...bulk.book.values()].at(-1)!.status = { start_count: "0", remains: "0", ...status };
}

test.each([
  ["comments", { comments: "one\n\ntwo" }, { comments: "one\ntwo" }, 0.54],
  ["package", {}, {}, 2.7],
  [
    "drip",
    { quantity: 100, runs: 3, interval: 5 },
    { quantity: "100", runs: "3", interval: "5" },
    0.54,
  ],
] as const)(
  "%s: the next route gets the same order as the first, and the reseller is charged once, less its discount",
  async (service, fields, form, charge) => {
    const before = market.balance("anna");
    const order = await place(service, fields);
    expect(order).toMatchObject({ status: "PROCESSING", charge });
    expect(before - market.balance("anna")).toBe(Math.round(charge * 1e6));
    const [at, next] = [acme, bulk].map((upstream) => sent(upstream, "add").at(-1)!);
    const { link } = at!;
    const same = { key: PROVIDER_KEY, action: "add", link: link!, ...form };
    expect(at).toEqual({ ...same, service: "7001" });
    expect(next).toEqual({ ...same, service: "8002" });
    report({ status: "Completed", charge: "0.7" });
    await until(() => costOf(order.orderId) === "0.35");
  },
);

test("a package with more remaining than was ordered stays unchanged and free until its provider reports a possible value", async () => {
  const { orderId } = await place("package", {});
  const before = market.balance("anna");
  report({ status: "Partial", remains: "501" });
  const polls = () => sent(bulk, "status").length;
  const asked = polls();
  await until(() => polls() >= asked + 3);
  expect([isStatus(orderId, "PROCESSING"), market.balance("anna")]).toEqual([true, before]);
  // A status of which the count is no part is believed without it.
  report({ status: "In progress", remains: "900", start_count: "12" });
  const read = async () => (await market.call("GET", `/orders/${orderId}`, key)).body.order;
  const started = () =>
    market.query("SELECT 1 FROM orders WHERE order_id = ? AND start_count = 12", orderId);
  await until(() => started().length === 1);
  expect(await read()).toMatchObject({ status: "PROCESSING", remains: 500 });
  report({ status: "Partial", remains: "250" });
  await until(() => isStatus(orderId, "PARTIAL"));
  expect(market.balance("anna") - before).toBe(1_350_000);
});

test("a drip-feed is not sent to a provider service without drip-feed: the order is refused and refunded", async () => {
  const entry = { service: 8002, name: "Drip", type: "Default", rate: "1", min: 1, max: 10_000 };
  bulk.services = [entry];
  await sync("bulk");
  const before = market.balance("anna");
  const { length } = sent(bulk, "add");
  const body = { service: "drip", link: "https://example.com/fed", quantity: 10 };
  const fed = await market.call("POST", "/orders", key, { ...body, runs: 2, interval: 1 });
  expect([fed.status, fed.body.order.status]).toEqual([502, "FAILED"]);
  expect([market.balance("anna"), sent(bulk, "add").length]).toEqual([before, length]);
  await place("drip", { quantity: 10 });
  expect(sent(bulk, "add")).toHaveLength(length + 1);
  bulk.services = [{ ...entry, dripfeed: true }];
  await sync("bulk");
  await place("drip", { quantity: 10, runs: 2, interval: 1 });
  expect(sent(bulk, "add")).toHaveLength(length + 2);
});

/** As the command does it. */
async function sync(name: string): Promise<void> {
  const options = Object.entries(market.location).flatMap(([flag, value]) => [`--${flag}`, value!]);
  const argv = ["admin", "provider", "sync", name, "--markup", "0%", "--only", "8002", ...options];
  expect((await reseller(...argv)).code).toBe(0);
}

test("a request goes only to the provider that took the order", async () => {
  const { orderId } = await place("comments", { comments: "a\nb" });
  bulk.next("cancel", json({ error: "not cancelled by bulk" }));
  await market.call("POST", `/orders/${orderId}/cancel`, key);
  await until(() => requestOf(orderId) === "declined bulk");
  report({ status: "Partial", remains: "1" });
  await until(() => isStatus(orderId, "PARTIAL"));
  await market.call("POST", `/orders/${orderId}/refill`, key);
  await until(() => requestOf(orderId) === "accepted bulk");
  expect(["cancel", "refill"].map((action) => sent(acme, action).length)).toEqual([0, 0]);
  expect(["cancel", "refill"].map((action) => sent(bulk, action).length)).toEqual([1, 1]);
});

const isStatus = (orderId: number, status: string): boolean =>
  market.query("SELECT 1 FROM orders WHERE order_id = ? AND status = ?", orderId, status).length >
  0;

test("an order whose second route is busy is cancelled on request, also while it is tried there again, and refunded once", async () => {
  const before = market.balance("anna");
  bulk.always("add", json({ error: "busy" }, 429));
  const { orderId, status } = await place("drip", { quantity: 10, runs: 2, interval: 1 });
  expect(status).toBe("PENDING");
  const { body } = await market.call("POST", `/orders/${orderId}/cancel`, key);
  expect(body.status).toBe("success");
  await until(() => isStatus(orderId, "CANCELLED"));
  expect(market.balance("anna")).toBe(before);
  const { body: listed } = await market.call("GET", `/orders/${orderId}/requests`, key);
  expect(listed.requests).toMatchObject([{ id: body.request.id, state: "done" }]);
  bulk.always("add", null);
  const { length } = sent(bulk, "add");
  await place("package", {});
  expect(sent(bulk, "add")).toHaveLength(length + 1);
});

test("nothing that a reseller can read names a provider, a service there, its reasons, costs or currency", async () => {
  const texts: string[] = [];
  const [last] = market.query<{ id: number }>("SELECT max(order_id) AS id FROM order_requests");
  for (const path of [
    "/orders",
    `/orders/${last!.id}`,
    `/orders/${last!.id}/requests`,
    "/services",
    "/services?fields=all",
    "/services/changes?since=0",
    "/transactions",
    "/webhooks",
    "/balance",
  ]) {
    const answer = await market.call("GET", path, key);
    expect(answer.status).toBe(200);
    texts.push(answer.text);
  }
  const forms: Record<string, string>[] = [
    { action: "services" },
    { action: "status", order: String(last!.id) },
    { action: "refill_status", refill: "2" },
    { action: "cancel", order: String(last!.id) },
  ];
  for (const form of forms) texts.push((await askSmmApi(market.url, { key, ...form })).text);
  for (const path of ["/docs", "/api/v1/openapi.json"]) {
    texts.push(await (await fetch(market.url + path)).text());
  }
  await until(() => receiver.received.some(({ body }) => body.includes("order.partial")));
  texts.push(...receiver.received.map(({ head, body }) => head + body));
  for (const text of texts) {
    expect(text).not.toMatch(
      /acme|\bbulk\b|\b7001\b|\b8002\b|no such service|not cancelled by|"INR"|cost_/i,
    );
  }
  expect(await verifyStore(market)).toEqual([]);
});
