// What a provider charges, over real HTTP on both sides: an order's cost, exact to the micro, which no reseller ever sees.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { parseNetwork } from "../../../src/config/networks.ts";
import { findCost, listCosts } from "../../../src/db/delivery/costs.ts";
import { formatMicros } from "../../../src/domain/ledger/money.ts";
import { reseller } from "../../support/worlds/shop.ts";
import { askSmmApi } from "../../support/http/smm-client.ts";
import { openService, type TestService } from "../../support/worlds/service.ts";
import { PROVIDER_KEY, startUpstream, type Upstream } from "../../support/peers/upstream.ts";
import { OK, type Receiver, startReceiver } from "../../support/peers/webhook-receiver.ts";
import { until } from "../../support/until.ts";

let upstream: Upstream;
let receiver: Receiver;
let market: TestService;
let key: string;

beforeAll(async () => {
  upstream = await startUpstream();
  receiver = await startReceiver(OK);
  market = await openService({
    settings: {
      placeWait: 6e4,
      pollInterval: 50,
      webhookAllowHttp: true,
      webhookAllow: [parseNetwork("127.0.0.0/8")!],
    },
  });
  market.user("anna", "1000");
  key = market.key("anna", "full").text;
  const { url } = upstream;
  for (const [name, rateToUsd] of [
    ["acme", "1"],
    ["rupee", "0.87654321"],
  ] as const) {
    market.run("createProvider", { name, protocol: "smm-api", url, key: PROVIDER_KEY, rateToUsd });
    market.service({ id: name, price: "20", provider: { name, service: "7" } });
  }
});

afterAll(async () => {
  await market.stop();
  await upstream.stop();
  await receiver.stop();
});

async function place(service: string): Promise<number> {
  const body = { service, link: "https://example.com/x", quantity: 1000 };
  const { body: answer } = await market.call("POST", "/orders", key, body);
  expect(answer.order.status).toBe("PROCESSING");
  return answer.order.orderId as number;
}

/** What the provider says of the order placed last from now on. */
function report(entry: object): void {
  const [, last] = [...upstream.book].at(-1)!;
  last.status = { start_count: "0", remains: "0", ...entry };
}

/** Matches random ids and times: an id may contain any of the words, a time such as 10:00:05.735 any of the amounts. */
const IDS_AND_TIMES = /\b[a-z][a-z0-9]{23}\b|\b\d{4}-\d\d-\d\dT[\d:.]+Z/g;

const costOf = (orderId: number) => market.read((reader) => findCost(reader, orderId));
const isCost = (orderId: number, dollars: string) =>
  until(() => {
    const cost = costOf(orderId);
    return cost !== null && formatMicros(cost.costMicros) === dollars;
  }, `order ${orderId} costs ${dollars}`);

test("the cost follows the reported charge, also after the order's end", async () => {
  const orderId = await place("acme");
  report({ status: "In progress", charge: "0.27819" });
  await isCost(orderId, "0.27819");
  report({ status: "Partial", remains: "400", charge: 0.166_914, currency: "USD" });
  await isCost(orderId, "0.166914");
  report({ status: "Canceled", charge: "0.00000000" });
  await isCost(orderId, "0");
  const changes = market.read((reader) => listCosts(reader, orderId));
  expect(changes.map(({ amount, changeMicros }) => [amount, changeMicros])).toEqual([
    ["0.27819", 278_190],
    ["0.166914", -111_276],
    ["0", -166_914],
  ]);
  const [row] = market.query<{ status: string }>(
    "SELECT status FROM orders WHERE order_id = ?",
    orderId,
  );
  expect(row!.status).toBe("PARTIAL");
});

test("an invalid charge leaves the cost unchanged", async () => {
  const orderId = await place("acme");
  report({ status: "In progress", charge: "1.5" });
  await isCost(orderId, "1.5");
  report({ status: "In progress", charge: "-1", remains: "7" });
  await until(() => {
    const [row] = market.query("SELECT 1 FROM orders WHERE order_id = ? AND remains = 7", orderId);
    return row !== undefined;
  });
  expect(formatMicros(costOf(orderId)!.costMicros)).toBe("1.5");
  report({ status: "Completed", charge: "2.0000001" });
  await isCost(orderId, "2.000001");
});

describe("a reseller", () => {
  test("sees no cost in any response, statement, webhook or panel", async () => {
    const hook = { url: `http://127.0.0.1:${receiver.port}/`, events: ["*"] };
    const { body: created } = await market.call("POST", "/webhooks", key, hook);
    const orderId = await place("rupee");
    report({ status: "In progress", charge: "7.654321", currency: "INR" });
    await isCost(orderId, "6.709344");
    report({ status: "Partial", remains: "300", charge: "6.543217", currency: "INR" });
    await isCost(orderId, "5.735413");
    await until(() => receiver.received.some(({ body }) => body.includes("order.partial")));
    const texts = receiver.received.map(({ head, body }) => head + body);
    for (const path of [
      "/services",
      "/orders",
      `/orders/${orderId}`,
      "/balance",
      "/transactions",
      "/user?username=anna",
      "/webhooks",
      `/webhooks/${created.webhook.id}/deliveries`,
    ]) {
      texts.push((await market.call("GET", path, key)).text);
    }
    const csv = await fetch(`${market.url}/api/v1/transactions`, {
      headers: { "x-api-key": key, accept: "text/csv" },
    });
    texts.push(await csv.text());
    for (const form of [
      { action: "services" },
      { action: "balance" },
      { action: "status", order: String(orderId) },
    ]) {
      texts.push((await askSmmApi(market.url, { key, ...(form as Record<string, string>) })).text);
    }
    for (const text of texts) {
      expect(text.replaceAll(IDS_AND_TIMES, "")).not.toMatch(
        /cost|margin|rate_?to_?usd|7\.654321|6\.543217|6\.709|5\.735|INR/i,
      );
    }
    expect(texts.length).toBeGreaterThan(12);
  });
});

test("the operator sees the cost in `order show`, with how it was calculated", async () => {
  const [row] = market.query<{ orderId: number }>(
    `SELECT order_id AS "orderId" FROM orders WHERE service_id = 'rupee'`,
  );
  const argv = ["admin", "order", "show", String(row!.orderId)];
  const { data, database } = market.location;
  const where = ["--data", data, ...(database ? ["--database", database] : [])];
  const { json } = await reseller(...argv, "--json", ...where);
  expect(json).toMatchObject({
    cost: 5.735413,
    costBasis: "charge",
    providerCharge: "6.543217",
    providerCurrency: "INR",
  });
  const notes = json.timeline.filter(({ what }: { what: string }) => what === "cost");
  expect(notes.map(({ note }: { note: string }) => note)).toEqual([
    "6.709344 USD, as charged: 7.654321 INR at 0.87654321",
    "5.735413 USD, as charged: 6.543217 INR at 0.87654321",
  ]);
  const [provider] = market.query("SELECT currency FROM providers WHERE name = 'rupee'");
  expect(provider).toEqual({ currency: "INR" });
});
