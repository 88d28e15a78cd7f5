// Orders and money by time, counted as they are added.

import { expect, test } from "bun:test";
import { PERIOD_MS } from "../../src/db/reports/order-counts.ts";
import { raiseFloor } from "../support/http/number-floors.ts";
import { transact } from "../../src/db/port/port.ts";
import { createActivityCounter } from "../../src/reports/activity.ts";
import { DAY_MS } from "../../src/domain/values/spans.ts";
import { seedStoreShop } from "../support/seeds/store-shop.ts";
import { freshSqliteDatabase } from "../support/databases/test-database.ts";
import { ENGINES, freshStore } from "../support/databases/stores.ts";

test.each(ENGINES)(
  "orders and money have the same totals, counted at once or as they are added, settled or not: %s",
  async (engine) => {
    const shop = await seedStoreShop(await freshStore(engine));
    const now = Date.now();
    const counters = [0, 3_600_000].map((ms) => createActivityCounter(shop.store, ms));
    const expectAll = async (expected: object) => {
      for (const count of [...counters, createActivityCounter(shop.store)]) {
        const figures = (await count(60_000))!;
        const { orders, charges, ...money } = figures(now - DAY_MS, now + DAY_MS);
        const { PENDING, PROCESSING, FAILED } = orders;
        // Each order costs 1 USD.
        const million = (count: number) => BigInt(count) * 1_000_000n;
        expect(charges).toMatchObject({
          PENDING: million(PENDING),
          PROCESSING: million(PROCESSING),
          FAILED: million(FAILED),
        });
        expect({ PENDING, PROCESSING, FAILED, ...money }).toEqual(expected as never);
      }
    };
    const noMoney = { chargedMicros: 0n, refundedMicros: 0n, costMicros: 0n };
    const nothing = { PENDING: 0, PROCESSING: 0, FAILED: 0, ...noMoney };
    await expectAll(nothing);
    const orders = [await shop.order(), await shop.order(), await shop.order()];
    const charge = BigInt(orders[0]!.chargeMicros);
    await expectAll({ ...nothing, PENDING: 3, chargedMicros: 3n * charge });
    const finish = async (orderId: number, result: object) => {
      const started = await shop.start(orderId, "server");
      if (!started.send) throw new Error("not sent");
      const { attemptId } = started;
      const input = { orderId, attemptId, result, placeRetryMs: 1000, backoffMs: 0 };
      await shop.run("finishAttempt", input as never);
    };
    await finish(orders[0]!.orderId, { outcome: "accepted", providerOrder: "1" });
    await finish(orders[1]!.orderId, { outcome: "refused", cause: "no", outOfFunds: false });
    const states = { PENDING: 1, PROCESSING: 1, FAILED: 1 };
    const after = { ...states, chargedMicros: 3n * charge, refundedMicros: charge };
    await expectAll({ ...after, costMicros: 0n });
    await expectAll({ ...after, costMicros: 0n });
    for (const charged of ["0.5", "0.2"]) {
      const cost = { charge: charged, currency: null };
      const report = { word: "In progress", startCount: null, remains: null, cost, text: "{}" };
      const providerId = orders[0]!.delivery!.providerId;
      const reports = [{ orderId: orders[0]!.orderId, report }];
      await shop.run("recordReports", { providerId, reports, pollIntervalMs: 1000, jitter: 0 });
      await expectAll({ ...after, costMicros: BigInt(Number(charged) * 1e6) });
    }
    await shop.store.close();
  },
);

test("an order counts in the period in which it was placed, whenever its state changes; after a month it does not count", async () => {
  const database = freshSqliteDatabase();
  database.user("alice", "100");
  const key = database.key("alice", "full");
  const service = database.service({ min: 1 });
  const [{ account }] = database.query<{ account: number }>(
    "SELECT account FROM users WHERE username = 'alice'",
  ) as [{ account: number }];
  const now = Math.floor(Date.now() / PERIOD_MS) * PERIOD_MS;
  const place = (at: number) => {
    const order = { resellerAccount: account, keyId: key.id, service, link: "x", quantity: 100 };
    return database.execute("placeOrder", order, at).orderId;
  };
  const { store } = database.connection;
  const count = createActivityCounter(store, 0, () => now);
  place(now - 40 * DAY_MS);
  const old = place(now - 3 * DAY_MS);
  void transact(store, (tx) => raiseFloor(tx, "orders", 10 ** 12));
  place(now - 1);
  place(now);
  const counted = async () => {
    const figures = (await count(60_000))!;
    const day = (from: number) => {
      const { orders } = figures(now - from * DAY_MS, now - (from - 1) * DAY_MS);
      return [orders.PROCESSING, orders.CANCELLED];
    };
    return {
      month: figures(0, now + DAY_MS).orders.PROCESSING,
      three: day(3),
      last: day(1),
      next: day(0),
    };
  };
  expect(await counted()).toEqual({ month: 3, three: [1, 0], last: [1, 0], next: [1, 0] });
  const actor = { keyId: null, operator: "tester" };
  const change = { id: String(old), to: "CANCELLED", note: null, actor } as const;
  database.execute("transitionOrder", change, now + 5);
  expect(await counted()).toEqual({ month: 2, three: [0, 1], last: [1, 0], next: [1, 0] });
  database.close();
});

test("test orders do not count, and many in a row are not taken for the end of the month", async () => {
  const database = freshSqliteDatabase();
  database.user("alice", "100");
  const [live, isTest] = [false, true].map((side) => database.key("alice", "full", "all", side));
  const service = database.service({ min: 1, price: "0.001" });
  const place = ({ id: keyId }: { id: string }, times: number) => {
    const [{ account }] = database.query<{ account: number }>(
      "SELECT reseller_account AS account FROM keys WHERE id = ?",
      keyId,
    ) as [{ account: number }];
    const order = { resellerAccount: account, keyId, service, link: "x", quantity: 1000 };
    const entries = Array.from({ length: times }, () => ({ order }));
    database.run("placeOrders", { keyId, entries });
  };
  place(live!, 1);
  const before = createActivityCounter(database.connection.store);
  await before(60_000);
  // More than two steps of a count.
  for (let batch = 0; batch < 9; batch += 1) place(isTest!, 1000);
  for (const count of [before, createActivityCounter(database.connection.store)]) {
    const figures = (await count(60_000))!(Date.now() - DAY_MS, Date.now() + DAY_MS);
    expect(figures.orders).toMatchObject({ PENDING: 0, PROCESSING: 1 });
    expect(figures.chargedMicros).toBe(1000n);
  }
  database.close();
});

test("the first count does not keep a page waiting", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const database = freshSqliteDatabase();
  const { store } = database.connection;
  const count = createActivityCounter({
    read: async (body) => {
      await held;
      return store.read(body);
    },
  });
  expect(await count(1)).toBeNull();
  release();
  expect(await count(60_000)).not.toBeNull();
  database.close();
});
