// A batch whose orders go to a provider: each entry gets the result of a single call.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { openService, type TestService } from "../../support/worlds/service.ts";
import { json, PROVIDER_KEY, startUpstream, type Upstream } from "../../support/peers/upstream.ts";
import { until } from "../../support/until.ts";

/** No wait ends within a test. */
const NEVER_MS = 600_000;

let upstream: Upstream;
let market: TestService;
let key: string;

beforeAll(async () => {
  upstream = await startUpstream();
  market = await openService({
    settings: {
      placeWait: NEVER_MS,
      providerTimeout: NEVER_MS,
      pollInterval: 200,
    },
  });
  market.user("anna", "1000");
  key = market.key("anna", "full").text;
  const { url } = upstream;
  market.run("createProvider", { name: "acme", protocol: "smm-api", url, key: PROVIDER_KEY });
  market.service({ id: "likes", price: "2", provider: { name: "acme", service: "7" } });
  market.service({ id: "manual", price: "2" });
});

afterAll(async () => {
  await market.stop();
  await upstream.stop();
});

const entry = (service: string, link: string) => ({ service, link, quantity: 100 });
const batch = (orders: object[], headers?: Record<string, string>) =>
  market.call("POST", "/orders/batch", key, { orders }, headers);

test("accepted, refused and manual orders are awaited concurrently, and a replay is the same", async () => {
  upstream.next("add", json({ error: `Incorrect link for ${PROVIDER_KEY}` }));
  const before = market.balance("anna");
  const orders = [entry("likes", "1"), entry("manual", "2"), entry("likes", "3")];
  const sent = { "idempotency-key": "batch-1" };
  const { body, text } = await batch(orders, sent);
  const [first, manual, third] = body.results;
  expect(manual).toMatchObject({ status: "success", order: { status: "PROCESSING", link: "2" } });
  // Which of the two is sent first is the provider's lane's affair.
  const [refused, accepted] = first.status === "error" ? [first, third] : [third, first];
  expect(refused).toMatchObject({
    status: "error",
    code: "provider_refused",
    message: "The provider refused the order; the charge was refunded",
    order: { status: "FAILED" },
  });
  expect(accepted).toMatchObject({ status: "success", order: { status: "PROCESSING" } });
  expect([first.order.link, third.order.link]).toEqual(["1", "3"]);
  expect(text).not.toContain("Incorrect");
  expect(before - market.balance("anna")).toBe(400_000);
  const again = await batch(orders, sent);
  expect([again.text, again.headers.get("idempotent-replayed")]).toEqual([text, "true"]);

  const { orderId } = refused.order;
  const lines = await market.call("GET", `/transactions?order=${orderId}`, key);
  expect(lines.body.transactions).toMatchObject([
    { kind: "refund", amount: 0.2, note: null },
    { kind: "order", amount: -0.2, note: null },
  ]);
});

test("the orders of a batch are sent side by side: no provider delays it longer than a single order", async () => {
  upstream.always("add", "hang");
  const sent = () => upstream.adds().filter(({ link }) => link?.startsWith("slow-")).length;
  const orders = Array.from({ length: 5 }, (_, index) => entry("likes", `slow-${index}`));
  const answer = batch(orders);
  await until(() => sent() === 5);
  await upstream.down();
  for (const result of (await answer).body.results) expect(result.order.status).toBe("PENDING");
});
