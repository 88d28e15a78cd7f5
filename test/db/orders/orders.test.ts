// An order is found by its number or its cuid2, in no other spelling of either.

import { expect, test } from "bun:test";
import { findOrder } from "../../../src/db/orders/orders.ts";
import { openShop } from "../../support/worlds/shop.ts";

test("an order is found by its number and its cuid2 as they are written, and by nothing else", () => {
  const shop = openShop();
  const find = (id: string) => shop.read((reader) => findOrder(reader, id));
  const number = shop.order(100);
  const { id } = find(String(number))!;
  expect(number).toBe(1);
  expect(find(id)).toMatchObject({ orderId: number });
  const others = [
    ..."01 0 -0 -1 +1 1.0 1. 1e0 0x1 1n 1_ ١ １ 2 9007199254740993".split(" "),
    "", " 1", "1 ", "1\n", "1\0", "1".repeat(400), "1' OR 1=1", "a".repeat(24),
    id.toUpperCase(), id.slice(0, 23), `${id}a`, ` ${id}`, `${id}\n`, id.repeat(500),
  ]; // prettier-ignore
  for (const other of others) expect([other, find(other)]).toEqual([other, undefined]);
});
