// Submission attempts of several servers on one database: each order is sent by one of them, an attempt whose server is
// gone becomes unknown, and an outcome that comes after that still counts.

import { describe, expect, test } from "bun:test";
import type { SubmissionResult } from "../../../src/domain/delivery/deliveries.ts";
import { type StoreShop, seedStoreShop } from "../../support/seeds/store-shop.ts";
import { ENGINES, freshStore } from "../../support/databases/stores.ts";

const [A, B] = ["a", "b"].map((name) => name.padEnd(24, "-")) as [string, string];
const PAID = 99_000_000;
const FULL = 100_000_000;
const PLACED = { status: "PROCESSING", placement: "placed", balance: PAID };
const UNKNOWN = { status: "PENDING", placement: "unknown", balance: PAID };
const SENDING = { status: "PENDING", placement: "sending", balance: PAID };
const REFUSED = { status: "FAILED", placement: "refused", balance: FULL };

const ACCEPTED = { outcome: "accepted", providerOrder: "4711" } as const;
const REFUSAL = { outcome: "refused", cause: "Incorrect link", outOfFunds: false } as const;
const NOT_SENT = { outcome: "not_sent", cause: "ECONNREFUSED" } as const;
const NO_REPLY = { outcome: "unknown", cause: "no reply" } as const;

const DAY_MS = 86_400_000;
const actor = { keyId: null, operator: "tester" };

/** The attempt of A on a new order. */
async function sentByA(shop: StoreShop) {
  const { orderId } = await shop.order();
  const started = await shop.start(orderId, A);
  if (!started.send) throw new Error("not sent");
  const { attemptId } = started;
  const finish = async (result: SubmissionResult) => {
    const input = { orderId, attemptId, result, placeRetryMs: 3_600_000, backoffMs: 0 };
    const { late } = await shop.run("finishAttempt", input);
    return { late, ...(await shop.state(orderId)) };
  };
  const mark = (now?: number) =>
    shop.run("markInterruptedUnknown", { cause: "its server ended", server: B }, now);
  return { orderId, attemptId, finish, mark };
}

const events = async ({ store }: StoreShop) =>
  (await store.query("SELECT note FROM order_events ORDER BY seq")).map(({ note }) => note);

describe.each(ENGINES)("on %s", (engine) => {
  test("of two servers that start the same order at once, one sends it", async () => {
    const shop = await seedStoreShop(await freshStore(engine));
    for (let round = 0; round < 10; round += 1) {
      const { orderId } = await shop.order();
      const both = await Promise.all([shop.start(orderId, A), shop.start(orderId, B)]);
      expect(both.filter(({ send }) => send).length).toBe(1);
    }
    const [row] = await shop.store.query("SELECT count(*) AS attempts FROM attempts");
    expect(Number(row!["attempts"])).toBe(10);
    await shop.store.close();
  });

  test("two servers that take the due polls of 120 orders at once share them, and each is taken once", async () => {
    const resellers = 5;
    const shop = await seedStoreShop(await freshStore(engine), { resellers });
    const placed: number[] = [];
    for (let index = 0; index < 120; index += 1) {
      const { orderId } = await shop.order(index % resellers);
      const started = await shop.start(orderId, A);
      if (!started.send) throw new Error("not sent");
      const result = { outcome: "accepted", providerOrder: String(index + 1) } as const;
      const { attemptId } = started;
      const input = { orderId, attemptId, result, placeRetryMs: 1000, backoffMs: 0 };
      await shop.run("finishAttempt", input);
      placed.push(orderId);
    }
    const now = Date.now();
    const input = { providerId: 1, limit: 100, pollIntervalMs: 60_000, jitter: 0 };
    const take = () => shop.run("takeDuePolls", input, now);
    const taken = (await Promise.all([take(), take()])).flat().map(({ orderId }) => orderId);
    expect(taken.toSorted((a, b) => a - b)).toEqual(placed);
    expect(await take()).toEqual([]);
    await shop.store.close();
  });

  test("an attempt stays unchanged while its server has a lease, whatever the clock shows, and is unknown once the lease has ended", async () => {
    const shop = await seedStoreShop(await freshStore(engine));
    await shop.live(A);
    const { orderId, mark } = await sentByA(shop);
    for (const ahead of [0, DAY_MS, -DAY_MS]) expect(await mark(Date.now() + ahead)).toEqual([]);
    expect(await shop.state(orderId)).toEqual(SENDING);
    await shop.die(A);
    expect(await mark()).toEqual([orderId]);
    expect(await shop.state(orderId)).toEqual(UNKNOWN);
    expect(await mark()).toEqual([]);
    await shop.store.close();
  });

  test("attempts of servers without a lease are unknown at once, all of them together; the server's own are not", async () => {
    const resellers = 3;
    const shop = await seedStoreShop(await freshStore(engine), { resellers });
    const sent: number[] = [];
    for (let index = 0; index < 130; index += 1) {
      const { orderId } = await shop.order(index % resellers);
      await shop.start(orderId, index === 0 ? B : A);
      sent.push(orderId);
    }
    const [own, ...others] = sent;
    const input = { cause: "its server ended", server: B };
    expect(await shop.run("markInterruptedUnknown", input)).toEqual(others);
    expect((await shop.state(own!)).placement).toBe("sending");
    await shop.store.close();
  });

  test.each<[what: string, result: SubmissionResult, after: object, note: unknown[]]>([
    [
      "an acceptance places the order",
      ACCEPTED,
      { ...PLACED, late: "applied" },
      ["the provider's reply came late: it accepted the order"],
    ],
    [
      "a refusal fails it and refunds it",
      REFUSAL,
      { ...REFUSED, late: "applied" },
      ["the provider refused it: Incorrect link"],
    ],
    ["that it was not sent leaves it unknown", NOT_SENT, { ...UNKNOWN, late: "ignored" }, []],
    ["no reply leaves it unknown", NO_REPLY, { ...UNKNOWN, late: null }, []],
  ])(
    "after the attempt was marked unknown: %s, and the order is never started again",
    async (_, result, after, notes) => {
      const shop = await seedStoreShop(await freshStore(engine));
      const { orderId, finish, mark } = await sentByA(shop);
      await mark();
      expect(await shop.state(orderId)).toEqual(UNKNOWN);
      expect(await finish(result)).toEqual(after as never);
      expect(await events(shop)).toEqual(notes);
      // A second time it changes nothing.
      const { late: __, ...state } = after as { late: unknown };
      expect(await finish(result)).toMatchObject(state);
      expect(await events(shop)).toEqual(notes);
      expect((await shop.start(orderId, B)).send).toBe(false);
      await shop.store.close();
    },
  );

  test.each<[what: string, settled: string | null, result: SubmissionResult, after: object]>([
    ["as not placed, an acceptance", null, ACCEPTED, { ...REFUSED, late: "ignored" }],
    ["as not placed, a refusal", null, REFUSAL, { ...REFUSED, late: "ignored" }],
    ["as placed, a refusal", "4711", REFUSAL, { ...PLACED, late: "ignored" }],
    ["as another number, an acceptance", "999", ACCEPTED, { ...PLACED, late: "ignored" }],
  ])(
    "after the operator settled the order %s changes nothing and is reported",
    async (_, providerOrder, result, after) => {
      const shop = await seedStoreShop(await freshStore(engine));
      const { orderId, finish, mark } = await sentByA(shop);
      await mark();
      await shop.run("settleOrder", { id: String(orderId), providerOrder, actor });
      expect(await finish(result)).toEqual(after as never);
      expect((await events(shop)).length).toBe(1);
      await shop.store.close();
    },
  );

  test("an acceptance after the order was cancelled changes nothing and is reported", async () => {
    const shop = await seedStoreShop(await freshStore(engine));
    const { orderId, finish, mark } = await sentByA(shop);
    await mark();
    const cancel = { id: String(orderId), to: "CANCELLED", remains: null, note: null } as const;
    await shop.run("transitionOrder", { ...cancel, actor } as never);
    const cancelled = { status: "CANCELLED", placement: "unknown", balance: FULL };
    expect(await finish(ACCEPTED)).toEqual({ ...cancelled, late: "ignored" });
    await shop.store.close();
  });

  test.each<[what: string, result: SubmissionResult, after: object]>([
    ["acceptance", ACCEPTED, PLACED],
    ["refusal", REFUSAL, REFUSED],
    ["unknown outcome", NO_REPLY, UNKNOWN],
  ])("an %s that is stored twice counts once", async (_, result, after) => {
    const shop = await seedStoreShop(await freshStore(engine));
    const { finish } = await sentByA(shop);
    expect(await finish(result)).toEqual({ late: null, ...after } as never);
    const before = await events(shop);
    expect(await finish(result)).toEqual({ late: null, ...after } as never);
    expect(await events(shop)).toEqual(before);
    await shop.store.close();
  });

  test("an outcome that is stored twice does not end the next attempt, which another server makes", async () => {
    const shop = await seedStoreShop(await freshStore(engine));
    const { orderId, finish } = await sentByA(shop);
    await finish(NOT_SENT);
    expect((await shop.start(orderId, B)).send).toBe(true);
    expect(await finish(NOT_SENT)).toEqual({ late: null, ...SENDING });
    expect(await finish(REFUSAL)).toEqual({ late: "ignored", ...SENDING });
    await shop.run("markInterruptedUnknown", { cause: "its server ended", server: A });
    expect(await finish(REFUSAL)).toEqual({ late: "ignored", ...UNKNOWN });
    await shop.store.close();
  });
});
