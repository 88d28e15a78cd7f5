// A property: whatever happens to orders, /api/v1 and /api/v2 tell the same story of each and the same money.

import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import type { OrderStatus } from "../../../src/domain/orders/order-statuses.ts";
import { Refusal } from "../../../src/domain/values/error-table.ts";
import { smmClientOf } from "../../support/http/smm-client.ts";
import type { Body } from "../../support/http/api.ts";
import { openService, type TestService } from "../../support/worlds/service.ts";
import { OPERATOR } from "../../support/databases/test-database.ts";

const RUNS = 60;

let service: TestService;
let key: string;
let panel: ReturnType<typeof smmClientOf>;

/** As docs/specification/smm-api.md#v2-status has it, written down once more. */
const WORDS: Record<OrderStatus, string> = {
  PENDING: "Pending",
  PROCESSING: "In progress",
  COMPLETED: "Completed",
  PARTIAL: "Partial",
  CANCELLED: "Canceled",
  FAILED: "Canceled",
  REFUNDED: "Canceled",
};

beforeAll(async () => {
  // Nothing listens on that port: orders for `passed-on` stay PENDING.
  service = await openService({ settings: { placeWait: 1 } });
  service.user("anna", "1000000");
  service.user("bert", "1000");
  key = service.key("anna", "full").text;
  panel = smmClientOf(service.url, key);
  const url = "http://127.0.0.1:1/";
  service.run("createProvider", { name: "away", protocol: "smm-api", url, key: "k" });
  service.service({ id: "thousand", price: "0.333333", min: 1, max: 100_000 });
  service.service({ id: "single", price: "0.01", per: "1", min: 1, max: 1000 });
  service.service({ id: "pack", price: "4.5", per: "order", min: 7, max: 7 });
  service.service({ id: "free", price: "0", min: 1, max: 1000 });
  service.service({ id: "passed-on", price: "2", provider: { name: "away", service: "1" } });
});

afterAll(() => service.stop());

const SERVICES = ["thousand", "single", "pack", "free", "passed-on"];

const step = fc.oneof(
  fc.record({
    do: fc.constantFrom("v1", "v2"),
    service: fc.nat(SERVICES.length - 1),
    quantity: fc.integer({ min: 1, max: 2000 }),
    reference: fc.option(fc.integer({ min: 0, max: 3 })),
  }),
  fc.record({
    do: fc.constant("move"),
    which: fc.nat(20),
    to: fc.constantFrom("COMPLETED", "PARTIAL", "FAILED", "CANCELLED", "REFUNDED"),
    remains: fc.oneof(fc.constant(0), fc.nat(2000)),
  }),
  fc.record({
    do: fc.constant("progress"),
    which: fc.nat(20),
    start: fc.nat(9999),
    remains: fc.oneof(fc.constant(0), fc.nat(2000)),
  }),
);

test("both interfaces agree on every order, whoever placed it and whatever became of it", async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      run += 1;
      const placed: number[] = [];
      for (const each of steps) await take(each, placed, run);
      await expectSameStory(placed);
    }),
    { numRuns: RUNS },
  );
});

/** Refusals are part of the story: what is refused by one is refused by the other, with the same balance. */
async function take(each: Body, placed: number[], run: number): Promise<void> {
  const id = placed.length === 0 ? null : String(placed[each.which % placed.length]);
  if (each.do === "v1" || each.do === "v2") {
    const reference = each.reference === null ? undefined : `run-${run}-${each.reference}`;
    const order = await (each.do === "v1" ? placeByV1 : placeByV2)(each, reference);
    if (order !== null && !placed.includes(order)) placed.push(order);
  } else if (id !== null) {
    unlessRefused(() =>
      each.do === "move"
        ? service.run("transitionOrder", {
            id,
            to: each.to,
            remains: each.remains,
            note: null,
            actor: OPERATOR,
          })
        : service.run("progressOrder", {
            id,
            startCount: each.start,
            remains: each.remains,
            actor: OPERATOR,
          }),
    );
  }
}

async function placeByV1(each: Body, reference?: string): Promise<number | null> {
  const isPack = SERVICES[each.service] === "pack";
  const { status, body } = await service.call("POST", "/orders", key, {
    service: SERVICES[each.service],
    link: "https://example.com/x",
    quantity: isPack ? 7 : each.quantity,
    ...(reference === undefined ? {} : { reference }),
  });
  if (status === 200 || status === 409) return body.order.orderId;
  expect(["quantity_above_maximum", "quantity_below_minimum"]).toContain(body.code);
  return null;
}

async function placeByV2(each: Body, reference?: string): Promise<number | null> {
  const { body } = await panel("add", {
    service: String(each.service + 1),
    link: "https://example.com/x",
    quantity: String(each.quantity),
    ...(reference === undefined ? {} : { reference }),
  });
  if (body.order !== undefined) return body.order;
  expect(["neworder.error.max_quantity", "neworder.error.min_quantity"]).toContain(body.error);
  return null;
}

function unlessRefused(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
}

async function expectSameStory(placed: readonly number[]): Promise<void> {
  if (placed.length > 0) {
    const { body: statuses } = await panel("status", { orders: placed.join(",") });
    expect(Object.keys(statuses).map(Number)).toEqual(placed.toSorted((a, b) => a - b));
    for (const number of placed) {
      const { order } = (await service.call("GET", `/orders/${number}`, key)).body;
      const told = statuses[number];
      const isUndone = ["CANCELLED", "FAILED", "REFUNDED"].includes(order.status);
      const isWhole = order.status === "PARTIAL" && order.remains === 0;
      expect(told).toEqual({
        charge: await paidFor(number),
        start_count: String(order.startCount),
        status: isWhole ? "Completed" : WORDS[order.status as OrderStatus],
        remains: String(isUndone ? order.quantity : order.remains),
        currency: "USD",
      });
      expect((await panel("status", { order: String(number) })).body).toEqual(told);
      if (isUndone) expect(told.charge).toBe("0");
    }
  }
  const { body: funds } = await panel("balance");
  const { body: balance } = await service.call("GET", "/balance", key);
  expect(Number(funds.balance)).toBe(balance.balance);
  expect(Number(funds.balance) * 1e6).toBeCloseTo(service.balance("anna"), 3);
}

/** What an order costs by the statement of /api/v1: its charge less its refunds. */
async function paidFor(order: number): Promise<string> {
  const { body } = await service.call("GET", `/transactions?order=${order}`, key);
  const micros = (body.transactions as Body[]).reduce(
    (sum: number, { amount }) => sum - Math.round(amount * 1e6),
    0,
  );
  return String(micros / 1e6);
}

test("both interfaces list the same services at the same prices", async () => {
  const { services } = (await service.call("GET", "/services", key)).body;
  const listed = (await panel("services")).body as Body[];
  const rates: Record<string, number> = { single: 1000 };
  expect(listed.map(({ service: number }) => number)).toEqual([1, 2, 3, 4, 5]);
  for (const { service: number, rate, min, max } of listed) {
    const same = services.find(({ id }: Body) => id === SERVICES[number - 1]);
    expect([Number(rate), min, max]).toEqual([
      same.price * (rates[same.id] ?? 1),
      String(same.min),
      String(same.max),
    ]);
  }
});
