// Magic links over HTTP, on a clock that the tests move: what each promises, whatever service is ordered.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { askSmmApi } from "../../support/http/smm-client.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import { seedSandbox, operate, type Sandbox } from "../../support/seeds/sandbox.ts";
import { openService, PLACE_WAIT_MS } from "../../support/worlds/service.ts";
import { createHandClock } from "../../support/hand-clock.ts";
import { until } from "../../support/until.ts";

const MAGIC = "https://test.invalid";

let shop: Sandbox;
beforeAll(async () => (shop = seedSandbox(await openService({ clock: createHandClock() }))));
afterEach(async () => expect(await verifyStore(shop)).toEqual([]));
afterAll(() => shop.stop());

/** Status and remains of an order. */
async function stateOf(orderId: number): Promise<[unknown, unknown]> {
  const { status, remains } = await shop.shown(orderId);
  return [status, remains];
}

/** The last two seconds of it timer by timer. */
async function pass(seconds: number): Promise<void> {
  if (seconds > 120) shop.clock.leap((seconds - 2) * 1000);
  await shop.clock.pass(Math.min(seconds, seconds > 120 ? 2 : seconds) * 1000);
}

type Moment = [seconds: number, status: string, remains: number];

/** Link, the status of the answer, what it becomes when, and what it costs in the end. */
const LIVES: [link: string, answered: string, moments: Moment[], cost: number][] = [
  ["https://example.com/me", "PROCESSING", [[1, "PROCESSING", 1000], [16, "PROCESSING", 500], [29, "PROCESSING", 100], [30.5, "COMPLETED", 0]], 10],
  [`${MAGIC}/complete`, "PROCESSING", [[1, "COMPLETED", 0]], 10],
  [`${MAGIC}/complete/60s`, "PROCESSING", [[31, "PROCESSING", 500], [59.5, "PROCESSING", 100], [60.5, "COMPLETED", 0]], 10],
  [`${MAGIC}/complete/24h`, "PROCESSING", [[43_201, "PROCESSING", 500], [86_399, "PROCESSING", 100], [86_401, "COMPLETED", 0]], 10],
  [`${MAGIC}/complete/1s`, "PROCESSING", [[0.9, "PROCESSING", 1000], [1.5, "COMPLETED", 0]], 10],
  [`${MAGIC}/partial/157`, "PROCESSING", [[4.9, "PROCESSING", 326], [5.5, "PARTIAL", 157]], 8.43],
  [`${MAGIC}/partial/0`, "PROCESSING", [[5.5, "PARTIAL", 0]], 10],
  [`${MAGIC}/partial/1000000`, "PROCESSING", [[5.5, "PARTIAL", 1000]], 0],
  [`${MAGIC}/cancel`, "PROCESSING", [[4.9, "PROCESSING", 1000], [5.5, "CANCELLED", 1000]], 0],
  [`${MAGIC}/fail`, "PROCESSING", [[4.9, "PROCESSING", 1000], [5.5, "FAILED", 1000]], 0],
  [`${MAGIC}/pending`, "PENDING", [[5, "PENDING", 1000], [86_400, "PENDING", 1000]], 10],
  [`${MAGIC}/pending/complete`, "PENDING", [[1.9, "PENDING", 1000], [2.5, "PROCESSING", 1000], [4.9, "PROCESSING", 334], [5.5, "COMPLETED", 0]], 10],
  [`${MAGIC}/pending/cancel`, "PENDING", [[1.9, "PENDING", 1000], [2.5, "PROCESSING", 1000], [5.5, "CANCELLED", 1000]], 0],
]; // prettier-ignore

describe.each(["likes", "views"])("an order of %s with the link", (service) => {
  test.each(LIVES)(
    "%s is answered %s, then goes through the promised states",
    async (link, answered, moments, cost) => {
      const before = await shop.testBalance();
      const { status, body, headers } = await shop.order(link, { service });
      expect([status, body.order.status]).toEqual([200, answered]);
      expect(headers.get("x-test-mode")).toBe("true");
      const { orderId } = body.order;
      let seconds = 0;
      for (const [at, ...state] of moments) {
        await pass(at - seconds);
        seconds = at;
        expect([at, ...(await stateOf(orderId))]).toEqual([at, ...state]);
      }
      const { startCount } = await shop.shown(orderId);
      expect(startCount).toBe(
        answered === "PENDING" && moments.at(-1)![1] === "PENDING" ? 0 : 1000,
      );
      expect(before - (await shop.testBalance())).toBeCloseTo(cost, 6);
      // Nothing follows any more.
      await pass(4 * 86_400);
      expect(await stateOf(orderId)).toEqual(moments.at(-1)!.slice(1) as never);
      expect(shop.query("SELECT * FROM late_reports")).toEqual([]);
    },
  );
});

test("/refuse is a 502 with the FAILED order, refunded", async () => {
  const before = await shop.testBalance();
  const { status, body } = await shop.order(`${MAGIC}/refuse`);
  expect([status, body.code, body.order.status]).toEqual([502, "provider_refused", "FAILED"]);
  expect(await shop.testBalance()).toBe(before);
});

test.each([
  ["funds", 400, "Insufficient balance"],
  ["429", 429, "Too many requests"],
  ["503", 503, "Service temporarily unavailable"],
  ["500", 500, "Internal server error"],
])("/%s is a %i and changes nothing, alone and in a batch, with an Idempotency-Key too", async (path, status, message) => {
  const before = shop.fingerprint();
  const link = `${MAGIC}/${path}`;
  const key = { "idempotency-key": `magic-${path}` };
  const alone = await shop.call("POST", "/orders", shop.test, { service: "likes", link, quantity: 1000 }, key);
  expect([alone.status, alone.body.message]).toEqual([status, message]);
  expect(alone.headers.get("x-test-mode")).toBe("true");
  if (status === 429 || status === 503) expect(alone.headers.get("retry-after")).toBe("1");
  expect(shop.fingerprint()).toBe(before);
  // Nothing was remembered: the next request with that key may be another one.
  const fine = await shop.call("POST", "/orders", shop.test, { service: "likes", link: "x", quantity: 10 }, key);
  expect(fine.status).toBe(200);
  const orders = [{ service: "likes", link: "fine", quantity: 10 }, { service: "likes", link, quantity: 10 }];
  const batch = await shop.call("POST", "/orders/batch", shop.test, { orders });
  if (path === "funds") {
    expect(batch.body.results.map((each: { code?: string }) => each.code)).toEqual([undefined, "insufficient_balance"]);
  } else expect([batch.status, batch.body.message]).toEqual([status, message]);
}); // prettier-ignore

test.each([
  ["8s", 8000],
  ["24h", PLACE_WAIT_MS],
])("/slow/%s is answered after %i ms, by then PROCESSING", async (span, waits) => {
  const reference = `slow ${span}`;
  let answered = false;
  const answer = shop.order(`${MAGIC}/slow/${span}`, { reference }).finally(() => (answered = true));
  const placed = () =>
    shop.query("SELECT 1 FROM orders WHERE reference = ? AND placement = 'placed'", reference).length === 1;
  await until(placed);
  await shop.clock.pass(waits - 1);
  expect(answered).toBe(false);
  await shop.clock.pass(1);
  const { status, body } = await answer;
  expect([status, body.order.status]).toEqual([200, "PROCESSING"]);
}); // prettier-ignore

describe("/lost", () => {
  const link = `${MAGIC}/lost`;
  const count = () => Number(shop.query<{ count: number }>("SELECT count(*) AS count FROM orders")[0]!.count);

  test("makes the order and closes the connection without an answer; the same request again gets the answer", async () => {
    const before = count();
    const headers = { "idempotency-key": "lost" };
    const body = { service: "likes", link, quantity: 1000 };
    const call = () => shop.call("POST", "/orders", shop.test, body, headers);
    expect(await call().catch(() => "no answer")).toBe("no answer");
    expect(count()).toBe(before + 1);
    const again = await call();
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
    expect(again.body.order).toMatchObject({ link, status: "PROCESSING" });
    expect(count()).toBe(before + 1);
  });

  test("without an Idempotency-Key each request makes an order; with a reference the second is refused with the first order", async () => {
    const before = count();
    for (const _ of [1, 2]) expect(await shop.order(link).catch(() => "no answer")).toBe("no answer");
    expect(count()).toBe(before + 2);
    expect(await shop.order(link, { reference: "once" }).catch(() => "no answer")).toBe("no answer");
    const again = await shop.order(link, { reference: "once" });
    expect([again.status, again.body.order.reference]).toEqual([409, "once"]);
  });

  test("loses the answer of a batch, and only where its order was made", async () => {
    const batch = (quantity: number) =>
      shop.call("POST", "/orders/batch", shop.test, { orders: [{ service: "likes", link, quantity }] });
    expect(await batch(1000).catch(() => "no answer")).toBe("no answer");
    expect((await batch(1)).body.results[0].code).toBe("quantity_below_minimum");
    expect((await shop.order(link, { quantity: 1 })).status).toBe(400);
  });

  test("sends what was answered before it on the same connection, and nothing after", async () => {
    const { hostname, port } = new URL(shop.url);
    const body = JSON.stringify({ service: "likes", link, quantity: 1000 });
    const head = `host: x\r\nx-api-key: ${shop.test}\r\ncontent-type: application/json\r\n`;
    const read = `GET /api/v1/balance HTTP/1.1\r\n${head}\r\n`;
    const lost = `POST /api/v1/orders HTTP/1.1\r\n${head}content-length: ${body.length}\r\n\r\n${body}`;
    let received = "";
    const closed = Promise.withResolvers<void>();
    await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        open: (socket) => void socket.write(read + lost + read),
        data: (_, bytes) => void (received += bytes.toString()),
        end: (socket) => void socket.end(),
        close: () => closed.resolve(),
      },
    });
    await closed.promise;
    expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(received).toContain('"balance"');
  });
}); // prettier-ignore

describe("an unknown placement", () => {
  test("is settled as placed by the operator, and is then delivered like any other", async () => {
    const { orderId } = (await shop.order(`${MAGIC}/pending`)).body.order;
    await pass(3600);
    operate(shop, "settleOrder", { id: String(orderId), providerOrder: "777000777" });
    await shop.clock.pass(1000);
    expect(await stateOf(orderId)).toEqual(["PROCESSING", 1000]);
    await shop.clock.pass(30_000);
    expect(await stateOf(orderId)).toEqual(["COMPLETED", 0]);
  });

  test("is settled as not placed, and refunded", async () => {
    const before = await shop.testBalance();
    const { orderId } = (await shop.order(`${MAGIC}/pending`)).body.order;
    operate(shop, "settleOrder", { id: String(orderId), providerOrder: null });
    expect(await stateOf(orderId)).toEqual(["FAILED", 1000]);
    expect(await shop.testBalance()).toBe(before);
  });
});

test("orders go on where they are after a crash, on another server", async () => {
  const waiting = (await shop.order(`${MAGIC}/pending/complete`)).body.order.orderId as number;
  const inFlight = (await shop.order(`${MAGIC}/complete/60s`)).body.order.orderId as number;
  const sending = (await shop.order(`${MAGIC}/pending/cancel`)).body.order.orderId as number;
  await shop.clock.pass(1000);
  shop.execute(
    "startAttempt",
    { orderId: sending, providerId: 0, server: "server-of-the-sandbox", placeRetryMs: 3_600_000 },
    shop.clock.now(),
  );
  await shop.restart(20_000);
  await shop.clock.pass(1000);
  expect(await stateOf(waiting)).toEqual(["PROCESSING", 1000]);
  expect(await stateOf(sending)).toEqual(["PROCESSING", 1000]);
  expect((await stateOf(inFlight))[0]).toBe("PROCESSING");
  await shop.clock.pass(5000);
  expect(await stateOf(waiting)).toEqual(["COMPLETED", 0]);
  expect(await stateOf(sending)).toEqual(["CANCELLED", 1000]);
  await shop.clock.pass(35_000);
  expect(await stateOf(inFlight)).toEqual(["COMPLETED", 0]);
});

test("an order that waits is placed within a minute although the clock is put back by hours", async () => {
  const { orderId } = (await shop.order(`${MAGIC}/pending/complete`)).body.order;
  await shop.restart(-7_200_000);
  await shop.clock.pass(66_000);
  expect(await stateOf(orderId)).toEqual(["COMPLETED", 0]);
  await shop.restart(7_200_000);
});

test("no test order is sent to a provider, and with a live key a magic link is a link as any other", async () => {
  const providers = shop.query(
    `SELECT DISTINCT orders.provider_id AS provider FROM orders
    JOIN users ON account = reseller_account WHERE test_of IS NOT NULL`,
  );
  expect(providers.map(({ provider }) => Number(provider))).toEqual([0]);
  for (const path of ["funds", "429", "500", "lost", "refuse", "pending"]) {
    const body = { service: "likes", link: `${MAGIC}/${path}`, quantity: 10 };
    const { status, body: answer, headers } = await shop.call("POST", "/orders", shop.live, body);
    expect([status, answer.order.status]).toEqual([200, "PROCESSING"]);
    expect(headers.get("x-test-mode")).toBeNull();
  }
  await shop.clock.pass(60_000);
  const { orders } = (await shop.call("GET", "/orders", shop.live)).body;
  expect(new Set(orders.map(({ status }: { status: string }) => status))).toEqual(new Set(["PROCESSING"]));
}); // prettier-ignore

describe("a link to the sandbox's host", () => {
  const MISTYPED = [
    "", "/", "/compleet", "/complete/", "/complete/25h", "/complete/0s", "/complete/60", "/Complete", "/complete?", "/complete#", "//complete",
    "/partial", "/partial/-1", "/partial/1.5", "/partial/007", "/slow", "/slow/1ms", "/pending/fail", "/cancel/", "/404", "/refuse/now",
  ].map((path) => `${MAGIC}${path}`); // prettier-ignore
  const OTHERWISE = [
    "http://test.invalid/complete",
    "HTTPS://TEST.INVALID/complete",
    "test.invalid/complete",
    "https://test.invalid:443/complete",
  ];
  /** Links that only look like one. */
  const ORDINARY = [
    "test.invalid",
    "https://test.invalid.example.com/complete",
    "https://test.invalidx/refuse",
    "https://example.com/?https://test.invalid/refuse",
    "x https://test.invalid/429",
  ];
  const MESSAGE =
    "link must be a link of the sandbox exactly as documented, or of a host other than test.invalid";

  test.each([...MISTYPED, ...OTHERWISE])(
    "that is not exactly a magic link is refused with a test key, singly, in a batch and by /api/v2: %p",
    async (link) => {
      const before = shop.fingerprint();
      const { status, body } = await shop.order(link);
      expect([status, body.code, body.field, body.message]).toEqual([
        400,
        "field_invalid",
        "link",
        MESSAGE,
      ]);
      const panel = await askSmmApi(shop.url, {
        key: shop.test,
        action: "add",
        service: "1",
        link,
        quantity: "1000",
      });
      expect(panel.body).toEqual({ error: "neworder.error.link" });
      expect(shop.fingerprint()).toBe(before);
      const order = { service: "likes", link: "fine", quantity: 10 };
      const batch = await shop.call("POST", "/orders/batch", shop.test, {
        orders: [order, { ...order, link }],
      });
      expect(batch.body.results.map((each: { message?: string }) => each.message)).toEqual([
        undefined,
        MESSAGE,
      ]);
    },
  );

  test.each([...MISTYPED, ...OTHERWISE, ...ORDINARY])(
    "is an ordinary link with a live key: %p",
    async (link) => {
      const order = { service: "likes", link, quantity: 10 };
      const { status, body } = await shop.call("POST", "/orders", shop.live, order);
      expect([status, body.order?.link]).toEqual([200, link]);
    },
  );

  test.each(ORDINARY)("is not found in a link that only resembles it: %p", async (link) => {
    const { status, body } = await shop.order(link, { quantity: 10 });
    expect([status, body.order?.status]).toEqual([200, "PROCESSING"]);
  });
});
