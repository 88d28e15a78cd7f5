// Prices below cost on the command line: asked about when they fall, listed, and counted after imports.

import { expect, test } from "bun:test";
import { openShop, type Shop } from "../../support/worlds/shop.ts";
import { seedRates } from "../../support/seeds/rates.ts";

/** `likes` costs 1 USD and is sold at 1.50; `views` costs 1 USD and is sold at 0.50. */
async function shopWithCosts(): Promise<Shop> {
  const shop = openShop();
  seedRates(shop, "acme", { "1": "1", "2": "1" });
  const create = (id: string, price: string, service: string) =>
    shop.service({ id, price, provider: { name: "acme", service } });
  create("likes", "1.5", "1");
  create("views", "0.5", "2");
  return shop;
}

const CREATE = ["create", "--name", "N", "--min", "1", "--max", "9"];
const OF_ACME = ["--provider", "acme", "--provider-service", "1"];

test.each<[asks: boolean, ...argv: string[]]>([
  [true, ...CREATE, "--price", "0.999999", ...OF_ACME],
  [false, ...CREATE, "--price", "1", ...OF_ACME],
  [false, ...CREATE, "--price", "0.5"],
  [true, "update", "likes", "--price", "0.9"],
  [true, "update", "likes", "--per", "1", "--price", "0.0009"],
  [false, "update", "likes", "--price", "1"],
  [false, "update", "likes", "--name", "Other"],
  // Already below cost: only a lower price asks.
  [true, "update", "views", "--price", "0.4"],
  [false, "update", "views", "--price", "0.6"],
  [false, "update", "views", "--name", "Other"],
  [true, "update", "followers", "--price", "0.5", ...OF_ACME],
  [false, "update", "likes", "--price", "0.5", "--provider", "none"],
  [true, "grant", "likes", "--user", "alice", "--price", "0.9"],
  [false, "grant", "likes", "--user", "alice", "--price", "1.1"],
  [false, "grant", "likes", "--user", "alice"],
  [true, "reprice", "--percent", "-40", "likes"],
  [false, "reprice", "--percent", "-30", "likes"],
  [true, "reprice", "--percent", "-10"],
  [false, "reprice", "--percent", "10"],
])("asks: %p for service %s %s %s %s %s %s %s %s %s %s %s", async (asks, ...argv) => {
  const shop = await shopWithCosts();
  const before = shop.dump();
  const plain = await shop.cli("admin", "service", ...argv);
  if (asks) {
    expect([plain.code, plain.told]).toEqual([2, expect.stringContaining("below cost")]);
    expect(shop.dump()).toBe(before);
    expect((await shop.cli("admin", "service", ...argv, "--yes")).code).toBe(0);
  } else expect([plain.code, plain.stderr]).toEqual([0, expect.any(String)]);
  expect(shop.dump()).not.toBe(before);
  shop.close();
});

test("a discount asks if more services would be below cost, and not if it only goes down", async () => {
  const shop = await shopWithCosts();
  // Those that the sync added are sold at cost.
  shop.query("DELETE FROM services WHERE name LIKE 'Synced%'");
  const discount = (percent: string, ...more: string[]) =>
    shop.cli("admin", "user", "discount", "alice", percent, ...more);
  expect((await discount("33")).code).toBe(0);
  const asked = await discount("34");
  expect([asked.code, asked.told]).toEqual([
    2,
    expect.stringContaining("1 more service would be sold below cost"),
  ]);
  expect((await discount("34", "--yes")).code).toBe(0);
  expect((await discount("40")).code).toBe(0);
  expect((await discount("35")).code).toBe(0);
  shop.close();
});

test("a price of 0 asks one question only, about a free service", async () => {
  const shop = await shopWithCosts();
  const { code, told } = await shop.cli("admin", "service", "update", "likes", "--price", "0");
  expect([code, told]).toEqual([2, expect.stringContaining("becomes free")]);
  shop.close();
});

test("services below cost are listed and counted after an import, which does not ask", async () => {
  const shop = await shopWithCosts();
  const file = `${shop.folder}/list.csv`;
  await Bun.write(file, "id,price\nlikes,0.9\n");
  const imported = await shop.cli("admin", "service", "import", file, "--update");
  expect([imported.code, imported.stderr]).toEqual([
    0,
    "note: 2 services sold below cost: see `service list --below-cost`\n",
  ]);
  const listed = await shop.cli("admin", "service", "list", "--below-cost", "--json");
  expect(listed.json.map(({ id }: { id: string }) => id)).toEqual(["likes", "views"]);
  shop.close();
});

test("categories are listed and ordered", async () => {
  const shop = await shopWithCosts();
  await shop.cli("admin", "service", "update", "likes", "--category", "Zebra");
  const ordered = await shop.cli("admin", "category", "order", "Zebra", "Gone", "Zebra", "--json");
  expect(ordered.json.map(({ category }: { category: string }) => category)).toEqual([
    "Zebra",
    "Services",
    "Synced",
  ]);
  expect(ordered.json[0]).toEqual({ category: "Zebra", services: 1, position: 1 });
  const { stdout } = await shop.cli("admin", "category", "list");
  expect(stdout).toMatch(/POSITION +CATEGORY +SERVICES\n +1 +Zebra/i);
  expect((await shop.cli("admin", "category", "order", "")).code).toBe(2);
  shop.close();
});
