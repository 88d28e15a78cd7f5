// Magic links for requests, over HTTP with a test key on a clock that the tests move: docs/specification/sandbox.md#sandbox-links.

import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { seedSandbox, type Sandbox } from "../../support/seeds/sandbox.ts";
import { openService } from "../../support/worlds/service.ts";
import { createHandClock } from "../../support/hand-clock.ts";
import { verifyStore } from "../../support/databases/verify.ts";

const MAGIC = "https://test.invalid";

let shop: Sandbox;
beforeAll(async () => {
  shop = seedSandbox(await openService({ clock: createHandClock() }));
  for (const id of ["likes", "views"]) {
    shop.run("updateService", { id, changes: { cancel: true, refill: true } });
  }
});
afterEach(async () => expect(await verifyStore(shop)).toEqual([]));
afterAll(() => shop.stop());

const ask = async (kind: "cancel" | "refill", orderId: number) => {
  const { status, body, headers } = await shop.call(
    "POST",
    `/orders/${orderId}/${kind}`,
    shop.test,
  );
  expect([status, headers.get("x-test-mode")]).toEqual([200, "true"]);
  return body.request.state as string;
};

async function stateOf(orderId: number): Promise<[string, string]> {
  const { body } = await shop.call("GET", `/orders/${orderId}/requests`, shop.test);
  const { status } = (await shop.shown(orderId)) as { status: string };
  return [status, body.requests[0].state];
}

/** A link, its moments: seconds after the request, the order's status, the request's state. */
type Moments = [seconds: number, status: string, state: string][];

const CANCELS: [link: string, moments: Moments][] = [
  ["https://example.com/me", [[1, "CANCELLED", "done"]]],
  [`${MAGIC}/cancel/decline`, [[1, "PROCESSING", "declined"], [31, "COMPLETED", "declined"]]],
  [`${MAGIC}/cancel/unknown`, [[1, "PROCESSING", "sent"], [31, "COMPLETED", "declined"]]],
  [`${MAGIC}/cancel/late`, [[1, "PROCESSING", "accepted"], [31, "COMPLETED", "declined"]]],
  [`${MAGIC}/partial/157`, [[1, "CANCELLED", "done"]]],
]; // prettier-ignore

test.each(CANCELS)(
  "a cancellation of %s goes through the promised states",
  async (link, moments) => {
    const before = await shop.testBalance();
    const { orderId } = (await shop.order(link)).body.order;
    expect(await ask("cancel", orderId)).toBe("requested");
    let seconds = 0;
    for (const [at, ...state] of moments) {
      await shop.clock.pass((at - seconds) * 1000);
      seconds = at;
      expect([at, ...(await stateOf(orderId))]).toEqual([at, ...state]);
    }
    const isCancelled = moments.at(-1)![1] === "CANCELLED";
    expect(before - (await shop.testBalance())).toBeCloseTo(isCancelled ? 0 : 10, 6);
  },
);

const REFILLS: [link: string, moments: Moments][] = [
  [`${MAGIC}/complete`, [[1, "COMPLETED", "accepted"], [6.5, "COMPLETED", "done"]]],
  [`${MAGIC}/refill/decline`, [[1, "COMPLETED", "declined"]]],
  [`${MAGIC}/refill/unknown`, [[10, "COMPLETED", "sent"]]],
  [`${MAGIC}/refill/reject`, [[1, "COMPLETED", "accepted"], [6.5, "COMPLETED", "declined"]]],
]; // prettier-ignore

test.each(REFILLS)(
  "a refill of %s goes through the promised states, and costs nothing",
  async (link, moments) => {
    const { orderId } = (await shop.order(link)).body.order;
    await shop.clock.pass(2000);
    const before = await shop.testBalance();
    expect(await ask("refill", orderId)).toBe("requested");
    let seconds = 0;
    for (const [at, ...state] of moments) {
      await shop.clock.pass((at - seconds) * 1000);
      seconds = at;
      expect([at, ...(await stateOf(orderId))]).toEqual([at, ...state]);
    }
    expect(await shop.testBalance()).toBe(before);
  },
);

test("a test order that waits to be placed is cancelled at once; an unknown one is not", async () => {
  const waiting = (await shop.order(`${MAGIC}/pending/complete`)).body.order.orderId as number;
  expect(await ask("cancel", waiting)).toBe("done");
  expect(await stateOf(waiting)).toEqual(["CANCELLED", "done"]);
  const unknown = (await shop.order(`${MAGIC}/pending`)).body.order.orderId as number;
  const refused = await shop.call("POST", `/orders/${unknown}/cancel`, shop.test);
  expect([refused.status, refused.body.message]).toEqual([400, "Order cannot be cancelled"]);
});

test("requests go on after a crash, on another server", async () => {
  const { orderId } = (await shop.order("https://example.com/crash")).body.order;
  await ask("cancel", orderId);
  const [row] = shop.query<{ id: number }>("SELECT max(request_id) AS id FROM order_requests");
  const server = "server-of-the-sandbox";
  const sending = { requestId: row!.id, providerId: 0, server, placeRetryMs: 3_600_000 };
  shop.execute("startRequest", sending, shop.clock.now());
  await shop.restart(20_000);
  await shop.clock.pass(1500);
  expect(await stateOf(orderId)).toEqual(["CANCELLED", "done"]);
});
