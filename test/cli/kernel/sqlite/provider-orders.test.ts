// The orders of providers in a restored backup, and in a damaged file.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { openShop } from "../../../support/worlds/shop.ts";
import { seedProvider, orderOf } from "../../../support/seeds/shop-orders.ts";
import { startUpstream, type Upstream } from "../../../support/peers/upstream.ts";

let upstream: Upstream;
beforeAll(async () => (upstream = await startUpstream()));
afterAll(() => upstream.stop());

const shopOf = () => seedProvider(openShop(), upstream);

test("an order queued in a backup is unknown after a restore: it may have been sent since", async () => {
  const shop = shopOf();
  const ids = [orderOf(shop), orderOf(shop, "sending"), orderOf(shop, "placed")];
  const file = `${shop.folder}/monday.db`;
  expect((await shop.cli("backup", file)).code).toBe(0);
  shop.close();
  expect((await shop.cli("restore", file)).stderr).toBe("");
  const placements = await Promise.all(
    ids.map(async (id) => (await shop.cli("admin", "order", "show", id, "--json")).json.placement),
  );
  expect(placements).toEqual(["unknown", "unknown", "placed"]);
});

test("verify finds an order that was sent twice, and a delivery state that contradicts its attempts", async () => {
  const shop = shopOf();
  for (const outcome of [undefined, "unknown", "sending", "placed"] as const)
    orderOf(shop, outcome);
  expect((await shop.cli("verify")).code).toBe(0);
  const { sqlite } = shop.connection;
  sqlite.run("DROP INDEX attempts_sent_once");
  const unknown = sqlite.query("SELECT order_id FROM orders WHERE placement = 'unknown'").get();
  const { order_id: id } = unknown as { order_id: number };
  sqlite
    .query(
      `INSERT INTO attempts (attempt_id, order_id, outcome, started_at, finished_at, provider_id, provider_service)
      VALUES (99, ?, 'accepted', 1, 2, 1, '7')`,
    )
    .run(id);
  const { code, json } = await shop.cli("verify", "--json");
  expect(code).toBe(1);
  expect(json.problems.map(({ check }: { check: string }) => check)).toEqual([
    // The index that forbids it had to go first.
    "the schema matches the migrations",
    "an order is sent at most once",
    "an order is sent at most once per route",
    "submission states match their attempts",
  ]);
});
