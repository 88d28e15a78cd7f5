// The type of a service on the command line: flags, lists from files, and orders as they are shown.

import { expect, test } from "bun:test";
import { findUser } from "../../../src/db/users/users.ts";
import { openShop } from "../../support/worlds/shop.ts";
import { expectFailure } from "../../support/operator-cli.ts";

const NAMED = ["admin", "service", "create", "--name", "N", "--price", "5"];
const BOUNDS = ["--min", "1", "--max", "20"];

test("a package needs no bounds and is priced per order, anything else is sold by units", async () => {
  const shop = openShop();
  const create = async (...flags: string[]) =>
    (await shop.cli(...NAMED, ...flags, "--json")).json as Record<string, unknown>;
  expect(await create("--type", "package")).toMatchObject({ per: "order", min: 1, max: 1 });
  expect(await create("--type", "package", "--min", "40")).toMatchObject({ min: 40, max: 40 });
  const comments = await create("--type", "custom_comments", ...BOUNDS, "--category", "Comments");
  expect(comments).toMatchObject({ per: "1000", dripfeed: false, category: "Comments", min: 1 });
  expect(await create("--dripfeed", ...BOUNDS)).toMatchObject({ type: "default", dripfeed: true });
  expect(await create(...BOUNDS)).toMatchObject({ type: "default", dripfeed: false, per: "1000" });
  for (const [says, ...flags] of [
    ["required option '--min <quantity>' not specified", "--type", "seo", "--max", "5"],
    ["required option '--max <quantity>' not specified", "--min", "5"],
    ["--type must be one of default, package", "--type", "subscriptions", ...BOUNDS],
    ["per must be order", "--type", "package", "--per", "1000"],
    ["per must be 1000 or 1", "--type", "poll", "--per", "order", ...BOUNDS],
    ["dripfeed must be no unless the type is Default", "--type", "poll", "--dripfeed", ...BOUNDS],
    ["dripfeed must be no unless the type is Default", "--per", "order", "--dripfeed", ...BOUNDS],
  ]) {
    await expectFailure(shop, [...NAMED, ...flags], 2, says!);
  }
});

test("a new type sets the price unit, and options that the type cannot have are refused", async () => {
  const shop = openShop();
  const argv = ["admin", "service", "update", "followers"];
  const update = async (...flags: string[]) =>
    (await shop.cli(...argv, ...flags, "--json")).json as Record<string, unknown>;
  expect(await update("--dripfeed")).toMatchObject({ dripfeed: true, type: "default" });
  expect(await update("--type", "package")).toMatchObject({ per: "order", dripfeed: false });
  await expectFailure(shop, [...argv, "--per", "1000"], 1, "per must be order");
  await expectFailure(
    shop,
    [...argv, "--dripfeed"],
    1,
    "dripfeed must be no unless the type is Default",
  );
  expect(await update("--type", "seo")).toMatchObject({ per: "1000", dripfeed: false });
  expect(await update("--type", "default", "--dripfeed", "--per", "1")).toMatchObject({
    per: "1",
    dripfeed: true,
  });
  expect(await update("--no-dripfeed")).toMatchObject({ dripfeed: false });
  await expectFailure(shop, [...argv, "--type", "none"], 2, "--type must be one of default");
});

test("CSV and JSON files can set types and drip-feed", async () => {
  const shop = openShop();
  const importing = async (name: string, text: string) => {
    await Bun.write(`${shop.folder}/${name}`, text);
    return shop.cli("admin", "service", "import", `${shop.folder}/${name}`);
  };
  const header = "name,price,min,max,type,dripfeed,per\n";
  const csv = `${header}Pack,5,,,package,,\nReplies,5,1,9,comment_replies,no,1\nFed,5,1,9,,yes,\n`;
  expect((await importing("a.csv", csv)).code).toBe(0);
  const rows = [{ name: "Poll", price: 1, min: 1, max: 2, type: "poll", dripfeed: false }];
  expect((await importing("a.json", JSON.stringify(rows))).code).toBe(0);
  const { json } = await shop.cli("admin", "service", "list", "--json");
  const shown = (name: string) => json.find((each: { name: string }) => each.name === name);
  expect(shown("Pack")).toMatchObject({ type: "package", per: "order", min: 1, max: 1 });
  expect(shown("Replies")).toMatchObject({ type: "comment_replies", per: "1", dripfeed: false });
  expect(shown("Fed")).toMatchObject({ type: "default", dripfeed: true });
  expect(shown("Poll")).toMatchObject({ type: "poll", per: "1000" });
  for (const [row, says] of [
    ["X,5,1,2,nothing,,", "type must be one of default"],
    ["X,5,1,2,package,,1", "per must be order when type is package"],
    ["X,5,1,2,seo,,order", "per must be 1000 or 1 when type is seo"],
    ["X,5,1,2,seo,yes,", "dripfeed requires type default"],
    ["X,5,1,2,,maybe,", "dripfeed must be true or false"],
    ["X,5,,,seo,,", "min is missing"],
  ] as const) {
    const failed = await importing("b.csv", `${header}${row}\n`);
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining(`line 2: ${says}`)]);
  }
});

test("an order shows the fields of its type, a drip-feed the quantity of one run", async () => {
  const shop = openShop();
  await shop.cli("admin", "service", "update", "followers", "--dripfeed");
  const { account: resellerAccount } = shop.read((reader) => findUser(reader, "alice")!);
  const place = (given: Record<string, string | number>, quantity: number | null) =>
    shop.run("placeOrder", {
      resellerAccount,
      keyId: shop.key("alice", "order").id,
      service: "followers",
      link: "x",
      quantity,
      given,
    });
  const { orderId } = place({ runs: 3, interval: 15 }, 100);
  const { json } = await shop.cli("admin", "order", "show", String(orderId), "--json");
  expect(json).toMatchObject({ quantity: 100, remains: 300, runs: 3, interval: 15 });
  const text = await shop.cli("admin", "order", "show", String(orderId));
  expect(text.stdout).toMatch(/runs\s+3\n/);
  expect((await shop.cli("verify")).code).toBe(0);
});
