// The two sides of a reseller: what is apart, what is shared, and what only a test key can do.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { WEBHOOK_EVENT_TYPES } from "../../../src/domain/webhooks/webhook-events.ts";
import { seedSandbox, type Sandbox } from "../../support/seeds/sandbox.ts";
import { openService } from "../../support/worlds/service.ts";
import { createHandClock } from "../../support/hand-clock.ts";
import { verifyStore } from "../../support/databases/verify.ts";

let shop: Sandbox;
beforeAll(async () => (shop = seedSandbox(await openService({ clock: createHandClock() }))));
afterEach(async () => expect(await verifyStore(shop)).toEqual([]));
afterAll(() => shop.stop());

const order = { service: "likes", link: "https://example.com/me", quantity: 1000 };

describe("only the key decides the side:", () => {
  test("neither side finds an order of the other, by either id, in lists or by reference", async () => {
    const placed = async (key: string) =>
      (await shop.call("POST", "/orders", key, { ...order, reference: "mine" })).body.order;
    const sides = [
      { key: shop.live, own: await placed(shop.live) },
      { key: shop.test, own: await placed(shop.test) },
    ];
    for (const [side, { key, own }] of sides.entries()) {
      const other = sides[1 - side]!.own;
      for (const id of [other.orderId, other.id]) {
        const { status, body } = await shop.call("GET", `/orders/${id}`, key);
        expect([status, body.message]).toEqual([404, "Order not found"]);
      }
      const named = await shop.call("GET", `/orders?ids=${own.orderId},${other.orderId}`, key);
      expect(named.body.unknown).toEqual([String(other.orderId)]);
      for (const query of ["", "?reference=mine", "?service=likes"]) {
        const { orders } = (await shop.call("GET", `/orders${query}`, key)).body;
        expect(orders.map(({ orderId }: { orderId: number }) => orderId)).toEqual([own.orderId]);
      }
    }
    expect(sides[1]!.own.orderId).toBe(sides[0]!.own.orderId + 1);
  });

  test("an Idempotency-Key of one side is unused on the other", async () => {
    const headers = { "idempotency-key": "both" };
    const first = await shop.call("POST", "/orders", shop.live, order, headers);
    const second = await shop.call("POST", "/orders", shop.test, order, headers);
    expect(second.headers.get("idempotent-replayed")).toBeNull();
    expect(second.body.order.orderId).not.toBe(first.body.order.orderId);
  });

  test("balances and statements are separate", async () => {
    const [live, of] = [shop.live, (path: string, key: string) => shop.call("GET", path, key)];
    const before = (await of("/balance", live)).body.balance;
    const statement = (await of("/transactions", live)).text;
    await shop.order("https://test.invalid/partial/500");
    await shop.clock.pass(6000);
    expect((await of("/balance", live)).body.balance).toBe(before);
    expect((await of("/transactions", live)).text).toBe(statement);
    const [refund, charge] = (await of("/transactions", shop.test)).body.transactions;
    expect([refund.amount, charge.amount]).toEqual([5, -10]);
  });

  test("a first test key brings 1,000 USD, a further one the same account", async () => {
    const [one, two] = [1, 2].map(() => shop.key("bert", "order", "all", true).text);
    const { transactions } = (await shop.call("GET", "/transactions", one)).body;
    expect(transactions).toMatchObject([{ kind: "adjustment", amount: 1000, balanceAfter: 1000 }]);
    await shop.call("POST", "/orders", one, order);
    expect((await shop.call("GET", "/balance", two)).body.balance).toBe(990);
    expect(shop.balance("bert")).toBe(50_000_000);
  });
});

describe("shared with the live side are", () => {
  test("the catalogue, its prices, grants and private services", async () => {
    shop.service({ id: "secret", price: "3", private: true });
    shop.run("grantService", { id: "secret", username: "anna", priceMicros: 2_000_000 });
    const [live, sandbox] = await Promise.all(
      [shop.live, shop.test].map((key) => shop.call("GET", "/services", key)),
    );
    expect(sandbox!.body).toEqual(live!.body);
    const { body } = await shop.call("POST", "/orders", shop.test, { ...order, service: "secret" });
    expect(body.order.charge).toBe(2);
    const { text } = shop.key("bert", "order", "all", true);
    const refused = await shop.call("POST", "/orders", text, { ...order, service: "secret" });
    expect(refused.body.code).toBe("service_not_found");
  });

  test("users and their parents, but with test balances, which only a recharge with a test key credits", async () => {
    const live = shop.query("SELECT balance_micros FROM users WHERE test_of IS NULL");
    const user = (username: string) => shop.call("GET", `/user?username=${username}`, shop.test);
    const known = (await shop.call("GET", "/user?username=cleo", shop.live)).body.user;
    expect((await user("cleo")).body.user).toEqual({ ...known, childBalance: 0 });
    const recharge = (username: string, amount: number, headers = {}) =>
      shop.call("POST", "/recharge", shop.test, { username, amount }, headers);
    expect((await recharge("CLEO", 25)).body).toMatchObject({
      amount: 25,
      user: { id: known.id, username: "cleo", balance: 0, childBalance: 25, previousBalance: 0 },
    });
    const twice = { "idempotency-key": "recharge" };
    for (const _ of [1, 2]) await recharge("cleo", 5, twice);
    expect((await user("cleo")).body.user.childBalance).toBe(30);
    const before = await shop.testBalance();
    await recharge("anna", 12.5);
    expect(await shop.testBalance()).toBe(before + 12.5);
    expect((await user("nobody")).status).toBe(404);
    expect((await user("test:anna")).status).toBe(400);
    expect(shop.query("SELECT balance_micros FROM users WHERE test_of IS NULL")).toEqual(live);
  });

  test("the first test key adds 1,000 USD even if the account was recharged before; later keys add nothing", async () => {
    shop.user("late");
    await shop.call("POST", "/recharge", shop.test, { username: "late", amount: 5 });
    const balance = async (key: string) => (await shop.call("GET", "/balance", key)).body.balance;
    const first = shop.key("late", "order", "all", true).text;
    expect(await balance(first)).toBe(1005);
    shop.run("setKeyActive", {
      id: shop.key("late", "order", "all", true).id,
      active: false,
    });
    expect(await balance(shop.key("late", "order", "all", true).text)).toBe(1005);
  });

  test("the reach of a key: with `children` a test key may recharge only its reseller's children", async () => {
    const { text } = shop.key("anna", "recharge", "children", true);
    const recharge = (username: string) =>
      shop.call("POST", "/recharge", text, { username, amount: 1 });
    expect((await recharge("cleo")).status).toBe(200);
    for (const username of ["anna", "bert"]) expect((await recharge(username)).status).toBe(403);
    expect((await shop.call("GET", "/user?username=bert", text)).status).toBe(403);
  });
});

describe("X-Test-Mode", () => {
  test("is in every answer to a test key, errors too, and in none to a live one", async () => {
    const { text: weak, id } = shop.key("anna", "recharge", "all", true);
    const requests: [string, string, string, unknown?][] = [
      ["GET", "/balance", shop.test],
      ["GET", "/services", shop.test],
      ["GET", "/orders/1", shop.test],
      ["GET", "/balance", weak],
      ["POST", "/orders", shop.test, "{"],
      ["POST", "/orders", shop.test, {}],
      ["GET", "/nowhere", shop.test],
      ["DELETE", "/orders", shop.test],
      ["GET", "/balance", `${shop.test.slice(0, -1)}!`],
    ];
    for (const [method, path, key, body] of requests) {
      const { headers, status } = await shop.call(method, path, key, body);
      expect([method, path, status, headers.get("x-test-mode")]).toEqual([
        method,
        path,
        status,
        "true",
      ]);
    }
    shop.run("setKeyActive", { id, active: false });
    const refused = await shop.call("GET", "/user?username=anna", weak);
    expect([refused.status, refused.headers.get("x-test-mode")]).toEqual([403, "true"]);
    const csv = await fetch(`${shop.url}/api/v1/transactions`, {
      headers: { "x-api-key": shop.test, accept: "text/csv" },
    });
    expect(csv.headers.get("x-test-mode")).toBe("true");
    for (const path of ["/balance", "/orders/999", "/nowhere", "/user?username=nobody"]) {
      expect((await shop.call("GET", path, shop.live)).headers.get("x-test-mode")).toBeNull();
    }
  });
});

describe("POST /test/orders/:id", () => {
  const move = (orderId: number | string, body: unknown, key = shop.test) =>
    shop.call("POST", `/test/orders/${orderId}`, key, body);
  const placed = async (link: string) => (await shop.order(link)).body.order.orderId as number;
  const STATUSES = [
    "PENDING",
    "PROCESSING",
    "COMPLETED",
    "PARTIAL",
    "FAILED",
    "CANCELLED",
    "REFUNDED",
  ] as const;
  /** Links and moves that lead to each status. */
  const PATHS: Record<(typeof STATUSES)[number], [string, ...(typeof STATUSES)[number][]]> = {
    PENDING: ["https://test.invalid/pending"],
    PROCESSING: ["x"],
    COMPLETED: ["x", "COMPLETED"],
    PARTIAL: ["x", "PARTIAL"],
    FAILED: ["https://test.invalid/pending", "FAILED"],
    CANCELLED: ["https://test.invalid/pending", "CANCELLED"],
    REFUNDED: ["x", "COMPLETED", "REFUNDED"],
  };
  const LEGAL: Record<string, readonly string[]> = {
    PENDING: ["PROCESSING", "FAILED", "CANCELLED"],
    PROCESSING: ["COMPLETED", "PARTIAL", "FAILED", "CANCELLED"],
    COMPLETED: ["REFUNDED"],
    PARTIAL: ["REFUNDED"],
  };
  const REFUNDED: Record<string, number> = { PARTIAL: 4, FAILED: 10, CANCELLED: 10, REFUNDED: 10 };

  test.each(STATUSES.flatMap((from) => STATUSES.map((to) => [from, to] as const)))(
    "%s to %s follows the state table",
    async (from, to) => {
      const before = await shop.testBalance();
      const [link, ...moves] = PATHS[from];
      const orderId = await placed(link);
      for (const status of moves) await move(orderId, { status, remains: 400 });
      const { status, body } = await move(orderId, { status: to, remains: 400 });
      if (!LEGAL[from]?.includes(to)) {
        expect([status, body.message]).toEqual([400, `${from} cannot become ${to}`]);
        expect((await shop.shown(orderId))["status"]).toBe(from);
        return;
      }
      expect([status, body.order.status]).toEqual([200, to]);
      expect(await shop.testBalance()).toBe(before - 10 + (REFUNDED[to] ?? 0));
      // The sandbox does not argue with it.
      await shop.clock.pass(to === "PROCESSING" ? 1000 : 100_000);
      expect((await shop.shown(orderId))["status"]).toBe(to);
    },
  );

  test("moves an order that is waiting to be sent: to each of its next states", async () => {
    for (const status of LEGAL["PENDING"]!) {
      const orderId = await placed("https://test.invalid/pending/complete");
      expect((await move(orderId, { status })).body.order.status).toBe(status);
    }
    await shop.clock.pass(60_000);
  });

  test.each([
    [{}, "status is required"],
    [{ status: "DONE" }, `status must be one of ${STATUSES.join(", ")}`],
    [{ status: "PARTIAL" }, "remains is required"],
    [{ status: "PARTIAL", remains: 1.5 }, "remains must be a whole number from 0"],
    [{ status: "PARTIAL", remains: -1 }, "remains must be a whole number from 0"],
    [{ status: "PARTIAL", remains: 1001 }, "remains must be at most the quantity, 1000"],
  ])("%j is refused and changes nothing", async (body, message) => {
    const orderId = await placed("x");
    const before = shop.fingerprint();
    const answer = await move(orderId, body);
    expect([answer.status, answer.body.message]).toEqual([400, message]);
    expect(shop.fingerprint()).toBe(before);
  });

  test("is refused to live keys of any type, and changes no live orders and no orders of other test accounts", async () => {
    const types = ["full", "order", "recharge"] as const;
    for (const key of [shop.live, ...types.map((type) => shop.key("anna", type).text)]) {
      const { status, body } = await move(1, { status: "COMPLETED" }, key);
      expect([status, body.message]).toEqual([404, "Not found"]);
    }
    const { orderId } = (await shop.call("POST", "/orders", shop.live, order)).body.order;
    expect((await move(orderId, { status: "COMPLETED" })).body.message).toBe("Order not found");
    const other = shop.key("bert", "full", "all", true).text;
    const mine = await placed("x");
    expect((await move(mine, { status: "COMPLETED" }, other)).body.message).toBe("Order not found");
    const weak = shop.key("anna", "recharge", "all", true).text;
    expect((await move(mine, { status: "COMPLETED" }, weak)).status).toBe(403);
  });
});

describe("webhooks of the test side", () => {
  const events = () =>
    shop.query<{ type: string; body: string; tries: number }>(
      `SELECT type, body, tries FROM webhook_events
      JOIN webhook_deliveries ON webhook_deliveries.event_id = webhook_events.event_id
      ORDER BY webhook_events.event_id`,
    );

  test("belong to it, get only its events, are marked, and are tried three times", async () => {
    const endpoint = { url: "https://hooks.example/", events: ["*"] };
    const { webhook } = (await shop.call("POST", "/webhooks", shop.test, endpoint)).body;
    expect((await shop.call("GET", "/webhooks", shop.live)).body.webhooks).toEqual([]);
    expect((await shop.call("GET", `/webhooks/${webhook.id}`, shop.live)).status).toBe(404);
    await shop.call("POST", "/recharge", shop.live, { username: "anna", amount: 1 });
    expect(events()).toEqual([]);
    await shop.call("POST", "/recharge", shop.test, { username: "anna", amount: 1 });
    await shop.order("https://test.invalid/cancel");
    await shop.clock.pass(6000);
    shop.run("updateService", {
      id: "likes",
      changes: { priceMicros: 11_000_000 },
    } as never);
    expect(events().map(({ type, tries }) => [type, Number(tries)])).toEqual([
      ["balance.credited", 3],
      ["order.processing", 3],
      ["order.cancelled", 3],
      ["service.changed", 3],
    ]);
    for (const { body } of events()) expect(JSON.parse(body).test).toBe(true);
  });

  test("get any event that POST /test/webhooks names; live keys have no such path", async () => {
    const send = (body: unknown, key = shop.test) => shop.call("POST", "/test/webhooks", key, body);
    const before = events().length;
    for (const type of WEBHOOK_EVENT_TYPES) {
      expect((await send({ type })).body).toEqual({ status: "success", queued: 1 });
      const last = events().at(-1)!;
      expect(JSON.parse(last.body)).toMatchObject({ type, test: true });
      expect([last.type, Number(last.tries)]).toEqual([type, 3]);
    }
    expect(events()).toHaveLength(before + WEBHOOK_EVENT_TYPES.length);
    expect((await send({ type: "order.lost" })).status).toBe(400);
    expect((await send({})).body.message).toBe("type is required");
    const live = await send({ type: "order.completed" }, shop.live);
    expect([live.status, live.body.message]).toEqual([404, "Not found"]);
  });
});

test("verify names an order, a transfer and a key that are on the wrong side", async () => {
  const { orderId } = (await shop.order("x")).body.order;
  const database = shop;
  database.query("BEGIN");
  try {
    for (const trigger of ["orders_keep_terms", "keys_keep_side"]) database.dropTrigger(trigger);
    const [anna] = database.query<{ account: number }>("SELECT account FROM users WHERE username = 'anna'");
    database.query("UPDATE orders SET reseller_account = ? WHERE order_id = ?", anna!.account, orderId);
    database.query("UPDATE keys SET test_of = NULL WHERE test_of IS NOT NULL");
    const found = new Set((await verifyStore(database)).map(({ check }) => check));
    expect(found).toContain("only test orders are with the sandbox");
    expect(found).toContain("a test key belongs to its reseller's test account");
    expect(found).toContain("every charge is one transfer");
  } finally {
    database.query("ROLLBACK");
  }
}); // prettier-ignore
