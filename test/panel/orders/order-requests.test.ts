// The page Requests: what waits for the operator, and each decision with its confirmation, its refusals and its author.

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { findKey } from "../../../src/db/users/keys.ts";
import { seedPanelMarket, type PanelMarket } from "../../support/seeds/panel-market.ts";
import { openPanel } from "../../support/worlds/panel.ts";

let market: PanelMarket;
let keyId: string;

beforeAll(async () => {
  market = seedPanelMarket(await openPanel({ role: "operator" }));
  keyId = market.key("alice", "order").id;
});
beforeEach(() => {
  for (const id of ["followers", "likes"]) {
    market.run("updateService", { id, changes: { cancel: true, refill: true } });
  }
});
afterAll(() => market.stop());

const ask = (orderId: number, kind: "cancel" | "refill" = "cancel") => {
  const { resellerAccount } = market.read((reader) => findKey(reader, keyId)!);
  return market.run("makeRequest", { resellerAccount, keyId, kind, id: String(orderId) }).requestId;
};

const stateOf = (requestId: number) =>
  market.query("SELECT state, note FROM order_requests WHERE request_id = ?", requestId)[0]!;

const idOf = (requestId: number) =>
  market.query("SELECT id FROM order_requests WHERE request_id = ?", requestId)[0]!["id"];

const listed = (html: string) =>
  [...html.matchAll(/data-label="Number">(\d+)</g)].map(([, number]) => Number(number));

test("Today names open requests, and the page lists them until they are decided", async () => {
  const id = ask(market.order());
  expect((await market.get("/")).text).toContain("to cancel or refill an order");
  expect(listed((await market.get("/requests")).text)).toEqual([id]);
  expect(listed((await market.get("/requests?kind=refill")).text)).toEqual([]);
  const reply = await market.post(`/requests/${id}`, { decision: "decline", note: "too late" });
  expect([reply.status, stateOf(id)]).toEqual([303, { state: "declined", note: "too late" }]);
  expect(listed((await market.get("/requests")).text)).toEqual([]);
  expect(listed((await market.get("/requests?which=all")).text)).toEqual([id]);
});

test("every page counts the requests that wait for a decision, beside their entry in the navigation", async () => {
  const counted = async (path: string) =>
    /title="Requests that wait for you">(\d+)</.exec((await market.get(path)).text)?.[1];
  const before = Number((await counted("/orders")) ?? 0);
  const id = ask(market.order());
  for (const path of ["/", "/requests", "/system", "/nowhere"]) {
    expect([path, await counted(path)]).toEqual([path, String(before + 1)]);
  }
  await market.post(`/requests/${id}`, { decision: "decline" });
  expect(Number((await counted("/orders")) ?? 0)).toBe(before);
});

test("a page that does not exist keeps the navigation for those who are signed in, and for nobody else", async () => {
  const known = await market.get("/nowhere");
  expect([known.status, known.text.includes('<nav aria-label="Pages">')]).toEqual([404, true]);
  const unknown = await fetch(`${market.url}/nowhere`);
  expect([unknown.status, (await unknown.text()).includes("<nav")]).toEqual([404, false]);
});

test("approving a cancellation shows the refund before it is paid, and records the administrator's name", async () => {
  const orderId = market.order();
  const id = ask(orderId);
  const before = market.balance("alice");
  const asked = await market.post(`/requests/${id}`, { decision: "approve" });
  expect([asked.status, market.balance("alice")]).toEqual([200, before]);
  expect(asked.text).toContain("0.232");
  const { status } = await market.confirm(`/requests/${id}`, { decision: "approve" });
  expect([status, market.status(orderId), stateOf(id)["state"]]).toEqual([
    303,
    "CANCELLED",
    "done",
  ]);
  expect(market.balance("alice") - before).toBe(232_000);
  const [entry] = market.query(
    "SELECT operator, subject FROM audit WHERE action = 'request.approve'",
  );
  expect(entry).toEqual({ operator: "panel:tester", subject: idOf(id) });
  const again = await market.post(`/requests/${id}`, { decision: "approve" });
  expect(again.text).toContain("This request is no longer open for that decision");
  expect(market.balance("alice") - before).toBe(232_000);
});

test("a request at the provider is decided by the provider, an unknown one by the operator", async () => {
  const orderId = market.delivered({ placed: "501" });
  const id = ask(orderId);
  const begin = { requestId: id, providerId: 1, server: "test", placeRetryMs: 1000 };
  expect(market.run("startRequest", begin)).toMatchObject({ send: true, providerOrder: "501" });
  for (const decision of ["approve", "decline"]) {
    const { text } = await market.post(`/requests/${id}`, { decision });
    expect(text).toContain("no longer open for that decision");
  }
  const result = { outcome: "unknown", cause: "no answer within 30 s" } as const;
  const outcome = { requestId: id, result, backoffMs: 0, pollIntervalMs: 1000 };
  market.run("finishRequest", outcome);
  expect((await market.get("/")).text).toContain("not known what the provider did with 1 request");
  const { text } = await market.get("/requests");
  expect(text).toContain("no answer within 30 s");
  await market.post(`/requests/${id}`, { decision: "approve" });
  expect([stateOf(id)["state"], market.status(orderId)]).toEqual(["accepted", "PROCESSING"]);
  const shown = await market.get(`/orders/${orderId}`);
  expect(shown.text).toContain("cancel accepted");
});

test("a service's cancel and refill settings are saved by its form, and an invalid one is refused", async () => {
  const fields = {
    name: "Likes",
    category: "Services",
    price: "1",
    per: "1000",
    min: "1",
    max: "10000",
    kind: "public",
    provider: "acme",
    "provider-service": "7",
  };
  const saved = await market.post("/services/likes", {
    ...fields,
    cancel: "no",
    refill: "yes",
    "refill-days": "14",
  });
  expect(saved.status).toBe(303);
  const [service] = market.query(
    "SELECT cancel, refill, refill_days FROM services WHERE id = 'likes'",
  );
  expect(service).toEqual({ cancel: 0, refill: 1, refill_days: 14 });
  expect((await market.get("/services/likes")).text).toContain("refill within 14 days");
  const wrong = await market.post("/services/likes", { ...fields, "refill-days": "0" });
  expect(wrong.status).not.toBe(303);
});
