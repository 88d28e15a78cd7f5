// The page Requests: what waits for the operator, and each decision with its confirmation, its refusals and its author.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { findOrderRequest } from "../../../src/db/orders/order-requests.ts";
import { decisionsFor, REQUEST_DECISIONS } from "../../../src/domain/orders/order-requests.ts";
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

test("a button that shows the refund approves with one click, and two clicks refund once", async () => {
  const orderId = market.order();
  const id = ask(orderId);
  const before = market.balance("alice");
  const button = { decision: "approve", refund: "232000", back: "/" };
  for (const path of ["/", "/requests"]) {
    expect((await market.get(path)).text).toContain(", refund 0.232 USD");
  }
  const [first, second] = await Promise.all([
    market.post(`/requests/${id}`, button),
    market.post(`/requests/${id}`, button),
  ]);
  expect([first.status, second.status].toSorted((a, b) => a - b)).toEqual([303, 422]);
  expect(market.balance("alice") - before).toBe(232_000);
  expect([market.status(orderId), stateOf(id)["state"]]).toEqual(["CANCELLED", "done"]);
});

test.each(["", "0", "231999", "232001", "0232000", "2.32e5", "all"])(
  "a button that says another refund (%p) asks first and moves nothing",
  async (refund) => {
    const id = ask(market.order());
    const before = market.balance("alice");
    const { status, text } = await market.post(`/requests/${id}`, { decision: "approve", refund });
    expect([status, text.includes("+0.232 USD")]).toEqual([200, true]);
    expect([market.balance("alice"), stateOf(id)["state"]]).toEqual([before, "requested"]);
    await market.post(`/requests/${id}`, { decision: "decline" });
  },
);

test("a refund above the limit of the settings is confirmed with a password, whatever the button shows", async () => {
  market.run("creditUser", { username: "alice", amountMicros: 500_000_000, note: null });
  const dear = { id: "dear", price: "50" };
  market.service(dear);
  const orderId = market.order({ service: "dear", quantity: 5000 });
  market.run("updateService", { id: "dear", changes: { cancel: true } });
  const id = ask(orderId);
  const [{ charge }] = market.query(
    "SELECT charge_micros AS charge FROM orders WHERE order_id = ?",
    orderId,
  ) as [{ charge: number }];
  expect(charge).toBeGreaterThan(100_000_000);
  const before = market.balance("alice");
  const button = { decision: "approve", refund: String(charge) };
  const { status } = await market.post(`/requests/${id}`, button);
  expect([status, market.balance("alice")]).toEqual([200, before]);
  await market.post(`/requests/${id}`, { decision: "decline" });
});

describe("many at once", () => {
  const PREPARE = {
    "asked, by hand": () => ask(market.order()),
    "asked, no money left": () => {
      const order = market.order();
      const id = ask(order);
      market.run("transitionOrder", { id: String(order), to: "COMPLETED", note: null });
      return id;
    },
    "refill, by hand": () => {
      const order = market.order();
      market.run("transitionOrder", { id: String(order), to: "COMPLETED", note: null });
      return ask(order, "refill");
    },
    "refill, approved": () => {
      const order = market.order();
      market.run("transitionOrder", { id: String(order), to: "COMPLETED", note: null });
      const id = ask(order, "refill");
      market.run("decideRequest", { id: String(id), decision: "approve", note: null });
      return id;
    },
    declined: () => {
      const id = ask(market.order());
      market.run("decideRequest", { id: String(id), decision: "decline", note: null });
      return id;
    },
    "at the provider": () => ask(market.delivered({ placed: "777" })),
  };

  const facts = (ids: readonly number[]) =>
    market.read((reader) => ids.map((id) => findOrderRequest(reader, String(id))!));

  test.each([...REQUEST_DECISIONS])(
    "%p decides those that allow it, as the single decision does, and leaves the others",
    async (decision) => {
      const ids = Object.values(PREPARE).map((prepare) => prepare());
      const before = facts(ids);
      const allowed = before.map((request) => decisionsFor(request).includes(decision));
      const balance = market.balance("alice");
      const form = { decision, note: "together" };
      const body = new URLSearchParams([
        ...Object.entries(form),
        ...ids.map((id) => ["request", String(id)]),
      ]);
      const { status, note } = await market.confirm("/decide-requests", body);
      expect([status, note]).toEqual([
        303,
        expect.stringMatching(/^busy .* of 6 requests decided/),
      ]);
      const after = facts(ids);
      expect(after.map(({ note }) => note === "together")).toEqual(allowed);
      for (const [at, request] of after.entries()) {
        if (!allowed[at]) expect(request).toEqual(before[at]!);
      }
      const refunds = decision === "approve" ? 232_000 : 0;
      expect(market.balance("alice") - balance).toBe(refunds);
    },
  );

  test("none, too many, and unknown requests are refused with a reason", async () => {
    const some = (...ids: string[]) =>
      new URLSearchParams([["decision", "decline"], ...ids.map((id) => ["request", id])]);
    for (const [body, words] of [
      [some(), "Select at least one request"],
      [some(...Array.from({ length: 51 }, (_, at) => String(at))), "Select at most 50 requests"],
      [some("999999", "x", "-1"), "requests 999999, x, -1: not open for this decision"],
    ] as const) {
      const { status, text } = await market.postForm("/decide-requests", body);
      expect([status, text.includes(words)]).toEqual([422, true]);
    }
  });
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
