// Test keys and test orders on the command line.

import { expect, test } from "bun:test";
import { openShop, optionsOf, reseller } from "../../support/worlds/shop.ts";
import { maskKeys } from "../../../src/domain/users/keys.ts";

const KEY = /^rk_test_[0-9A-Za-z]{28}$/;

test("a test key is made, listed as one, rotated into another, and recognised by its start", async () => {
  const shop = openShop();
  const make = [
    "admin",
    "key",
    "create",
    "--user",
    "alice",
    "--type",
    "full",
    "--reach",
    "all",
    "--json",
  ];
  const live = (await shop.cli(...make)).json;
  const made = (await shop.cli(...make, "--test")).json;
  expect(made).toMatchObject({ username: "alice", type: "full", test: true, active: true });
  expect(made.key).toMatch(KEY);
  expect(live).toMatchObject({ username: "alice", test: false });
  expect(maskKeys(`${made.key} ${live.key}`)).toBe("rk_test_*** rk_***");
  const rotated = (await shop.cli("admin", "key", "rotate", made.id, "--json")).json;
  expect(rotated).toMatchObject({ username: "alice", test: true });
  expect(rotated.key).toMatch(KEY);
  const listed = (await shop.cli("admin", "key", "list", "--user", "alice", "--json")).json;
  const found = listed.find(({ id }: { id: string }) => id === made.id);
  expect(found).toMatchObject({ test: true, username: "alice", replacedBy: rotated.id });
  expect(made.key).toStartWith(found.start);
  expect(found.start).toHaveLength("rk_test_".length + 5);
  expect(
    (
      await shop.cli(
        "admin",
        "key",
        "create",
        "--user",
        "kid",
        "--type",
        "full",
        "--reach",
        "all",
        "--test",
      )
    ).code,
  ).toBe(1);
  expect((await reseller("verify", ...optionsOf(shop))).code).toBe(0);
  shop.close();
});

test("test orders are listed only with --test, and found by their id", async () => {
  const shop = openShop();
  const live = shop.order(10);
  const { id: keyId } = shop.key("alice", "full", "all", true);
  const [twin] = shop.query<{ account: number }>(
    "SELECT account FROM users WHERE test_of IS NOT NULL",
  );
  const order = {
    resellerAccount: Number(twin!.account),
    keyId,
    service: "followers",
    link: "https://test.invalid/pending",
    quantity: 10,
  };
  const { orderId } = shop.run("placeOrder", order);
  shop.attempt(orderId, { outcome: "unknown", cause: "asked for" });

  const numbers = async (...options: string[]) =>
    (await shop.cli("admin", "order", "list", "--json", ...options)).json.map(
      (each: { orderId: number }) => each.orderId,
    );
  expect(await numbers()).toEqual([live]);
  expect(await numbers("--user", "alice")).toEqual([live]);
  expect(await numbers("--unknown")).toEqual([]);
  expect(await numbers("--test")).toEqual([orderId]);
  expect(await numbers("--test", "--user", "alice")).toEqual([orderId]);
  expect(await numbers("--test", "--unknown")).toEqual([orderId]);
  expect(await numbers("--test", "--user", "bob")).toEqual([]);
  const shown = (await shop.cli("admin", "order", "show", String(orderId), "--json")).json;
  expect(shown).toMatchObject({
    test: true,
    username: "alice",
    provider: "test:sandbox",
    placement: "unknown",
  });
  const settled = (
    await shop.cli("admin", "order", "settle", String(orderId), "--not-placed", "--json")
  ).json;
  expect(settled).toMatchObject({ test: true, status: "FAILED", refunded: settled.charge });
  const usernames = (await shop.cli("admin", "user", "list", "--json")).json.map(
    (each: { username: string }) => each.username,
  );
  expect(usernames.toSorted()).toEqual(["alice", "bob", "kid"]);
  expect((await shop.cli("admin", "provider", "list", "--json")).json).toEqual([]);
  expect((await shop.cli("admin", "user", "show", "test:alice")).code).toBe(2);
  const protocol = ["--url", "http://127.0.0.1:1", "--protocol", "sandbox"];
  expect((await shop.cli("admin", "provider", "create", "mine", ...protocol)).code).toBe(2);
  expect((await reseller("verify", ...optionsOf(shop))).code).toBe(0);
  shop.close();
});
