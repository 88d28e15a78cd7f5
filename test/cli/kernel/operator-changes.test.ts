// What the operator's panel can do a script can too: lists with its filters and cursors, and the changes of users,
// providers and prices.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openShop, type Shop } from "../../support/worlds/shop.ts";
import { seedEndedOrders } from "../../support/seeds/shop-orders.ts";
import { expectFailure, runWithInput } from "../../support/operator-cli.ts";

let shop: Shop;

beforeAll(async () => {
  shop = await seedEndedOrders(openShop());
  shop.run("createProvider", {
    name: "acme",
    protocol: "smm-api",
    url: "http://127.0.0.1:9",
    key: "k",
  });
  shop.service({
    id: "views",
    name: "Views",
    price: "1",
    provider: { name: "acme", service: "7" },
  });
});
afterAll(() => shop.close());

const list = async (...argv: string[]) => (await shop.cli("admin", ...argv, "--json")).json;
const idsOf = (rows: { orderId: number }[]) => rows.map(({ orderId }) => orderId);

describe("order list", () => {
  test.each([
    [[], [3, 2, 1]],
    [["--status", "CANCELLED"], [3]],
    [
      ["--service", "followers", "--placement", "manual"],
      [3, 2, 1],
    ],
    [["--service", "views"], []],
    [["--provider", "acme"], []],
    [
      ["--id", "3,1", "--id", "77"],
      [3, 1],
    ],
    [
      ["--link", "EXAMPLE.com/ME"],
      [3, 2, 1],
    ],
    [["--link", "nowhere"], []],
    [
      ["--from", "1h"],
      [3, 2, 1],
    ],
    [["--to", "2020-01-01"], []],
    [["--reference", "none"], []],
    [["--provider-order", "7"], []],
    [["--user", "alice", "--limit", "1"], [3]],
    [["--limit", "1", "--cursor", "3"], [2]],
    [["--unknown"], []],
    [["--late"], []],
  ] as [string[], number[]][])("%p", async (argv, expected) => {
    expect(idsOf(await list("order", "list", ...argv))).toEqual(expected);
  });

  test("prints the next cursor, and a missing provider or user, on standard error", async () => {
    const cut = await shop.cli("admin", "order", "list", "--limit", "2");
    expect(cut.stderr).toBe("more may follow: add --cursor 2\n");
    await expectFailure(
      shop,
      ["admin", "order", "list", "--provider", "x"],
      1,
      "provider not found",
    );
    await expectFailure(shop, ["admin", "order", "list", "--user", "x"], 1, "user not found");
    await expectFailure(shop, ["admin", "order", "list", "--id", "-1"], 2, "order numbers or ids");
    await expectFailure(
      shop,
      ["admin", "order", "list", "--to", "soon"],
      2,
      "must be an ISO 8601 time",
    );
  });
});

describe("the other lists", () => {
  const names = async (...argv: string[]) =>
    ((await list("user", "list", ...argv)) as { username: string }[]).map(
      ({ username }) => username,
    );

  test("user list: oldest first, by its filters, in pages", async () => {
    expect(await names()).toEqual(["alice", "kid", "bob"]);
    expect(await names("--limit", "2")).toEqual(["alice", "kid"]);
    expect(await names("--limit", "2", "--cursor", "kid")).toEqual(["bob"]);
    expect(await names("--search", "I")).toEqual(["alice", "kid"]);
    expect(await names("--parent", "alice")).toEqual(["kid"]);
    expect(await names("--resellers")).toEqual(["alice", "bob"]);
    expect(await names("--children", "--active")).toEqual(["kid"]);
    expect(await names("--inactive")).toEqual([]);
  });

  test("key list, service list and provider names", async () => {
    const [key] = await list("key", "list", "--type", "full", "--active");
    expect(await list("key", "list", "--cursor", key.id)).toEqual([]);
    expect(await list("key", "list", "--inactive")).toEqual([]);
    const ids = async (...argv: string[]) =>
      ((await list("service", "list", ...argv)) as { id: string }[]).map(({ id }) => id);
    expect(await ids()).toEqual(["followers", "secret", "views"]);
    expect(await ids("--cursor", "followers", "--limit", "1")).toEqual(["secret"]);
    expect(await ids("--provider", "acme")).toEqual(["views"]);
    expect(await ids("--manual", "--public")).toEqual(["followers"]);
    expect(await ids("--search", "SECR")).toEqual(["secret"]);
  });

  test("service list --user is a reseller's price list", async () => {
    await shop.cli("admin", "service", "grant", "secret", "--user", "bob", "--price", "1.5");
    const rows = await list("service", "list", "--user", "bob");
    expect(
      rows.map(({ id, price, standardPrice, own }: never) => ({ id, price, standardPrice, own })),
    ).toEqual([
      { id: "followers", price: 2.32, standardPrice: 2.32, own: false },
      { id: "secret", price: 1.5, standardPrice: 2.32, own: true },
      { id: "views", price: 1, standardPrice: 1, own: false },
    ]);
    const table = await shop.cli("admin", "service", "list", "--user", "bob");
    expect(table.stdout).toContain("STANDARD USD");
  });

  test("transaction list is a user's ledger, newest first, by kind, order and time, in pages", async () => {
    const kinds = async (...argv: string[]) =>
      ((await list("transaction", "list", "--user", "alice", ...argv)) as { kind: string }[]).map(
        ({ kind }) => kind,
      );
    const all = await kinds();
    expect(all).toEqual(["refund", "partial_refund", "order", "order", "order", "adjustment"]);
    expect(await kinds("--kind", "order", "--limit", "2")).toEqual(["order", "order"]);
    expect(await kinds("--order", "3")).toEqual(["refund", "order"]);
    expect(await kinds("--to", "2020-01-01")).toEqual([]);
    const [newest] = await list("transaction", "list", "--user", "alice", "--limit", "1");
    expect(newest).toMatchObject({ amount: 0.232, orderId: 3 });
    expect(await kinds("--cursor", String(newest.seq))).toEqual(all.slice(1));
  });

  test("audit list, by action, subject, operator and time, in pages", async () => {
    const found = async (...argv: string[]) =>
      ((await list("audit", "list", ...argv)) as { action: string }[]).map(({ action }) => action);
    expect(await found("--subject", "2", "--action", "order.move")).toEqual(["order.move"]);
    expect(await found("--by", "nobody-here")).toEqual([]);
    expect(await found("--to", "2020-01-01")).toEqual([]);
    const [newest] = await list("audit", "list", "--limit", "1");
    expect(
      (await list("audit", "list", "--limit", "1", "--cursor", String(newest.seq)))[0].seq,
    ).toBe(newest.seq - 1);
  });
});

describe("changes", () => {
  test("user update and user deactivate, activate", async () => {
    await shop.cli("admin", "user", "create", "eve");
    const key = shop.key("eve", "full").id;
    const renamed = await list("user", "update", "eve", "--rename", "Eve2", "--name", "Eve Ltd");
    expect(renamed).toMatchObject({ username: "Eve2", name: "Eve Ltd", active: true });
    expect(await list("user", "deactivate", "eve2")).toMatchObject({ active: false, keys: 1 });
    const stateOf = async () =>
      ((await list("key", "list", "--user", "eve2")) as { id: string; active: boolean }[])[0];
    expect(await stateOf()).toMatchObject({ id: key, active: false });
    await expectFailure(shop, ["admin", "key", "activate", key], 1, "user is inactive");
    const newKey = ["admin", "key", "create", "--user", "eve2", "--type", "order"];
    await expectFailure(shop, newKey, 1, "user is inactive");
    await expectFailure(
      shop,
      ["admin", "user", "deactivate", "kid"],
      1,
      "a child user has no keys",
    );
    await expectFailure(shop, ["admin", "user", "update", "eve2"], 2, "--name, --rename");
    await expectFailure(
      shop,
      ["admin", "user", "update", "eve2", "--rename", "BOB"],
      1,
      "that name already",
    );
    expect(await list("user", "activate", "eve2")).toMatchObject({ active: true, keys: 1 });
    expect(await stateOf()).toMatchObject({ active: true });
  });

  test("provider update", async () => {
    const url = "http://127.0.0.2:9/api";
    const before = shop.query("SELECT * FROM providers");
    await expectFailure(
      shop,
      ["admin", "provider", "update", "acme", "--url", url],
      2,
      "--url needs --key-stdin: a stored key is never sent to a new address",
    );
    expect(shop.query("SELECT * FROM providers")).toEqual(before);
    const moved = await runWithInput("new-key-1\n", shop, [
      "admin",
      "provider",
      "update",
      "acme",
      "--url",
      url,
      "--key-stdin",
      "--rename",
      "apex",
    ]);
    expect([moved.code, moved.stderr]).toEqual([0, ""]);
    expect(shop.query("SELECT url, key FROM providers WHERE name = 'apex'")).toEqual([
      { url, key: "new-key-1" },
    ]);
    const replaced = await runWithInput("new-key\n", shop, [
      "admin",
      "provider",
      "update",
      "APEX",
      "--key-stdin",
    ]);
    expect([replaced.code, replaced.stderr]).toEqual([0, ""]);
    expect(shop.query("SELECT url, key FROM providers WHERE name = 'apex'")).toEqual([
      { url, key: "new-key" },
    ]);
    await expectFailure(
      shop,
      ["admin", "provider", "update", "apex"],
      2,
      "--rename, --rate-to-usd, --currency, --low-balance, --on-no-funds, --hold-for, --hold-limit, --markup",
    );
    await expectFailure(
      shop,
      ["admin", "provider", "update", "acme", "--rename", "apex"],
      1,
      "provider not found",
    );
    await shop.cli("admin", "provider", "update", "apex", "--rename", "acme");
  });

  test("service reprice: shown with --dry-run, then done for the services of a filter or those named", async () => {
    const reprice = (...argv: string[]) => list("service", "reprice", ...argv);
    const expected = [{ id: "views", before: 1, after: 1.1 }];
    expect(await reprice("--provider", "acme", "--percent", "10", "--dry-run")).toEqual(expected);
    expect((await list("service", "list", "--search", "views"))[0].price).toBe(1);
    expect(await reprice("--provider", "acme", "--percent", "10")).toEqual(expected);
    expect((await list("service", "list", "--search", "views"))[0].price).toBe(1.1);
    expect(await reprice("views", "--percent", "-9.0909")).toEqual([
      { id: "views", before: 1.1, after: 1.000001 },
    ]);
    await expectFailure(
      shop,
      ["admin", "service", "reprice", "--percent", "ten"],
      2,
      "must be a percentage",
    );
    await expectFailure(
      shop,
      ["admin", "service", "reprice", "nothing", "--percent", "1"],
      1,
      "service not found",
    );
    await expectFailure(
      shop,
      ["admin", "service", "reprice", "--percent", "999999999"],
      2,
      "must be a percentage",
    );
  });
});
