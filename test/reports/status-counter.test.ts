// Orders by state, counted as they are added.

import { expect, test } from "bun:test";
import { raiseFloor } from "../support/http/number-floors.ts";
import { transact } from "../../src/db/port/port.ts";
import { openReader } from "../../src/storage/file/open.ts";
import { createStatusCounter } from "../../src/reports/status-counter.ts";
import { createId } from "../../src/db/port/ids.ts";
import { orders as orderRows } from "../../src/db/tables/orders.ts";
import { seedStoreShop } from "../support/seeds/store-shop.ts";
import { ENGINES, freshStore } from "../support/databases/stores.ts";
import { openShop } from "../support/worlds/shop.ts";

test("a gap in the numbers costs no time, however wide: before the first count and between two", async () => {
  const shop = openShop({ engine: "sqlite" });
  const { connection } = shop;
  void transact(connection.store, (tx) => raiseFloor(tx, "orders", 10 ** 12));
  expect(shop.order(10)).toBe(10 ** 12 + 1);
  const reader = openReader(connection.path);
  const { read: count } = createStatusCounter(reader.store);
  expect((await count()).live.PROCESSING).toBe(1);
  void transact(connection.store, (tx) => raiseFloor(tx, "orders", 10 ** 15));
  expect([shop.order(10), shop.order(10)]).toEqual([10 ** 15 + 1, 10 ** 15 + 2]);
  expect((await count()).live.PROCESSING).toBe(3);
  reader.sqlite.close();
});

test.each(ENGINES)(
  "orders and events count the same each time, settled or not, and those committed below a counted number too: %s",
  async (engine) => {
    const shop = await seedStoreShop(await freshStore(engine));
    // All rows are settled for the one, and none for the other.
    const [settled, young] = [0, 3_600_000].map((ms) => createStatusCounter(shop.store, ms).read);
    const expectCounts = async (counts: Record<string, number>) => {
      // Each order costs 1 USD.
      const charges = Object.fromEntries(
        Object.entries(counts).map(([status, orders]) => [status, BigInt(orders) * 1_000_000n]),
      );
      for (const count of [young!, settled!]) {
        const test = { PENDING: 0, PROCESSING: 0 };
        expect(await count()).toMatchObject({ live: counts, test, charges });
      }
    };
    await expectCounts({ PENDING: 0, PROCESSING: 0, FAILED: 0 });
    const orders = [await shop.order(), await shop.order(), await shop.order()];
    await expectCounts({ PENDING: 3, PROCESSING: 0, FAILED: 0 });
    for (const { orderId } of orders.slice(1)) {
      const started = await shop.start(orderId, "server");
      if (!started.send) throw new Error("not sent");
      const { attemptId } = started;
      const result = { outcome: "accepted", providerOrder: String(orderId) } as const;
      const input = { orderId, attemptId, result, placeRetryMs: 1000, backoffMs: 0 };
      await shop.run("finishAttempt", input);
    }
    await expectCounts({ PENDING: 1, PROCESSING: 2, FAILED: 0 });
    await expectCounts({ PENDING: 1, PROCESSING: 2, FAILED: 0 });
    // A fresh counter counts by the present states.
    const { read: fresh } = createStatusCounter(shop.store);
    expect((await fresh()).live).toMatchObject({ PENDING: 1, PROCESSING: 2, FAILED: 0 });
    // Another server's order, numbered long ago and committed now.
    const far = 1000;
    await shop.store.run((tx) => {
      const row = tx.row(orderRows.byKey, orders[0]!.orderId)!;
      tx.insert(orderRows, { ...row, orderId: far, id: createId() });
    });
    expect((await young!()).live).toMatchObject({ PENDING: 2, PROCESSING: 2 });
    await shop.store.run((tx) => {
      const row = tx.row(orderRows.byKey, orders[0]!.orderId)!;
      tx.insert(orderRows, { ...row, orderId: far - 1, id: createId() });
    });
    expect((await young!()).live).toMatchObject({ PENDING: 3, PROCESSING: 2 });
    await shop.store.close();
  },
);
