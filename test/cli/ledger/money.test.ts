// Users, keys, grants and balances through the command line.

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "bun:test";
import { hashKey, isKeyWellFormed } from "../../../src/domain/users/keys.ts";
import { openShop } from "../../support/worlds/shop.ts";

describe("credit and debit", () => {
  test("change the balance of a reseller, exactly, and print it", async () => {
    const shop = openShop();
    const credit = await shop.cli("admin", "user", "credit", "ALICE", "0.000001", "--json");
    expect(credit.json).toMatchObject({
      username: "alice",
      balance: 100.000001,
      childBalance: 0,
      previousBalance: 100,
      amount: 0.000001,
    });
    expect(credit.stdout).not.toContain("e-");
    expect(credit.stdout).toContain('"amount":0.000001');
    const debit = await shop.cli("admin", "user", "debit", "alice", "33.333333", "--json");
    expect(debit.json).toMatchObject({ balance: 66.666668, previousBalance: 100.000001 });
  });

  test("change the childBalance of a child user", async () => {
    const { json } = await openShop().cli("admin", "user", "credit", "kid", "2.32", "--json");
    expect(json).toMatchObject({ balance: 0, childBalance: 7.32, previousBalance: 5 });
  });

  test("a debit may empty a balance and not exceed it", async () => {
    const shop = openShop();
    expect((await shop.cli("admin", "user", "debit", "alice", "100.000001")).code).toBe(1);
    expect((await shop.cli("admin", "user", "debit", "alice", "100")).code).toBe(0);
    expect(shop.balance("alice")).toBe(0);
  });

  test("one credit is at most 1,000,000,000, a balance after it at most 9,000,000,000", async () => {
    const shop = openShop();
    const credit = (amount: string) =>
      shop.cli("admin", "user", "credit", "bob", amount, "--yes", "--json");
    expect((await credit("1000000000.000001")).code).toBe(2);
    for (let times = 0; times < 9; times++) expect((await credit("1000000000")).code).toBe(0);
    const before = shop.dump();
    const refused = await credit("0.000001");
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("9000000000");
    expect(shop.dump()).toBe(before);
    const { code, stdout } = await shop.cli("admin", "user", "show", "bob");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^balance usd +9000000000\.00$/m);
  });

  test("an amount that a double cannot hold is printed to the micro, as text and as JSON", async () => {
    const shop = openShop();
    for (const amount of ["1000000000", "999999999.999999"]) {
      for (let times = 0; times < 4; times++) {
        await shop.cli("admin", "user", "credit", "bob", amount, "--yes");
      }
    }
    await shop.cli("admin", "user", "credit", "bob", "999999999.999999", "--yes");
    expect((await shop.cli("admin", "user", "show", "bob")).stdout).toContain("8999999999.999995");
    const json = await shop.cli("admin", "user", "show", "bob", "--json");
    expect(json.stdout).toContain('"balance":8999999999.999995,');
  });

  test("record operator and note in the ledger", async () => {
    const shop = openShop();
    await shop.cli("admin", "user", "credit", "alice", "1", "--note", "invoice 12");
    const [last] = shop.query(
      "SELECT kind, operator, note FROM transfers ORDER BY seq DESC LIMIT 1",
    );
    expect(last).toMatchObject({ kind: "adjustment", note: "invoice 12" });
    expect(last!["operator"]).not.toBe("");
  });
});

describe("users", () => {
  test("are found without regard to case and keep the case they were created with", async () => {
    const shop = openShop();
    await shop.cli("admin", "user", "create", "Zoe");
    const { json } = await shop.cli("admin", "user", "show", "zOE", "--json");
    expect(json).toMatchObject({ username: "Zoe", name: "Zoe", resellerId: null });
  });

  test("a child names its reseller", async () => {
    const shop = openShop();
    const parent = (await shop.cli("admin", "user", "show", "alice", "--json")).json;
    const { json } = await shop.cli(
      "admin",
      "user",
      "create",
      "cora",
      "--parent",
      "ALICE",
      "--name",
      "Cora ☂",
      "--json",
    );
    expect(json).toMatchObject({ resellerId: parent.id, name: "Cora ☂" });
  });
});

describe("keys", () => {
  test("the text is shown once, and is in no list and no file", async () => {
    const shop = openShop();
    const made = await shop.cli(
      "admin",
      "key",
      "create",
      "--user",
      "alice",
      "--type",
      "recharge",
      "--reach",
      "children",
      "--json",
    );
    const { key, ...shown } = made.json;
    expect(isKeyWellFormed(key)).toBe(true);
    expect(shown).toMatchObject({ type: "recharge", reach: "children", label: "", active: true });
    const list = await shop.cli("admin", "key", "list", "--json");
    expect(list.json.map(({ id }: { id: string }) => id)).toContain(shown.id);
    expect(list.stdout).not.toContain(key);
    expect(shop.dump()).toContain(hashKey(key));
    expect(shop.dump()).not.toContain(key);
    for (const file of readdirSync(shop.folder)) {
      expect(readFileSync(`${shop.folder}/${file}`).includes(key)).toBe(false);
    }
  });

  test("no two are equal, and an order key needs no reach", async () => {
    const shop = openShop();
    const create = () =>
      shop.cli("admin", "key", "create", "--user", "bob", "--type", "order", "--json");
    const [one, two] = [(await create()).json, (await create()).json];
    expect(one.key).not.toBe(two.key);
    expect(one.reach).toBe("all");
  });

  test("are deactivated and activated", async () => {
    const shop = openShop();
    const { id } = shop.key("bob", "order");
    const off = await shop.cli("admin", "key", "deactivate", id, "--json");
    expect(off.json).toMatchObject({ id, active: false });
    const on = await shop.cli("admin", "key", "activate", id, "--json");
    expect(on.json).toMatchObject({ id, active: true });
  });
});

describe("services", () => {
  test("update changes only the given fields", async () => {
    const shop = openShop();
    const update = (...flags: string[]) =>
      shop.cli("admin", "service", "update", "followers", ...flags, "--json");
    const first = (await update("--price", "33.333333")).json;
    expect(first).toMatchObject({ price: 33.333333, min: 10, max: 10_000, private: false });
    expect((await update("--private")).json).toEqual({ ...first, private: true });
    expect((await update("--public")).json).toEqual(first);
    expect((await update("--per", "order", "--name", "F")).json).toEqual({
      ...first,
      per: "order",
      name: "F",
      // A price per order of any quantity has no words there.
      apiV2: false,
    });
    const { json: moved } = await update("--category", "Instagram");
    expect(moved).toMatchObject({ category: "Instagram", number: first.number });
  });

  test("a second grant replaces the price; without --price the service's own price applies", async () => {
    const shop = openShop();
    const granted = () =>
      shop.query("SELECT price_micros FROM grants").map((grant) => [grant["price_micros"]]);
    const grant = (...flags: string[]) =>
      shop.cli("admin", "service", "grant", "secret", "--user", "ALICE", ...flags, "--json");
    expect((await grant("--price", "0.000001")).json.price).toBe(0.000001);
    expect(granted()).toEqual([[1]]);
    expect((await grant("--price", "2")).json.price).toBe(2);
    expect(granted()).toEqual([[2_000_000]]);
    expect((await grant()).json.price).toBeNull();
    expect(granted()).toEqual([[null]]);
    expect((await shop.cli("admin", "service", "revoke", "secret", "--user", "alice")).code).toBe(
      0,
    );
    expect(granted()).toEqual([]);
  });
});
