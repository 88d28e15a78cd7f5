// Webhooks on a user's page and on their own: made, changed, tested, rotated, disabled, enabled, replayed and deleted.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { formatAttemptId } from "../../../src/domain/webhooks/webhooks.ts";
import { seedPanelMarket, type PanelMarket } from "../../support/seeds/panel-market.ts";
import { openPanel } from "../../support/worlds/panel.ts";

let market: PanelMarket;
let id: string;
let path: string;

beforeAll(async () => {
  market = seedPanelMarket(await openPanel({ role: "operator" }));
});
afterAll(() => market.stop());

const rowOf = () => market.query("SELECT * FROM webhooks WHERE id = ?", id)[0]!;
const waiting = () =>
  market.query(
    "SELECT type FROM webhook_deliveries JOIN webhook_events USING (event_id) WHERE state = 'waiting'",
  );
const URL_GIVEN = "https://hooks.example/a";

test("a webhook is made with a secret that is shown once, and errors are shown beside their field", async () => {
  const wrong = await market.post("/users/alice/webhooks", {
    url: URL_GIVEN,
    events: "order.nothing",
    threshold: "-1",
  });
  expect(wrong.status).toBe(422);
  expect(wrong.text).toContain("Events must be a list of *, ");
  expect(wrong.text).toContain("Low balance below, USD must be a positive number");
  const http = await market.post("/users/alice/webhooks", { url: "http://hooks.example/" });
  expect([http.status, http.text]).toEqual([
    422,
    expect.stringContaining("Address must be an https URL"),
  ]);
  expect(market.query("SELECT id FROM webhooks")).toEqual([]);

  const made = await market.post("/users/alice/webhooks", {
    url: URL_GIVEN,
    events: "order.completed, balance.low",
    threshold: "10",
  });
  const [, secret] = /<pre id="key">(whsec_[^<]+)<\/pre>/.exec(made.text)!;
  [id] = market.query("SELECT id FROM webhooks").map((row) => String(row["id"])) as [string];
  path = `/users/alice/webhooks/${id}`;
  expect(rowOf()).toMatchObject({
    url: URL_GIVEN,
    secret,
    events: "order.completed,balance.low",
    balance_low_below: 10_000_000,
  });
  for (const page of ["/users/alice", path]) {
    const { text } = await market.get(page);
    expect(text).toContain(URL_GIVEN);
    expect(text).not.toContain(secret!);
  }
  const child = await market.post("/users/kid/webhooks", { url: URL_GIVEN });
  expect(child.text).toContain("A child user cannot hold a webhook");
});

test("a webhook is changed, and the end of an order is an event for it", async () => {
  const changed = await market.post(path, {
    url: URL_GIVEN,
    events: "order.completed",
    threshold: "",
  });
  expect(changed.status).toBe(303);
  expect(rowOf()).toMatchObject({ events: "order.completed", balance_low_below: null });
  const order = market.order();
  await market.post(`/orders/${order}/change`, { to: "COMPLETED" });
  expect(market.status(order)).toBe("COMPLETED");
  expect(waiting()).toEqual([{ type: "order.completed" }]);
});

test("a webhook is tested; an attempt is shown and sent again", async () => {
  expect((await market.post(`${path}/test`)).status).toBe(303);
  expect(waiting()).toEqual([{ type: "order.completed" }, { type: "webhook.test" }]);
  const [{ delivery_id: delivery, event_id: event }] = market.query(
    "SELECT delivery_id, event_id FROM webhook_deliveries ORDER BY delivery_id LIMIT 1",
  ) as [Record<string, number>];
  market.query(
    `INSERT INTO webhook_attempts (seq, webhook_id, delivery_id, attempt, at, duration_ms, http_status, error, response)
     SELECT 1, webhook_id, delivery_id, 1, 1, 12, 500, 'status', '<b>broken</b>'
     FROM webhook_deliveries WHERE delivery_id = ?`,
    delivery!,
  );
  market.query(
    "UPDATE webhook_deliveries SET state = 'failed', due_at = NULL WHERE delivery_id = ?",
    delivery!,
  );
  const [{ id: publicId }] = market.query(
    "SELECT id FROM webhook_events WHERE event_id = ?",
    event!,
  ) as [{ id: string }];
  const [{ order_id: order }] = market.query("SELECT order_id FROM orders") as [
    Record<string, number>,
  ];
  expect((await market.get(`/orders/${order}`)).text).toContain(
    `order.completed to ${URL_GIVEN}, attempt 1: 500 status`,
  );
  const { text } = await market.get(path);
  expect(text).toContain("&lt;b>broken&lt;/b>");
  expect(text).toMatch(/badge bad">500 status</);
  const attempt = formatAttemptId(publicId, 1);
  expect(text).toContain(`value="${attempt}"`);
  expect((await market.post(`${path}/replay`, { delivery: attempt })).status).toBe(303);
  expect(waiting().length).toBe(2);
  expect((await market.post(`${path}/replay`, {})).text).toContain("Since is required");
  expect((await market.post(`${path}/replay`, { since: "2020-01-01" })).text).toContain(
    "Since must be at most 14 days ago",
  );
  const since = new Date().toISOString().slice(0, 10);
  expect((await market.post(`${path}/replay`, { since })).status).toBe(303);
});

test("a webhook is rotated, disabled and enabled", async () => {
  const { secret } = rowOf();
  const rotated = await market.post(`${path}/rotate`, { grace: "24" });
  expect(rotated.text).toContain("whsec_");
  expect(rowOf()["previous_secret"]).toBe(secret!);
  await market.post(`${path}/disable`);
  expect(rowOf()).toMatchObject({ active: 0, disabled_reason: "operator" });
  expect((await market.get("/users/alice")).text).toContain("disabled: operator");
  await market.post(`${path}/enable`);
  expect(rowOf()).toMatchObject({ active: 1, disabled_reason: null });
});

test("a webhook belongs to one user, and is deleted after a confirmation", async () => {
  const other = `/users/bob/webhooks/${id}`;
  expect((await market.get(other)).status).toBe(404);
  const refused = await market.post(`${other}/disable`);
  expect([refused.status, rowOf()["active"]]).toEqual([404, 1]);
  const { asked, status } = await market.confirm(`${path}/delete`, {});
  expect(asked).toContain("Nothing more will be sent to");
  expect(status).toBe(303);
  expect((await market.get(path)).status).toBe(404);
  expect((await market.get("/users/alice")).text).toContain("No webhooks yet");
  const [entry] = market.query("SELECT operator, action FROM audit ORDER BY seq DESC LIMIT 1");
  expect(entry).toEqual({ operator: "panel:tester", action: "webhook.delete" });
});
