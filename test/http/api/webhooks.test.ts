// The reseller's own webhooks over the API: who may, what is refused, and what is shown.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { parseNetwork } from "../../../src/config/networks.ts";
import { EVENTS_FORM } from "../../../src/domain/webhooks/webhook-events.ts";
import type { Body } from "../../support/http/api.ts";
import { openService, type TestService } from "../../support/worlds/service.ts";
import { expectEventDocumented } from "../../support/http/openapi.ts";
import { OK, type Receiver, startReceiver } from "../../support/peers/webhook-receiver.ts";

let service: TestService;
let receiver: Receiver;
let url: string;
const keys: Record<string, string> = {};

beforeAll(async () => {
  receiver = await startReceiver(OK);
  url = `http://127.0.0.1:${receiver.port}/hook`;
  const webhookAllow = [parseNetwork("127.0.0.0/8")!];
  service = await openService({ settings: { webhookAllow, webhookAllowHttp: true } });
  for (const username of ["alice", "bob"]) {
    service.user(username, "100");
    keys[username] = service.key(username, "order").text;
  }
  service.service({ id: "likes" });
});

afterAll(async () => {
  await service.stop();
  await receiver.stop();
});

const call = (method: string, path: string, body?: unknown, who = "alice") =>
  service.call(method, `/webhooks${path}`, keys[who], body);

async function create(body: object = {}, who = "alice"): Promise<Body> {
  const { status, body: answer } = await call("POST", "", { url, ...body }, who);
  expect([status, answer.status]).toEqual([200, "success"]);
  return answer.webhook as Body;
}

/** Polls until the endpoint has had so many attempts. */
async function deliveries(id: string, count: number): Promise<Body[]> {
  for (;;) {
    const { body } = await call("GET", `/${id}/deliveries`);
    if (body.deliveries.length >= count) return body.deliveries as Body[];
    await Bun.sleep(5);
  }
}

describe("the permission to manage webhooks", () => {
  test.each(["all", "children"] as const)(
    "is not given to a Recharge Key that reaches %s",
    async (reach) => {
      const { text } = service.key("alice", "recharge", reach);
      for (const [method, path] of [
        ["GET", ""],
        ["POST", ""],
        ["GET", "/x"],
        ["PATCH", "/x"],
        ["DELETE", "/x"],
        ["POST", "/x/test"],
        ["POST", "/x/rotate"],
        ["POST", "/x/replay"],
        ["GET", "/x/deliveries"],
      ] as const) {
        const { status, body } = await service.call(method, `/webhooks${path}`, text);
        expect([status, body.message]).toEqual([
          403,
          "This API key does not have webhook permission",
        ]);
      }
    },
  );

  test("another reseller's endpoint is not found and stays unchanged", async () => {
    const { id } = await create({}, "bob");
    const before = (await call("GET", `/${id}`, undefined, "bob")).body;
    for (const [method, path, body] of [
      ["GET", ""],
      ["PATCH", "", { url }],
      ["DELETE", ""],
      ["POST", "/test"],
      ["POST", "/rotate"],
      ["POST", "/replay", { since: new Date().toISOString() }],
      ["GET", "/deliveries"],
    ] as const) {
      const answer = await call(method, `/${id}${path}`, body);
      expect([answer.status, answer.body.message]).toEqual([404, "Webhook not found"]);
    }
    expect((await call("GET", `/${id}`, undefined, "bob")).body).toEqual(before);
    expect((await call("GET", "")).text).not.toContain(id);
  });

  test.each(["1", "%00", "a".repeat(24), "q3c8m0vz5k7r1t9w2x4y6b8n'--"])(
    "%s is not a webhook",
    async (id) => {
      const { status, body } = await call("GET", `/${id}`);
      expect([status, body.message]).toEqual([404, "Webhook not found"]);
    },
  );
});

describe("the fields", () => {
  test.each([
    [{}, "url is required"],
    [{ url: null }, "url is required"],
    [{ url: 5 }, "url must be a string"],
    [{ url: "ftp://x.example/" }, "url must be an http or https URL"],
    [{ url: "http://10.0.0.1/" }, "url must be a URL whose addresses are all public"],
    [{ url: "http://127.0.0.1/", events: "*" }, `events must be ${EVENTS_FORM}`],
    [{ url: "http://127.0.0.1/", events: [] }, `events must be ${EVENTS_FORM}`],
    [{ url: "http://127.0.0.1/", events: ["webhook.test"] }, `events must be ${EVENTS_FORM}`],
    [{ url: "http://127.0.0.1/", balanceLowBelow: 0 }, "balanceLowBelow must be a positive number"],
  ])("%j: %s", async (body, message) => {
    const before = service.query("SELECT count(*) AS n FROM webhooks");
    const answer = await call("POST", "", body);
    expect([answer.status, answer.body.message]).toEqual([400, message]);
    expect(service.query("SELECT count(*) AS n FROM webhooks")).toEqual(before);
  });

  test("are also checked for a rotation and a replay", async () => {
    const { id } = await create();
    const message = async (path: string, body: object) =>
      (await call("POST", `/${id}${path}`, body)).body.message as string;
    const grace = "graceSeconds must be a whole number from 0 to 2592000";
    expect(await message("/rotate", { graceSeconds: -1 })).toBe(grace);
    expect(await message("/rotate", { graceSeconds: 1.5 })).toBe(grace);
    expect(await message("/rotate", { graceSeconds: "1" })).toBe(grace);
    expect(await message("/replay", {})).toBe("delivery is required");
    expect(await message("/replay", { since: "yesterday" })).toStartWith("since must be an ISO");
    expect(await message("/replay", { since: "2020-01-01" })).toBe(
      "since must be at most 14 days ago",
    );
    const both = { since: new Date().toISOString(), delivery: "x" };
    expect(await message("/replay", both)).toBe("since must be given without delivery");
    expect(await message("/replay", { delivery: "evt_x.1" })).toBe("Delivery not found");
    await call("DELETE", `/${id}`);
  });
});

test("a reseller has at most ten, and an eleventh changes nothing", async () => {
  service.user("many", "1");
  keys["many"] = service.key("many", "order").text;
  for (let place = 0; place < 10; place += 1) await create({}, "many");
  const { status, body } = await call("POST", "", { url }, "many");
  expect([status, body.code]).toEqual([400, "webhooks_too_many"]);
  expect((await call("GET", "", undefined, "many")).body.webhooks.length).toBe(10);
});

test("the secret is only in the responses that create one", async () => {
  const { id, secret } = await create({ events: ["order.progress", "*"], balanceLowBelow: 12.5 });
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(Buffer.from(secret.slice(6), "base64").length).toBe(32);
  const rotated = (await call("POST", `/${id}/rotate`)).body.webhook.secret as string;
  expect(rotated).not.toBe(secret);
  const shown = [
    await call("GET", ""),
    await call("GET", `/${id}`),
    await call("PATCH", `/${id}`, { events: ["*"] }),
    await call("GET", `/${id}/deliveries`),
    await call("DELETE", `/${id}`),
  ];
  for (const { text } of shown) expect(text).not.toContain("whsec_");
  expect(shown[1]!.body.webhook).toEqual({
    id,
    url,
    events: ["*", "order.progress"],
    balanceLowBelow: 12.5,
    active: true,
    disabledReason: null,
    createdAt: expect.any(String),
  });
  expect((await call("GET", `/${id}`)).status).toBe(404);
});

test("a change leaves other fields unchanged; null removes the threshold", async () => {
  const { id } = await create({ events: ["order.failed"], balanceLowBelow: 3 });
  const change = async (body: object) => (await call("PATCH", `/${id}`, body)).body.webhook as Body;
  expect(await change({})).toMatchObject({ events: ["order.failed"], balanceLowBelow: 3 });
  expect(await change({ url: null, events: null })).toMatchObject({ url, balanceLowBelow: 3 });
  expect(await change({ balanceLowBelow: null })).toMatchObject({ balanceLowBelow: null });
  expect(await change({ events: ["*"] })).toMatchObject({ events: ["*"] });
  await call("DELETE", `/${id}`);
});

test("deliveries are listed newest first, page by page, and can be replayed", async () => {
  const { id } = await create();
  for (let count = 1; count <= 3; count += 1) {
    expect((await call("POST", `/${id}/test`)).body).toEqual({ status: "success", queued: 1 });
    await deliveries(id, count);
  }
  const all = await deliveries(id, 3);
  expect(all[0]).toMatchObject({
    webhookId: id,
    type: "webhook.test",
    attempt: 1,
    httpStatus: 200,
    error: null,
    response: "ok",
  });
  const pages: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const { body } = await call("GET", `/${id}/deliveries?limit=2${cursor && `&cursor=${cursor}`}`);
    pages.push(...body.deliveries.map((each: Body) => each.id as string));
    cursor = body.nextCursor as string | null;
  }
  expect(pages).toEqual(all.map((each) => each.id as string));
  expect((await call("POST", `/${id}/replay`, { delivery: all[2]!.id })).body.queued).toBe(1);
  const [again] = await deliveries(id, 4);
  expect(again).toMatchObject({ eventId: all[2]!.eventId, attempt: 2 });
  const sent = receiver.received.filter(({ headers }) => headers["webhook-id"] === again!.eventId);
  expect(sent.length).toBe(2);
  expect(sent[0]!.body).toBe(sent[1]!.body);
});

test("an order's event arrives as it is stored", async () => {
  const { id } = await create({ events: ["order.completed"] });
  const order = { service: "likes", link: "https://x.example", quantity: 1000 };
  const placed = await service.call("POST", "/orders", keys["alice"], order);
  service.run("transitionOrder", {
    id: placed.body.order.id,
    to: "COMPLETED",
    note: null,
  });
  const [delivery] = await deliveries(id, 1);
  const [stored] = service.query("SELECT body FROM webhook_events WHERE id = ?", delivery!.eventId);
  const sent = receiver.received.find(({ headers }) => headers["webhook-id"] === delivery!.eventId);
  expect(sent!.body).toBe(String(stored!["body"]));
  const event = JSON.parse(sent!.body);
  expectEventDocumented(event);
  const { order: shown } = event.data;
  const status = await service.call("GET", `/orders/${placed.body.order.id}`, keys["alice"]);
  expect(shown).toEqual({ ...status.body.order, refunded: 0 });
});
