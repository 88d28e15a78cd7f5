// Grants listed and imported, one service shown, prices for nothing and many prices at once.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import { openShop, type Shop } from "../../support/worlds/shop.ts";
import { freshFolder } from "../../support/folders.ts";

function fileOf(text: string): string {
  const file = join(freshFolder(), "prices.csv");
  writeFileSync(file, text);
  return file;
}

const imported = (shop: Shop, text: string, ...more: string[]) =>
  shop.cli("admin", "grant", "import", fileOf(text), ...more);

test("grants are listed, by service or reseller, and as CSV that is imported again", async () => {
  const shop = openShop();
  await shop.cli("admin", "service", "grant", "followers", "--user", "alice", "--price", "1.9");
  await shop.cli("admin", "service", "grant", "secret", "--user", "alice");
  await shop.cli("admin", "service", "grant", "followers", "--user", "bob", "--price", "0");
  const list = async (...argv: string[]) =>
    (await shop.cli("admin", "grant", "list", ...argv, "--json")).json as object[];
  const [own] = await list("--service", "followers", "--user", "alice");
  expect(own).toEqual({
    service: "followers",
    name: "Followers",
    username: "alice",
    price: 1.9,
    standardPrice: 2.32,
  });
  expect(await list("--service", "followers")).toHaveLength(2);
  expect(await list("--user", "ALICE")).toHaveLength(2);
  expect(await list()).toHaveLength(3);
  const { stdout } = await shop.cli("admin", "grant", "list", "--csv");
  expect(stdout).toBe(
    "service,username,price\nfollowers,alice,1.9\nfollowers,bob,0\nsecret,alice,\n",
  );
  const before = shop.dump();
  const again = await imported(shop, stdout, "--json");
  expect(again.json).toEqual({ imported: 0, unchanged: 3 });
  expect(shop.dump()).toBe(before);
  const other = openShop();
  expect((await imported(other, stdout, "--json")).json).toEqual({ imported: 3, unchanged: 0 });
  expect((await other.cli("admin", "grant", "list", "--csv")).stdout).toBe(stdout);
  expect((await list("--service", "nothing").catch(() => null)) ?? null).toBeFalsy();
});

describe("an import is all or nothing", () => {
  test("every invalid row is named", async () => {
    const shop = openShop();
    const before = shop.dump();
    const text = [
      "service,username,price",
      "followers,bob,1",
      "nothing,bob,1",
      "followers,nobody,1",
      "followers,kid,1",
    ].join("\n");
    const { code, stderr } = await imported(shop, text);
    expect(code).toBe(1);
    for (const [line, words] of [
      [3, "service not found"],
      [4, "user not found"],
      [5, "cannot hold a grant"],
    ] as const) {
      expect(stderr).toContain(`line ${line}: `);
      expect(stderr).toContain(words);
    }
    expect(stderr).not.toContain("line 2");
    expect(shop.dump()).toBe(before);
  });

  test("unreadable and refused rows are reported together, by line", async () => {
    const shop = openShop();
    const text = ["service,username,price", "nothing,bob,1", "followers,bob,x", "followers,kid,1"];
    const { code, stderr } = await imported(shop, text.join("\n"));
    expect(code).toBe(1);
    expect([...stderr.matchAll(/line (\d)/g)].map(([, line]) => line)).toEqual(["2", "3", "4"]);
  });

  test.each([
    ["an invalid price", "service,username,price\nfollowers,bob,abc\nfollowers,alice,-1", "line 3"],
    [
      "a duplicate grant",
      "service,username\nfollowers,bob\nfollowers,BOB",
      "duplicate of the grant in",
    ],
    ["another header", "service,user\nfollowers,bob", "must begin with the line service,username"],
    ["no rows", "service,username\n", "contains no grants"],
    ["text that is not CSV", 'service,username\n"followers,bob', "is never closed"],
    ["a row with too few cells", "service,username,price\nfollowers,bob", "number of cells"],
  ])("%s", async (_, text, words) => {
    const shop = openShop();
    const before = shop.dump();
    const { code, stderr } = await imported(shop, text);
    expect([code, stderr]).toEqual([1, expect.stringContaining(words)]);
    expect(shop.dump()).toBe(before);
  });

  test("more than 20 grants need a confirmation: exit 2 without a terminal, unless --yes is given", async () => {
    const shop = openShop();
    const rows = Array.from({ length: 21 }, (_, index) => {
      shop.service({ id: `s${index}` });
      return `s${index},bob,1`;
    });
    const text = ["service,username,price", ...rows].join("\n");
    const before = shop.dump();
    const refused = await imported(shop, text);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("set 21 grants")]);
    expect(shop.dump()).toBe(before);
    expect((await imported(shop, text, "--yes", "--json")).json).toMatchObject({ imported: 21 });
    expect((await shop.cli("verify")).code).toBe(0);
  });
});

test("service show prints the service and its grants", async () => {
  const shop = openShop();
  await shop.cli("admin", "service", "grant", "secret", "--user", "bob", "--price", "3");
  await shop.cli("admin", "service", "grant", "secret", "--user", "alice");
  const { json } = await shop.cli("admin", "service", "show", "secret", "--json");
  expect(json).toMatchObject({
    id: "secret",
    private: true,
    grants: [
      { username: "alice", price: null },
      { username: "bob", price: 3 },
    ],
  });
  const text = await shop.cli("admin", "service", "show", "secret");
  expect(text.stdout).toContain("bob");
  expect((await shop.cli("admin", "service", "show", "nothing")).code).toBe(1);
});

describe("service update --price 0", () => {
  test("is refused without a terminal and --yes: exit 2; a service that is already free needs no confirmation", async () => {
    const shop = openShop();
    const update = (...argv: string[]) =>
      shop.cli("admin", "service", "update", "followers", "--price", "0", ...argv);
    const before = shop.dump();
    const refused = await update();
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining("set the price of followers from 2.32 USD to 0"),
    ]);
    expect(shop.dump()).toBe(before);
    expect((await update("--yes", "--json")).json.price).toBe(0);
    expect((await update("--max", "20000")).code).toBe(0);
  });
});

test("repricing more than 20 services needs a confirmation; --dry-run never does", async () => {
  const shop = openShop();
  for (let index = 0; index < 21; index += 1) shop.service({ id: `s${index}`, price: "1" });
  const reprice = (...argv: string[]) =>
    shop.cli("admin", "service", "reprice", "--percent", "10", ...argv);
  const before = shop.dump();
  expect((await reprice()).code).toBe(2);
  expect((await reprice("--dry-run")).code).toBe(0);
  expect(shop.dump()).toBe(before);
  expect((await reprice("--yes")).code).toBe(0);
  expect((await reprice("s1", "s2")).code).toBe(0);
});
