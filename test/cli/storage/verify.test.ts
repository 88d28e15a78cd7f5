// `verify` of a database that nothing has damaged.

import { expect, test } from "bun:test";
import { openShop } from "../../support/worlds/shop.ts";
import { seedEndedOrders } from "../../support/seeds/shop-orders.ts";

test("an undamaged database is ok: exit 0, with its path and its counts", async () => {
  const shop = await seedEndedOrders(openShop());
  const { code, json } = await shop.cli("verify", "--json");
  expect(code).toBe(0);
  expect(json).toEqual({
    ok: true,
    database: shop.description,
    users: 3,
    orders: 3,
    transfers: 7,
    usedKeys: 0,
    problems: [],
    problemCount: 0,
  });
  expect((await shop.cli("verify")).stdout).toContain(shop.description);
});
