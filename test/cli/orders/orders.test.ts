// Orders through the command line: the state table (docs/specification/orders.md#order-transitions) by both ids, progress, lists.

import { describe, expect, test } from "bun:test";
import { runs, sampleOf } from "../../support/runs.ts";
import { openShop, type Shop } from "../../support/worlds/shop.ts";

/** 0.232 USD for 100. */
const CHARGE = 232_000;
const BALANCE = 100_000_000;

const MEMBERS: ("orderId" | "id")[] = ["orderId", "id"];

/** The commands that lead to a state, from a new order of 100. */
const STATES: Record<string, string[][]> = {
  PROCESSING: [],
  COMPLETED: [["complete"]],
  PARTIAL: [["partial", "--remains", "33"]],
  FAILED: [["fail"]],
  CANCELLED: [["cancel"]],
  REFUNDED: [["complete"], ["refund"]],
};
const VERBS: Record<string, { argv: string[]; to: string; from: string[] }> = {
  complete: { argv: ["complete"], to: "COMPLETED", from: ["PROCESSING"] },
  partial: { argv: ["partial", "--remains", "50"], to: "PARTIAL", from: ["PROCESSING"] },
  fail: { argv: ["fail"], to: "FAILED", from: ["PROCESSING"] },
  cancel: { argv: ["cancel"], to: "CANCELLED", from: ["PROCESSING"] },
  refund: { argv: ["refund"], to: "REFUNDED", from: ["COMPLETED", "PARTIAL"] },
};
const REFUNDS: Record<string, number> = {
  COMPLETED: 0,
  PARTIAL: CHARGE / 2,
  FAILED: CHARGE,
  CANCELLED: CHARGE,
  REFUNDED: CHARGE,
};

/** By both ids in turn: each verb and each state has either. The whole table is that of operations/orders/orders.test.ts. */
const TRANSITIONS = Object.keys(STATES)
  .flatMap((from) => Object.keys(VERBS).map((verb) => [from, verb] as const))
  .flatMap(([from, verb], index) =>
    runs([MEMBERS[index % 2]!], MEMBERS).map((member) => [from, verb, member] as const),
  );

test.each(sampleOf(TRANSITIONS, 3))(
  "%s %s by %s: moved and refunded by the table, or refused",
  async (from, verb, member) => {
    const shop = openShop();
    const { argv, to, from: allowed } = VERBS[verb]!;
    const id = await orderIn(shop, from, member);
    const before = shop.dump();
    const { code, stderr, json } = await move(shop, id, argv);
    if (!allowed.includes(from)) {
      expect(code).toBe(1);
      expect(stderr).toContain(`${from} cannot become ${to}`);
      expect(shop.dump()).toBe(before);
      return;
    }
    expect(code).toBe(0);
    expect(json).toMatchObject({ status: to, charge: 0.232, refunded: REFUNDS[to]! / 1e6 });
    expect(shop.balance("alice")).toBe(BALANCE - CHARGE + REFUNDS[to]!);
    expect((await shop.cli("verify")).code).toBe(0);
  },
);

test("a transition shows in every later list and detail, with its author and note", async () => {
  const shop = openShop();
  const id = await orderIn(shop, "PROCESSING", "id");
  await move(shop, id, ["complete", "--note", "by mail"]);
  const { json } = await shop.cli("admin", "order", "show", id, "--json");
  expect(json).toMatchObject({ status: "COMPLETED", remains: 0, username: "alice" });
  expect(json).toMatchObject({ placement: "manual", provider: null, providerOrder: null });
  expect(json.timeline).toMatchObject([{ from: "PROCESSING", to: "COMPLETED", note: "by mail" }]);
});

describe("partial --remains", () => {
  test.each([
    [0, 0],
    [1, 2_320],
    [33, 76_560],
    [99, 229_680],
    [100, CHARGE],
  ])("%d of 100 refunds %d micros", async (remains, refund) => {
    const shop = openShop();
    const id = await orderIn(shop, "PROCESSING", "orderId");
    const { json } = await move(shop, id, ["partial", "--remains", String(remains)]);
    expect(json).toMatchObject({ remains, refunded: refund / 1e6 });
    expect(shop.balance("alice")).toBe(BALANCE - CHARGE + refund);
    const { json: refunded } = await move(shop, id, ["refund"]);
    expect(refunded.refunded).toBe(0.232);
    expect(shop.balance("alice")).toBe(BALANCE);
  });
});

describe("progress", () => {
  test("leaves other fields unchanged", async () => {
    const shop = openShop();
    const id = await orderIn(shop, "PROCESSING", "orderId");
    await move(shop, id, ["progress", "--start-count", "3572"]);
    const { json } = await move(shop, id, ["progress", "--remains", "0"]);
    expect(json).toMatchObject({ status: "PROCESSING", startCount: 3572, remains: 0 });
  });

  test.each(Object.keys(STATES).filter((state) => state !== "PROCESSING"))(
    "is refused on %s",
    async (state) => {
      const shop = openShop();
      const id = await orderIn(shop, state, "orderId");
      const before = shop.dump();
      expect((await move(shop, id, ["progress", "--remains", "1"])).code).toBe(1);
      expect(shop.dump()).toBe(before);
    },
  );
});

describe("order list", () => {
  const shop = openShop();
  for (let made = 0; made < 60; made++) shop.order(100);
  const list = async (...flags: string[]): Promise<number[]> => {
    const { json } = await shop.cli("admin", "order", "list", ...flags, "--json");
    return json.map(({ orderId }: { orderId: number }) => orderId);
  };
  const newest = Array.from({ length: 60 }, (_, index) => 60 - index);

  test("is newest first, 50 by default, without a maximum", async () => {
    expect(await list()).toEqual(newest.slice(0, 50));
    expect(await list("--limit", "3")).toEqual(newest.slice(0, 3));
    expect(await list("--limit", "9007199254740991")).toEqual(newest);
  });

  test("is narrowed by status and by user", async () => {
    await move(shop, "7", ["complete"]);
    expect(await list("--status", "COMPLETED")).toEqual([7]);
    expect(await list("--status", "FAILED")).toEqual([]);
    expect(await list("--user", "Alice", "--limit", "1")).toEqual([60]);
    expect(await list("--user", "bob")).toEqual([]);
  });
});

async function orderIn(shop: Shop, state: string, member: "id" | "orderId"): Promise<string> {
  const number = String(shop.order(100));
  for (const argv of STATES[state]!) expect((await move(shop, number, argv)).code).toBe(0);
  const { json } = await shop.cli("admin", "order", "show", number, "--json");
  expect(json.status).toBe(state);
  return String(json[member]);
}

function move(shop: Shop, id: string, [verb, ...flags]: string[]) {
  return shop.cli("admin", "order", verb!, id, ...flags, "--json");
}
