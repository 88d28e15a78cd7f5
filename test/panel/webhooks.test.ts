// Webhooks in the panel: where they fail is seen, why, and what can be done.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { findWebhook } from "../../src/db/webhooks.ts";
import { formatSecret } from "../../src/domain/webhooks.ts";
import { ALL_EVENTS } from "../../src/domain/webhook-events.ts";
import { openPanelMarket, type PanelMarket } from "../support/panel-market.ts";

const SECRET = formatSecret(new Uint8Array(32).fill(7));
const ANSWER = "<script>alert(1)</script>\u202e";

let market: PanelMarket;
let id: string;
let path: string;

beforeAll(async () => {
  market = await openPanelMarket("operator");
  ({ id } = market.run("createWebhook", {
    username: "alice",
    url: "https://shop.example/hooks?a=<b>",
    events: ALL_EVENTS,
    balanceLowBelow: null,
    secret: SECRET,
  }));
  path = `/webhooks/${id}`;
});
afterAll(() => market.stop());

const webhook = () => market.read((reader) => findWebhook(reader, id))!;
const waiting = () =>
  market.query("SELECT * FROM webhook_deliveries WHERE due_at IS NOT NULL").length;

/** Something happens that it is told of. */
function completeOrder(): void {
  market.run("transitionOrder", { id: String(market.order()), to: "COMPLETED", note: null });
}

/** What is due is sent and fails. */
function fail(httpStatus: number): void {
  const due = { server: "a".repeat(24), limit: 10, perEndpoint: 10 };
  const attempts = market.run("takeDueWebhookDeliveries", due).map(({ deliveryId, attempt }) => ({
    deliveryId,
    attempt,
    at: Date.now(),
    durationMs: 12,
    httpStatus,
    error: "http_status",
    response: ANSWER,
    retryAfterSeconds: null,
  }));
  expect(attempts.length).toBe(1);
  market.run("recordWebhookAttempts", { attempts, jitter: 0 });
}

test("one that fails is seen where one looks, and shows what it answers as text", async () => {
  completeOrder();
  fail(503);
  const user = await market.get("/users/alice");
  expect(user.text).toContain(`<a href="${path}">`);
  expect(user.text).toContain(">failing<");
  const { status, text } = await market.get(path);
  expect([status, text]).toEqual([200, expect.stringContaining("&lt;script>alert(1)")]);
  expect(text).toContain("&lt;U+202E>");
  expect(text).toContain(">503<");
  expect(text).not.toContain(SECRET);
});

test("one that was disabled because it failed needs attention, and is enabled again", async () => {
  completeOrder();
  fail(410);
  expect(webhook()).toMatchObject({ active: false, disabledReason: "gone" });
  const { text } = await market.get("/");
  expect(text).toContain("A webhook of alice failed and is disabled");
  expect(text).toContain('href="/users/alice#webhooks"');
  expect((await market.get("/users/alice")).text).toContain('id="webhooks"');
  await market.post(`${path}/enable`, { replay: "yes" });
  expect(webhook()).toMatchObject({ active: true, failures: 0 });
  expect((await market.get("/")).text).not.toContain("A webhook of alice");
});

test("it is tried, disabled, and what failed is sent once more, by panel:NAME", async () => {
  const before = waiting();
  expect((await market.post(`${path}/test`)).status).toBe(303);
  expect(waiting()).toBe(before + 1);
  await market.post(`${path}/disable`);
  expect(webhook()).toMatchObject({ active: false, disabledReason: "operator" });
  const wrong = await market.post(`${path}/replay`, { hours: "9999" });
  expect([wrong.status, wrong.text]).toEqual([
    422,
    expect.stringContaining("hours must be one of"),
  ]);
  expect((await market.post(`${path}/replay`, { hours: "336" })).status).toBe(303);
  const { text } = await market.get(`/audit?subject=${id}`);
  expect(text).toContain("panel:tester");
});

test("one that is not there is 404, for its page and its changes", async () => {
  expect((await market.get("/webhooks/nothing")).status).toBe(404);
  expect((await market.post("/webhooks/nothing/test")).status).toBe(404);
});
