// Orders that wait until their provider has funds: which ones wait, for how long, and how they go on.

import { describe, expect, test } from "bun:test";
import { listProviderAttention } from "../../../src/db/reports/attention.ts";
import { listDueSubmissions } from "../../../src/db/delivery/deliveries.ts";
import { listProviders } from "../../../src/db/providers/providers.ts";
import { providerRates } from "../../../src/db/tables/providers.ts";
import type { SubmissionResult } from "../../../src/domain/delivery/deliveries.ts";
import { isOnProbation } from "../../../src/domain/providers/provider-pauses.ts";
import type { HoldSettings } from "../../../src/domain/providers/fund-holds.ts";
import { ENGINES, freshStore } from "../../support/databases/stores.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import { seedStoreShop, type StoreShop } from "../../support/seeds/store-shop.ts";

const SERVER = "a".padEnd(24, "-");
const actor = { keyId: null, operator: "tester" };
const RETRY_MS = 3_600_000;
const HOLD_MS = 24 * 3_600_000;
/** The charge of each order, in micros. */
const CHARGE = 1_000_000;
const START = 1_800_000_000_000;

const ACCEPTED = { outcome: "accepted", providerOrder: "4711" } as const;
const REFUSED = { outcome: "refused", cause: "Incorrect link", outOfFunds: false } as const;
const NO_FUNDS = { outcome: "refused", cause: "Not enough funds", outOfFunds: true } as const;
const NOT_SENT = { outcome: "not_sent", cause: "HTTP 429" } as const;
const UNKNOWN = { outcome: "unknown", cause: "HTTP 502" } as const;

interface World extends StoreShop {
  /** The result of the order's attempt at the provider; null: it was not sent. */
  attempt(
    orderId: number,
    result: SubmissionResult,
    now: number,
    providerId?: number,
  ): Promise<unknown>;
  /** Such as `PENDING queued 1`, with the micros that were charged. */
  shown(orderId: number): Promise<string>;
  pausedBy(providerId?: number): Promise<string | null>;
}

async function open(
  engine: (typeof ENGINES)[number],
  { hasRoutes = false, ...hold }: Partial<HoldSettings> & { hasRoutes?: boolean } = {},
): Promise<World> {
  const shop = await seedStoreShop(await freshStore(engine), { hasRoutes, now: () => START });
  await shop.run("updateProvider", {
    name: "acme",
    changes: { onNoFunds: "hold", ...hold },
    actor,
  });
  const find = async (text: string) => (await shop.store.query(text))[0]!;
  return {
    ...shop,
    async attempt(orderId, result, now, providerId = 1) {
      const started = await shop.start(orderId, SERVER, now, providerId);
      if (!started.send) return null;
      const { attemptId } = started;
      const times = { placeRetryMs: RETRY_MS, backoffMs: 1000 };
      return shop.run("finishAttempt", { orderId, attemptId, result, ...times }, now);
    },
    async shown(orderId) {
      const row = await find(
        `SELECT status, placement, provider_id, charge_micros,
          (SELECT coalesce(sum(amount_micros), 0) FROM transfers
           WHERE order_id = orders.order_id AND kind = 'refund') AS refunded
         FROM orders WHERE order_id = ${orderId}`,
      );
      const kept = Number(row["charge_micros"]) - Number(row["refunded"]);
      return `${String(row["status"])} ${String(row["placement"])} ${String(row["provider_id"])}, ${kept}`;
    },
    async pausedBy(providerId = 1) {
      const row = await find(`SELECT paused_by FROM providers WHERE provider_id = ${providerId}`);
      return row["paused_by"] as string | null;
    },
  };
}

/** The provider's rate: an order costs this many thousandths of its currency for each unit. */
const setRate = (world: World, rate: string) =>
  world.store.run((tx) =>
    tx.insert(providerRates, {
      providerId: 1,
      providerService: "7",
      afterOrder: 0,
      rate,
      unit: "1000",
      createdAt: START,
      dripfeed: false,
    }),
  );

async function ended(world: World): Promise<void> {
  expect(await verifyStore(world)).toEqual([]);
  await world.store.close();
}

describe.each(ENGINES)("on %s", (engine) => {
  const HELD = "PENDING queued 1, 1000000";
  const REFUNDED = "FAILED refused 1, 0";
  test.each([
    ["refund", {}, NO_FUNDS, REFUNDED, null],
    ["refund", {}, REFUSED, REFUNDED, null],
    ["hold", {}, NO_FUNDS, HELD, "funds"],
    ["hold", {}, REFUSED, REFUNDED, null],
    ["hold", {}, NOT_SENT, HELD, null],
    ["hold", {}, UNKNOWN, "PENDING unknown 1, 1000000", null],
    ["hold", {}, ACCEPTED, "PROCESSING placed 1, 1000000", null],
    ["hold", { holdLimitMicros: CHARGE }, NO_FUNDS, HELD, "funds"],
    ["hold", { holdLimitMicros: CHARGE - 1 }, NO_FUNDS, REFUNDED, null],
  ] as const)("%s %j, %j: %s, paused by %s", async (onNoFunds, limits, result, shown, paused) => {
    const world = await open(engine, { onNoFunds, ...limits });
    const { orderId } = await world.order();
    await world.attempt(orderId, result, START);
    expect(await world.shown(orderId)).toBe(shown);
    expect(await world.pausedBy()).toBe(paused);
    await ended(world);
  });

  test("recording the outcome of a held order again changes nothing", async () => {
    const world = await open(engine);
    const { orderId } = await world.order();
    const started = await world.start(orderId, SERVER, START);
    if (!started.send) throw new Error("not sent");
    const { attemptId } = started;
    const times = { placeRetryMs: RETRY_MS, backoffMs: 1000 };
    const finish = () =>
      world.run("finishAttempt", { orderId, attemptId, result: NO_FUNDS, ...times }, START);
    expect(await finish()).toMatchObject({ held: { isFirst: true }, late: null });
    const before = await world.store.query("SELECT * FROM orders");
    expect(await finish()).toMatchObject({ late: null, passedTo: null });
    expect(await world.store.query("SELECT * FROM orders")).toEqual(before);
    expect(await world.attempt(orderId, ACCEPTED, START + 1)).toBeNull();
    await ended(world);
  });

  test("other routes come first; an order waits only when all of them have refused it", async () => {
    const world = await open(engine, { hasRoutes: true });
    const { orderId } = await world.order();
    expect(await world.attempt(orderId, NO_FUNDS, START)).toMatchObject({ passedTo: "bulk" });
    expect(await world.attempt(orderId, REFUSED, START, 2)).toMatchObject({ passedTo: "core" });
    await world.attempt(orderId, REFUSED, START, 3);
    expect(await world.shown(orderId)).toBe(HELD);
    // A later order does not try the paused provider first.
    const later = await world.order();
    expect(await world.start(later.orderId, SERVER, START)).toMatchObject({ passedTo: "bulk" });
    await ended(world);
  });

  test("an order that other routes refused is refunded where too much waits for funds already", async () => {
    const world = await open(engine, { hasRoutes: true, holdLimitMicros: CHARGE });
    const [first, second] = [await world.order(), await world.order()];
    for (const { orderId } of [first, second]) {
      const passed = await world.attempt(orderId, NO_FUNDS, START);
      if (passed === null) expect(orderId).toBe(second.orderId);
      await world.attempt(orderId, REFUSED, START, 2);
      await world.attempt(orderId, REFUSED, START, 3);
    }
    expect(await world.shown(first.orderId)).toBe(HELD);
    expect(await world.shown(second.orderId)).toBe("FAILED refused 3, 0");
    await ended(world);
  });

  test("orders wait up to the limit of value, oldest first; a cancelled one makes room", async () => {
    const world = await open(engine, { holdLimitMicros: 3 * CHARGE });
    const orders: number[] = [];
    for (let count = 0; count < 5; count += 1) orders.push((await world.order()).orderId);
    await world.attempt(orders[0]!, NO_FUNDS, START);
    for (const orderId of orders) expect(await world.attempt(orderId, ACCEPTED, START)).toBeNull();
    const shown = () => Promise.all(orders.map((orderId) => world.shown(orderId)));
    const expired = "FAILED expired 1, 0";
    expect(await shown()).toEqual([HELD, HELD, HELD, expired, expired]);
    const cancel = { id: String(orders[1]), to: "CANCELLED" as const, remains: null, note: null };
    await world.run("transitionOrder", { ...cancel, actor } as never);
    orders.push((await world.order()).orderId);
    await world.attempt(orders[5]!, ACCEPTED, START);
    expect((await shown())[5]).toBe(HELD);
    await ended(world);
  });

  test("a held order fails and is refunded when its time is over, and not a millisecond earlier", async () => {
    const world = await open(engine);
    const { orderId } = await world.order();
    await world.attempt(orderId, NO_FUNDS, START);
    for (const now of [START + RETRY_MS, START + HOLD_MS - 1]) {
      expect(await world.start(orderId, SERVER, now)).toMatchObject({ isGivenUp: false });
    }
    expect(await world.shown(orderId)).toBe(HELD);
    expect(await world.start(orderId, SERVER, START + HOLD_MS)).toMatchObject({ isGivenUp: true });
    expect(await world.shown(orderId)).toBe("FAILED expired 1, 0");
    await ended(world);
  });

  test.each([
    [
      "the operator resumes",
      (world: World, now: number) =>
        world.run("setProviderPaused", { name: "acme", paused: false, actor }, now),
    ],
    [
      "the operator no longer lets orders wait",
      (world: World, now: number) =>
        world.run("updateProvider", { name: "acme", changes: { onNoFunds: "refund" }, actor }, now),
    ],
    [
      "the balance covers the first order",
      async (world: World, now: number) => {
        await world.run("takeDueBalances", null, now);
        const told = { providerId: 1, balance: 0.5, currency: "USD" };
        expect(await world.run("recordProviderBalance", told, now)).toEqual({ isResumed: true });
      },
    ],
  ] as const)(
    "when %s, held orders are due in the sequence of their numbers and have --place-retry from then",
    async (_, resume) => {
      const world = await open(engine);
      await setRate(world, "0.5");
      const orders: number[] = [];
      for (let count = 0; count < 3; count += 1) orders.push((await world.order()).orderId);
      const [first, second] = orders as [number, number];
      await world.attempt(second, NO_FUNDS, START);
      for (const orderId of orders) await world.attempt(orderId, ACCEPTED, START + 1);
      const later = START + 5 * RETRY_MS;
      await resume(world, later);
      const due = await world.store.read((reader) => listDueSubmissions(reader, 1, later, 10));
      expect(due).toEqual(orders);
      expect(await world.attempt(first, NOT_SENT, later)).not.toBeNull();
      expect(await world.start(first, SERVER, later + RETRY_MS - 1)).toMatchObject({ send: true });
      await world.attempt(second, ACCEPTED, later);
      expect(await world.shown(second)).toBe("PROCESSING placed 1, 1000000");
      await ended(world);
    },
  );

  test("a held order that cannot be sent after the hold fails when --place-retry is over", async () => {
    const world = await open(engine);
    const { orderId } = await world.order();
    await world.attempt(orderId, NO_FUNDS, START);
    const later = START + HOLD_MS;
    await world.run("setProviderPaused", { name: "acme", paused: false, actor }, later);
    await world.attempt(orderId, NOT_SENT, later);
    const end = later + RETRY_MS;
    await world.attempt(orderId, NOT_SENT, end - 1);
    expect(await world.shown(orderId)).toBe(HELD);
    expect(await world.start(orderId, SERVER, end)).toMatchObject({ isGivenUp: true });
    await ended(world);
  });

  test.each([
    ["0.5", 0.499999, false],
    ["0.5", 0.5, true],
    ["0.0000001", 0, false],
    [null, 0, false],
    [null, -3, false],
    [null, 0.01, true],
  ] as const)("at a rate of %s a balance of %p ends the hold: %p", async (rate, balance, ends) => {
    const world = await open(engine);
    if (rate !== null) await setRate(world, rate);
    const { orderId } = await world.order();
    await world.attempt(orderId, NO_FUNDS, START);
    const told = { providerId: 1, balance, currency: "USD" };
    // The answer to a call that began before the order was refused says nothing.
    expect(await world.run("recordProviderBalance", told, START)).toEqual({ isResumed: false });
    expect(await world.run("takeDueBalances", null, START + 29_999)).toEqual([]);
    expect(await world.run("takeDueBalances", null, START + 30_000)).toEqual([1]);
    const resumed = await world.run("recordProviderBalance", told, START + 30_001);
    expect(resumed).toEqual({ isResumed: ends });
    expect(await world.pausedBy()).toBe(ends ? null : "funds");
    await ended(world);
  });

  test("after a top-up orders are sent one at a time until one is accepted; if none is, the next question comes later", async () => {
    const world = await open(engine);
    const { orderId } = await world.order();
    await world.attempt(orderId, NO_FUNDS, START);
    const provider = async () =>
      (await world.store.read(listProviders)).find(({ name }) => name === "acme")!;
    const told = { providerId: 1, balance: 1, currency: "USD" };
    await world.run("takeDueBalances", null, START + 30_000);
    await world.run("recordProviderBalance", told, START + 30_000);
    expect(isOnProbation(await provider(), 5)).toBe(true);
    await world.attempt(orderId, NO_FUNDS, START + 30_000);
    expect(await world.run("takeDueBalances", null, START + 89_999)).toEqual([]);
    expect(await world.run("takeDueBalances", null, START + 90_000)).toEqual([1]);
    await world.run("recordProviderBalance", told, START + 90_000);
    await world.attempt(orderId, ACCEPTED, START + 90_000);
    expect(isOnProbation(await provider(), 5)).toBe(false);
    await ended(world);
  });

  test("the orders that wait, their charges and the balance that is needed are reported", async () => {
    const world = await open(engine);
    await setRate(world, "0.25");
    const orders = [await world.order(), await world.order(), await world.order()];
    const held = async () => (await world.store.read(listProviderAttention))[0]!.held;
    expect(await held()).toBeNull();
    await world.attempt(orders[0]!.orderId, NO_FUNDS, START);
    expect(await held()).toEqual({
      orders: 3,
      chargeMicros: 3 * CHARGE,
      cost: "0.75",
      currency: "USD",
    });
    await ended(world);
  });

  test("a pause by the operator during a hold stays until the operator ends it", async () => {
    const world = await open(engine);
    const { orderId } = await world.order();
    await world.attempt(orderId, NO_FUNDS, START);
    await world.run("setProviderPaused", { name: "acme", paused: true, actor }, START + 1);
    expect(await world.pausedBy()).toBe("operator");
    expect(await world.run("takeDueBalances", null, START + HOLD_MS)).toEqual([]);
    await world.run("setProviderPaused", { name: "acme", paused: false, actor }, START + 2);
    await world.attempt(orderId, ACCEPTED, START + 3);
    expect(await world.shown(orderId)).toBe("PROCESSING placed 1, 1000000");
    await ended(world);
  });
});
