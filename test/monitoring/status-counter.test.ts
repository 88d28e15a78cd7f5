// Orders by state, counted as they are added.

import { expect, test } from "bun:test";
import { raiseFloor } from "../../src/db/number-floors.ts";
import { transact } from "../../src/db/port.ts";
import { openReader } from "../../src/storage/open.ts";
import { createStatusCounter } from "../../src/monitoring/status-counter.ts";
import { openShop } from "../support/cli.ts";

test("a gap in the numbers costs no time, however wide: before the first count and between two", async () => {
  const shop = openShop();
  const { connection } = shop;
  void transact(connection.store, (tx) => raiseFloor(tx, "orders", 10 ** 12));
  expect(shop.order(10)).toBe(10 ** 12 + 1);
  const reader = openReader(connection.path);
  const count = createStatusCounter(reader.store);
  expect((await count()).PROCESSING).toBe(1);
  void transact(connection.store, (tx) => raiseFloor(tx, "orders", 10 ** 15));
  expect([shop.order(10), shop.order(10)]).toEqual([10 ** 15 + 1, 10 ** 15 + 2]);
  expect((await count()).PROCESSING).toBe(3);
  reader.sqlite.close();
});
