// POST /orders/:id/cancel and /refill over real HTTP, by hand and at a provider: docs/specification/orders.md#order-requests.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { expectError } from "../../support/http/refusal.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import { openService, type TestService } from "../../support/worlds/service.ts";
import { json, PROVIDER_KEY, startUpstream, type Upstream } from "../../support/peers/upstream.ts";
import { until } from "../../support/until.ts";

const DAY_MS = 86_400_000;
/** However slow the machine is, what comes of an order is known before its response. */
const NEVER_MS = 600_000;

let upstream: Upstream;
let market: TestService;
let key: string;
let other: string;

beforeAll(async () => {
  upstream = await startUpstream();
  market = await openService({
    settings: {
      placeWait: NEVER_MS,
      providerTimeout: NEVER_MS,
      pollInterval: 200,
    },
  });
  for (const name of ["anna", "bob"]) market.user(name, "1000");
  key = market.key("anna", "order").text;
  other = market.key("bob", "full").text;
  const { url } = upstream;
  market.run("createProvider", { name: "acme", protocol: "smm-api", url, key: PROVIDER_KEY });
  const asked = { cancel: true, refill: true };
  const provider = { name: "acme", service: "7" };
  market.service({ id: "likes", price: "2", provider, ...asked });
  market.service({ id: "by-hand", price: "2", ...asked, refillDays: 3 });
  market.service({ id: "final", price: "2" });
});

afterEach(() => {
  for (const action of ["add", "status", "cancel", "refill", "refill_status"]) {
    upstream.always(action, null);
  }
});

afterAll(async () => {
  expect(await verifyStore(market)).toEqual([]);
  await market.stop();
  await upstream.stop();
});

let links = 0;
async function order(service: string): Promise<number> {
  links += 1;
  const body = { service, link: `https://example.com/${links}`, quantity: 100 };
  const answer = await market.call("POST", "/orders", key, body);
  expect(answer.status).toBe(200);
  return answer.body.order.orderId;
}

const ask = (kind: "cancel" | "refill", orderId: number | string, by = key, headers = {}) =>
  market.call("POST", `/orders/${orderId}/${kind}`, by, undefined, headers);

async function statusOf(orderId: number): Promise<string> {
  return (await market.call("GET", `/orders/${orderId}`, key)).body.order.status;
}

async function states(orderId: number): Promise<[string, string][]> {
  const answer = await market.call("GET", `/orders/${orderId}/requests`, key);
  expect(answer.status).toBe(200);
  return answer.body.requests.map(({ kind, state }: { kind: string; state: string }) => [
    kind,
    state,
  ]);
}

function stateOf(orderId: number, kind = "cancel"): string {
  const [row] = market.query<{ state: string; unknown: number }>(
    "SELECT state, unknown FROM order_requests WHERE order_id = ? AND kind = ? ORDER BY request_id DESC LIMIT 1",
    orderId,
    kind,
  );
  return row!.unknown ? "unknown" : row!.state;
}

const move = (orderId: number, to: "COMPLETED" | "PARTIAL" | "REFUNDED", remains = 0) =>
  market.run("transitionOrder", { id: String(orderId), to, remains, note: null });

const decide = (orderId: number, decision: "approve" | "decline" | "complete") => {
  const [row] = market.query<{ id: string }>(
    "SELECT id FROM order_requests WHERE order_id = ? ORDER BY request_id DESC LIMIT 1",
    orderId,
  );
  return market.run("decideRequest", { id: row!.id, decision, note: null });
};

const sent = (action: string, providerOrder: string) =>
  upstream.received.filter(
    (form) => form["action"] === action && (form["orders"] ?? form["order"]) === providerOrder,
  ).length;

function providerOrderOf(orderId: number): string {
  const [row] = market.query<{ provider_order: string }>(
    "SELECT provider_order FROM orders WHERE order_id = ?",
    orderId,
  );
  return row!.provider_order;
}

describe("a request for an order that is delivered by hand", () => {
  test("to cancel waits for the operator's approval: then the order is CANCELLED and refunded at once", async () => {
    const before = market.balance("anna");
    const id = await order("by-hand");
    const { body, status } = await ask("cancel", id);
    expect(status).toBe(200);
    expect(body).toEqual({
      status: "success",
      request: {
        id: expect.stringMatching(/^[a-z0-9]{24}$/),
        kind: "cancel",
        orderId: id,
        state: "requested",
        createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      },
    });
    expect(before - market.balance("anna")).toBe(200_000);
    expect(await statusOf(id)).toBe("PROCESSING");
    decide(id, "approve");
    expect(await statusOf(id)).toBe("CANCELLED");
    expect(market.balance("anna")).toBe(before);
    expect(await states(id)).toEqual([["cancel", "done"]]);
  });

  test("that is declined moves nothing, and may be made again", async () => {
    const id = await order("by-hand");
    const before = market.balance("anna");
    await ask("cancel", id);
    decide(id, "decline");
    expect([await statusOf(id), market.balance("anna")]).toEqual(["PROCESSING", before]);
    expect((await ask("cancel", id)).status).toBe(200);
    expect(await states(id)).toEqual([
      ["cancel", "requested"],
      ["cancel", "declined"],
    ]);
  });

  test.each([
    ["COMPLETED", "declined"],
    ["PARTIAL", "done"],
  ] as const)("an order that becomes %s ends its open cancellation as %s", async (to, state) => {
    const id = await order("by-hand");
    await ask("cancel", id);
    move(id, to, 10);
    expect(stateOf(id)).toBe(state);
  });

  test("to refill is approved, then completed, and moves no money; the next is allowed a day later", async () => {
    const id = await order("by-hand");
    move(id, "COMPLETED");
    const before = market.fingerprint();
    expect((await ask("refill", id)).body.request.state).toBe("requested");
    decide(id, "approve");
    expect(stateOf(id, "refill")).toBe("accepted");
    expectError(await ask("refill", id), 400, "A request is already open");
    decide(id, "complete");
    expect(stateOf(id, "refill")).toBe("done");
    expect(market.fingerprint()).toBe(before);
    expectError(await ask("refill", id), 400, "Order cannot be refilled");
  });

  test.each([
    [3 * DAY_MS, null, 200],
    [3 * DAY_MS + 1, null, 400],
    [2 * DAY_MS, DAY_MS, 200],
    [2 * DAY_MS, DAY_MS - 1, 400],
  ])("delivered %d ms ago, refilled %p ms ago: %d", (endedMs, refilledMs, status) => {
    const now = Date.UTC(2026, 5, 1);
    const at = (
      name: "placeOrder" | "transitionOrder" | "makeRequest" | "decideRequest",
      input: object,
      time: number,
    ) =>
      market.execute(
        name,
        { actor: { keyId: null, operator: "x" }, ...input } as never,
        time,
      ) as never as {
        orderId: number;
        id: string;
      };
    const keyId = market.key("anna", "order").id;
    const [row] = market.query<{ account: number }>(
      "SELECT account FROM users WHERE username = 'anna'",
    );
    const placed = {
      resellerAccount: row!.account,
      keyId,
      service: "by-hand",
      link: "l",
      quantity: 100,
    };
    const { orderId } = at("placeOrder", placed, now - endedMs);
    const id = String(orderId);
    at("transitionOrder", { id, to: "COMPLETED", note: null }, now - endedMs);
    const refill = { resellerAccount: row!.account, keyId, kind: "refill", id };
    if (refilledMs !== null) {
      const made = at("makeRequest", refill, now - refilledMs);
      at("decideRequest", { id: made.id, decision: "decline", note: null }, now - refilledMs);
    }
    const again = () => at("makeRequest", refill, now);
    if (status === 200) expect(again().orderId).toBe(orderId);
    else expect(again).toThrow("order_not_refillable");
  });
});

describe("refused without a change:", () => {
  test.each(["cancel", "refill"] as const)("%s of a service without it", async (kind) => {
    const id = await order("final");
    if (kind === "refill") move(id, "COMPLETED");
    const before = market.fingerprint();
    const message = kind === "cancel" ? "Order cannot be cancelled" : "Order cannot be refilled";
    expectError(await ask(kind, id), 400, message);
    expect(await states(id)).toEqual([]);
    expect(market.fingerprint()).toBe(before);
  });

  test("a second request of a kind while one is open", async () => {
    const id = await order("by-hand");
    await ask("cancel", id);
    expectError(await ask("cancel", id), 400, "A request is already open");
  });

  test.each(["cancel", "refill"] as const)(
    "%s of another reseller's order, and of a missing one",
    async (kind) => {
      const id = await order("by-hand");
      for (const [of, by] of [
        [id, other],
        [999_999, key],
        ["nothing", key],
      ] as const) {
        expectError(await ask(kind, of, by), 404, "Order not found");
      }
      expectError(
        await market.call("GET", `/orders/${id}/requests`, other),
        404,
        "Order not found",
      );
    },
  );

  test("a cancellation of an order that has ended, and a refill of one that has not", async () => {
    const id = await order("by-hand");
    expectError(await ask("refill", id), 400, "Order cannot be refilled");
    move(id, "COMPLETED");
    expectError(await ask("cancel", id), 400, "Order cannot be cancelled");
    move(id, "REFUNDED");
    expectError(await ask("refill", id), 400, "Order cannot be refilled");
  });

  test("with a key that may not order", async () => {
    const recharge = market.key("anna", "recharge").text;
    const answer = await ask("cancel", 1, recharge);
    expectError(answer, 403, "This API key does not have order permission");
  });
});

test("a duplicate under an Idempotency-Key gets the first response, and any other request under it is refused", async () => {
  const id = await order("by-hand");
  const headers = { "idempotency-key": `cancel-${id}` };
  const first = await ask("cancel", id, key, headers);
  const second = await ask("cancel", id, key, headers);
  expect([second.status, second.text]).toEqual([200, first.text]);
  expect(second.headers.get("idempotent-replayed")).toBe("true");
  expect((await states(id)).length).toBe(1);
  expectError(
    await ask("refill", id, key, headers),
    422,
    "Idempotency-Key was already used for a different request",
  );
  const refused = { "idempotency-key": `refused-${id}` };
  expect((await ask("cancel", id, key, refused)).status).toBe(400);
  decide(id, "decline");
  expect((await ask("cancel", id, key, refused)).status).toBe(200);
});

describe("a request for an order that goes to a provider", () => {
  test("cancels an order that was not sent at once, with its refund, and it is never sent", async () => {
    const before = market.balance("anna");
    const sentBefore = upstream.adds().length;
    await upstream.down();
    let id: number;
    let state: string;
    // One that is being tried again at that moment, as on a slow machine, is not cancelled at once: then another one.
    do {
      id = await order("likes");
      ({ state } = (await ask("cancel", id)).body.request);
      if (state !== "done") await until(() => stateOf(id) === "done", "it was not sent after all");
    } while (state !== "done");
    expect([await statusOf(id), market.balance("anna")]).toEqual(["CANCELLED", before]);
    await upstream.up();
    const next = await order("likes");
    expect(await statusOf(next)).toBe("PROCESSING");
    expect(upstream.adds()).toHaveLength(sentBefore + 1);
    expectError(await ask("cancel", id), 400, "Order cannot be cancelled");
  });

  test("cannot cancel an order whose submission is unknown", async () => {
    upstream.next("add", "reset");
    const id = await order("likes");
    expect(await statusOf(id)).toBe("PENDING");
    expectError(await ask("cancel", id), 400, "Order cannot be cancelled");
  });

  test("is sent to the provider once; the money moves when the provider's status says CANCELLED", async () => {
    const before = market.balance("anna");
    const id = await order("likes");
    const number = providerOrderOf(id);
    await ask("cancel", id);
    await until(() => stateOf(id) === "accepted");
    expect(before - market.balance("anna")).toBe(200_000);
    expectError(await ask("cancel", id), 400, "A request is already open");
    upstream.book.get(number)!.status = { status: "Canceled", start_count: "0", remains: "100" };
    await until(() => stateOf(id) === "done");
    expect([await statusOf(id), market.balance("anna")]).toEqual(["CANCELLED", before]);
    expect(sent("cancel", number)).toBe(1);
    expect(upstream.received.find((form) => form["action"] === "cancel")).toEqual({
      key: PROVIDER_KEY,
      action: "cancel",
      orders: expect.any(String),
    });
  });

  test.each([
    [json([{ order: 1, cancel: { error: "Incorrect order ID" } }]), "unknown"],
    [json({ error: "Cancel is disabled" }), "declined"],
    [json({ cancel: 1 }), "accepted"],
    [json({ cancel: "1" }), "accepted"],
    [json({ cancel: 1, error: "no" }), "unknown"],
    [json({ status: "success" }), "unknown"],
    [json([]), "unknown"],
    [json({ error: "busy" }, 503), "unknown"],
    [{ body: "<html>" }, "unknown"],
    ["reset", "unknown"],
  ] as const)("with the reply %j is %s, and is never sent again", async (reply, state) => {
    const id = await order("likes");
    upstream.next("cancel", reply);
    const before = market.balance("anna");
    await ask("cancel", id);
    await until(() => stateOf(id) === state, `it is ${state}`);
    expect([await statusOf(id), market.balance("anna")]).toEqual(["PROCESSING", before]);
    expect(sent("cancel", providerOrderOf(id))).toBe(1);
    if (state !== "unknown") return;
    expect(await states(id)).toEqual([["cancel", "sent"]]);
    decide(id, "decline");
    expect(await states(id)).toEqual([["cancel", "declined"]]);
  });

  test("that the provider's rate limit turned away is sent again", async () => {
    const id = await order("likes");
    upstream.next("cancel", json({}, 429));
    await ask("cancel", id);
    await until(() => stateOf(id) === "accepted");
    expect(sent("cancel", providerOrderOf(id))).toBe(2);
  });

  test("for a refill is followed to its end", async () => {
    const id = await order("likes");
    const number = providerOrderOf(id);
    upstream.book.get(number)!.status = { status: "Completed", start_count: "0", remains: "0" };
    await until(() => stateless(id) === "COMPLETED");
    await ask("refill", id);
    await until(() => stateOf(id, "refill") === "accepted");
    const refill = [...upstream.refills.keys()].at(-1)!;
    upstream.refills.set(refill, "Half way");
    upstream.refills.set(refill, "In progress");
    expect(stateOf(id, "refill")).toBe("accepted");
    upstream.refills.set(refill, "Completed");
    await until(() => stateOf(id, "refill") === "done");
    expect(sent("refill", number)).toBe(1);
  });
});

function stateless(orderId: number): string {
  const [row] = market.query<{ status: string }>(
    "SELECT status FROM orders WHERE order_id = ?",
    orderId,
  );
  return row!.status;
}
