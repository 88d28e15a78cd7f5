// The provider of the demo, through the client that asks real ones: each service at each age of an order.

import { describe, expect, test } from "bun:test";
import { createDemoProvider, DEMO_PROVIDER_SERVICES } from "../../src/providers/demo-provider.ts";
import { smmApi } from "../../src/providers/smm-api.ts";

const STOP = new AbortController().signal;

function open() {
  const clock = { now: Date.UTC(2026, 10, 28) };
  const answer = createDemoProvider(() => clock.now);
  const api = smmApi(
    async (form) => ({ kind: "json", status: 200, json: answer(new URLSearchParams(form)) }),
    "demo",
  );
  const submit = async (service: number, quantity: number) => {
    const fields = { quantity: String(quantity) };
    const order = { service: String(service), link: "x", fields, orderId: 1, createdAt: clock.now };
    return api.submit(order, STOP);
  };
  const report = async (number: string) => {
    const reply = await api.status([number], STOP);
    return "reports" in reply ? reply.reports.get(number)! : reply;
  };
  return { clock, api, submit, report };
}

const ROWS = DEMO_PROVIDER_SERVICES.flatMap(({ service, min, max }) =>
  [min, max, min + 1, min + 2].map((quantity) => [service, quantity] as const),
);

describe.each(ROWS)("service %d, quantity %d", (service, quantity) => {
  test("is delivered step by step to one end, which stays", async () => {
    const { clock, submit, report } = open();
    const placed = await submit(service, quantity);
    if (placed.outcome !== "accepted") throw new Error(placed.outcome);
    const words: (string | null)[] = [];
    let remains = quantity;
    for (let seconds = 0; seconds <= 200; seconds += 5) {
      const seen = await report(placed.providerOrder);
      if (!("remains" in seen)) throw new Error(seen.failed);
      expect(seen.remains!).toBeLessThanOrEqual(remains);
      remains = seen.remains!;
      words.push(seen.word);
      clock.now += 5_000;
    }
    const end = quantity % 7 === 0 ? "Partial" : "Completed";
    expect([...new Set(words)]).toEqual(["Pending", "In progress", end]);
    expect(remains === 0).toBe(end === "Completed");
  });
});

test("orders of one moment have numbers of their own, after a restart too", async () => {
  const { clock, submit } = open();
  const numbers = await Promise.all(Array.from({ length: 50 }, () => submit(101, 100)));
  expect(new Set(numbers.map((placed) => JSON.stringify(placed))).size).toBe(50);
  clock.now += 1_000;
  const again = open();
  again.clock.now = clock.now;
  const first = await again.submit(101, 100);
  expect(numbers).not.toContainEqual(first);
});

test("an order that is cancelled in time stays cancelled; a delivered one cannot be", async () => {
  const { clock, api, submit, report } = open();
  const [early, late] = [await submit(102, 500), await submit(102, 500)];
  if (early.outcome !== "accepted" || late.outcome !== "accepted") throw new Error();
  const cancel = async (providerOrder: string) =>
    (await api.cancel({ providerOrder, requestId: 1, link: "x" }, STOP)).outcome;
  expect(await cancel(early.providerOrder)).toBe("accepted");
  clock.now += 200_000;
  expect(await report(early.providerOrder)).toMatchObject({ word: "Canceled", remains: 500 });
  expect(await cancel(late.providerOrder)).toBe("refused");
  expect(await report(late.providerOrder)).toMatchObject({ word: "Completed" });
});

test("what it cannot do is refused in words: no outcome is unknown", async () => {
  const { api, submit, report } = open();
  for (const [service, quantity] of [
    [999, 100],
    [101, 1],
    [101, 1e9],
    [101, Number.NaN],
  ] as const) {
    expect((await submit(service, quantity)).outcome).toBe("refused");
  }
  expect(await report("12345")).toMatchObject({ word: null });
  expect(await api.balance(STOP)).toEqual({ balance: 250, currency: "USD" });
  const listed = await api.services(STOP);
  expect(listed.map(({ service }) => Number(service))).toEqual(
    DEMO_PROVIDER_SERVICES.map(({ service }) => service),
  );
});
