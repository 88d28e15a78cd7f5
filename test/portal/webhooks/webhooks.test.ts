// Webhooks in the portal: through the operations of the API's endpoints, for the webhooks of the member's reseller only.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { memberAuthor } from "../../../src/domain/members/members.ts";
import { LANGUAGES } from "../../../src/domain/members/languages.ts";
import { formatAttemptId, WEBHOOK_OUTCOMES } from "../../../src/domain/webhooks/webhooks.ts";
import { createTexts } from "../../../src/portal/texts/texts.ts";
import { hiddenFields } from "../../support/worlds/panel.ts";
import { openPortal, type TestPortal } from "../../support/worlds/portal.ts";

let portal: TestPortal;
let [developer, spaniard] = ["", ""];
let developerId = "";
let [id, path] = ["", ""];

beforeAll(async () => {
  portal = await openPortal();
  for (const name of ["alice", "bob"]) portal.user(name, "100");
  developerId = portal.member("alice", "dev@alice.example", "developer");
  developer = portal.session(developerId);
  spaniard = portal.session(portal.member("alice", "es@alice.example", "owner", "es"));
});
afterAll(() => portal.stop());

const URL_GIVEN = "https://hooks.example/a";
const rowOf = () => portal.query("SELECT * FROM webhooks WHERE id = ?", id)[0]!;
const secretIn = (text: string) => /<pre id="key">(whsec_[^<]+)<\/pre>/.exec(text)?.[1];
const waiting = () =>
  portal.query(
    "SELECT type FROM webhook_deliveries JOIN webhook_events USING (event_id) WHERE state = 'waiting'",
  );
const form = (fields: Record<string, string>, events: readonly string[]) =>
  new URLSearchParams([...Object.entries(fields), ...events.map((each) => ["events", each])]);

test("a webhook's address is checked as the API checks it, and errors are in the member's language", async () => {
  for (const url of [
    "http://hooks.example/",
    "https://127.0.0.1/",
    "https://a:b@hooks.example/",
    "https://hooks.example/#x",
  ]) {
    const { status, text } = await portal.post("/api/webhooks", spaniard, form({ url }, ["*"]));
    expect([url, status]).toEqual([url, 422]);
    expect(text).toMatch(/id="api-webhooks-url-error">Introduzca una dirección https pública/);
  }
  const none = await portal.post("/api/webhooks", developer, { url: URL_GIVEN });
  expect(none.text).toContain("Choose at least one event");
  const unknown = form({ url: URL_GIVEN, threshold: "-1" }, ["webhook.test"]);
  expect((await portal.post("/api/webhooks", developer, unknown)).status).toBe(422);
  expect(portal.query("SELECT id FROM webhooks")).toEqual([]);
});

test("a webhook is the member's reseller's, and its secret is shown once", async () => {
  const fields = form({ url: URL_GIVEN, threshold: "10" }, ["order.completed", "balance.low"]);
  const { text } = await portal.post("/api/webhooks", developer, fields);
  const secret = secretIn(text)!;
  id = String(portal.query("SELECT id FROM webhooks")[0]!["id"]);
  path = `/api/webhooks/${id}`;
  const [alice] = portal.query("SELECT account FROM users WHERE username = 'alice'");
  expect(rowOf()).toMatchObject({
    reseller_account: alice!["account"],
    url: URL_GIVEN,
    secret,
    events: "order.completed,balance.low",
    balance_low_below: 10_000_000,
  });
  for (const page of ["/api", path]) {
    const shown = (await portal.get(page, developer)).text;
    expect(shown).toContain(URL_GIVEN);
    expect(shown).not.toContain(secret);
  }
  const [entry] = portal.query("SELECT operator FROM audit WHERE action = 'webhook.create'");
  expect(entry!["operator"]).toBe(memberAuthor(developerId));
});

test("its terms are changed, and its secret is replaced", async () => {
  const changed = form({ url: "https://hooks.example/b", threshold: "" }, ["*"]);
  expect((await portal.post(path, developer, changed)).status).toBe(303);
  expect(rowOf()).toMatchObject({
    url: "https://hooks.example/b",
    events: "*",
    balance_low_below: null,
  });
  const before = rowOf()["secret"];
  const rotated = await portal.post(`${path}/rotate`, developer, { grace: "24" });
  expect(rowOf()).toMatchObject({ secret: secretIn(rotated.text), previous_secret: before });
});

test("it is switched off by its owner and on again", async () => {
  await portal.post(`${path}/disable`, developer);
  expect(rowOf()).toMatchObject({ active: 0, disabled_reason: "owner" });
  expect((await portal.get(path, developer)).text).toContain("Off: by you");
  await portal.post(`${path}/enable`, developer);
  expect(rowOf()).toMatchObject({ active: 1, disabled_reason: null });
});

test("a test event is sent, its attempt is shown, and it is sent again", async () => {
  await portal.post(`${path}/test`, developer);
  expect(waiting()).toEqual([{ type: "webhook.test" }]);
  const server = "s".repeat(24);
  const [due] = portal.run("takeDueWebhookDeliveries", { server, limit: 9, perEndpoint: 9 });
  const reply = {
    httpStatus: 500,
    error: "status",
    response: "<b>no</b>",
    retryAfterSeconds: null,
  };
  const attempts = [{ ...due!, at: portal.clock.now, durationMs: 12, ...reply }];
  portal.run("recordWebhookAttempts", { attempts, jitter: 0 });
  const { text } = await portal.get(path, developer);
  expect(text).toContain("500 · Refused by your server");
  expect(text).toContain("&lt;b>no&lt;/b>");
  expect(waiting()).toEqual([]);
  const [event] = portal.query("SELECT id FROM webhook_events");
  const delivery = formatAttemptId(String(event!["id"]), due!.attempt);
  expect(text).toContain(`value="${delivery}"`);
  const again = await portal.post(`${path}/replay`, developer, { delivery });
  expect(again.status).toBe(303);
  expect(waiting()).toEqual([{ type: "webhook.test" }]);
  const none = await portal.post(`${path}/replay`, developer, { delivery: "x" });
  expect([none.status, none.text.includes("Delivery not found")]).toEqual([422, true]);
  const old = await portal.post(`${path}/replay`, developer, { since: "2020-01-01" });
  expect([old.status, old.text.includes("At most 14 days ago")]).toEqual([422, true]);
  const today = new Date(portal.clock.now).toISOString().slice(0, 10);
  expect((await portal.post(`${path}/replay`, developer, { since: today })).status).toBe(303);
});

test("a member of another reseller, or without the role, changes no webhook", async () => {
  const bob = portal.member("bob", "owner@bob.example");
  const viewer = portal.member("alice", "viewer@alice.example", "viewer");
  const before = portal.query("SELECT * FROM webhooks");
  for (const member of [bob, viewer]) {
    const actor = { keyId: null, operator: memberAuthor(member) };
    const changes: (() => unknown)[] = [
      () => portal.run("updateWebhook", { id, changes: { url: "https://evil.example/" }, actor }),
      () => portal.run("rotateWebhook", { id, secret: "whsec_x", graceMs: 0, actor }),
      () => portal.run("disableWebhook", { id, actor }),
      () => portal.run("enableWebhook", { id, replay: true, actor }),
      () => portal.run("testWebhook", { id, actor }),
      () => portal.run("deleteWebhook", { id, actor }),
    ];
    for (const change of changes) expect(change).toThrow(/webhook_not_found|member_not_allowed/);
  }
  expect(portal.query("SELECT * FROM webhooks")).toEqual(before);
});

test("it is deleted after a question", async () => {
  const asked = await portal.post(`${path}/delete`, developer);
  expect(rowOf()["deleted_at"]).toBeNull();
  expect(asked.text).toContain("Nothing more is sent there");
  await portal.post(`${path}/delete`, developer, hiddenFields(asked.text));
  expect(rowOf()["deleted_at"]).not.toBeNull();
  expect((await portal.get(path, developer)).status).toBe(404);
});

test("every outcome of a delivery is said in the member's language", async () => {
  const hook = { username: "alice", url: "https://other.example/", events: "*", secret: "s" };
  const made = portal.run("createWebhook", { ...hook, balanceLowBelow: null });
  for (const error of WEBHOOK_OUTCOMES) {
    portal.run("testWebhook", { id: made.id });
    portal.query(
      `INSERT INTO webhook_attempts (seq, delivery_id, webhook_id, attempt, at, duration_ms, http_status, error)
        SELECT (SELECT coalesce(max(seq), 0) + 1 FROM webhook_attempts), max(delivery_id), ${made.webhookId}, 1, 0, 5, 500, ?
        FROM webhook_deliveries`,
      error === "delivered" ? null : error,
    );
  }
  for (const language of LANGUAGES) {
    const email = `${language.toLowerCase()}.outcomes@alice.example`;
    const cookie = portal.session(portal.member("alice", email, "developer", language));
    const { text } = await portal.get(`/api/webhooks/${made.id}`, cookie);
    const badges = [...text.matchAll(/<span class="badge (?:good|bad)">500 · ([^<]+)<\/span>/g)];
    const own = createTexts()[language];
    const expected = WEBHOOK_OUTCOMES.map((outcome) => own(`outcome.${outcome}`));
    expect([language, badges.map(([, each]) => each!)]).toEqual([language, expected.toReversed()]);
  }
});
