// `admin provider sync`: the provider's list into the catalogue.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Shop, openShop } from "../../support/worlds/shop.ts";
import { seedProvider } from "../../support/seeds/shop-orders.ts";
import { PROVIDER_KEY, startUpstream, type Upstream } from "../../support/peers/upstream.ts";

const LISTED = {
  service: 1,
  name: "Likes",
  type: "Default",
  rate: "0.90",
  min: "50",
  max: "10000",
};
const COUNTS = {
  added: 0,
  updated: 0,
  unchanged: 0,
  deactivated: 0,
  reactivated: 0,
  delisted: 0,
  skipped: 0,
  unreadable: 0,
  belowCost: 0,
};

let upstream: Upstream;
beforeAll(async () => (upstream = await startUpstream()));
afterAll(() => upstream.stop());

const shopOf = () => seedProvider(openShop(), upstream);

describe("sync", () => {
  const sync = async (shop: Shop, services: unknown, ...more: string[]) => {
    upstream.services = services;
    const markup = more.some((each) => each.startsWith("--markup")) ? [] : ["--markup", "0%"];
    const ran = await shop.cli("admin", "provider", "sync", "acme", "--json", ...markup, ...more);
    const { plan, markup: _, ...counts } = ran.json ?? {};
    return { ...ran, json: ran.json && counts, plan };
  };
  const posts = { ...LISTED, service: 2, name: "Posts", type: "Subscriptions" };

  test("adds, keeps what was set by hand, deactivates, reactivates, and reports it", async () => {
    const shop = shopOf();
    const first = await sync(shop, [LISTED, posts], "--markup", "30%");
    expect(first.json).toEqual({ ...COUNTS, added: 1, skipped: 1 });
    expect(first.stderr).toBe("");
    expect(first.plan).toMatchObject({ added: [{ name: "Likes" }], skipped: [{ name: "Posts" }] });
    const { json: services } = await shop.cli("admin", "service", "list", "--json");
    const { id, ...likes } = services.find(({ name }: { name: string }) => name === "Likes");
    expect(likes).toEqual({
      number: 3,
      name: "Likes",
      category: "Services",
      apiV2: true,
      cancel: false,
      refill: false,
      refillDays: 30,
      price: 1.17,
      per: "1000",
      min: 50,
      max: 10_000,
      type: "default",
      dripfeed: false,
      active: true,
      private: false,
      provider: "acme",
      providerService: "1",
    });
    expect((await sync(shop, [LISTED], "--markup", "30%")).json).toEqual({
      ...COUNTS,
      unchanged: 1,
    });
    const elsewhere = { ...LISTED, category: "Instagram" };
    const dryRun = await sync(shop, [elsewhere], "--markup", "30%", "--dry-run");
    expect(dryRun.json).toEqual({ ...COUNTS, updated: 1 });
    expect(dryRun.plan.updated).toMatchObject([
      { before: { category: "Services" }, after: { category: "Instagram" } },
    ]);
    // By hand: the price stays, the rest follows.
    await shop.cli("admin", "service", "update", id, "--price", "0.5", "--yes");
    const changed = { ...LISTED, name: "Likes HQ", max: 500 };
    expect((await sync(shop, [changed])).json).toEqual({ ...COUNTS, updated: 1, belowCost: 1 });
    const shown = async () =>
      (await shop.cli("admin", "service", "list", "--json")).json.find(
        (service: { id: string }) => service.id === id,
      );
    expect(await shown()).toMatchObject({ name: "Likes HQ", price: 0.5, max: 500 });
    // Gone, and back.
    const other = { ...LISTED, service: 9 };
    expect((await sync(shop, [other])).json).toEqual({ ...COUNTS, added: 1, deactivated: 1 });
    expect(await shown()).toMatchObject({ active: false });
    expect((await sync(shop, [other, changed])).json).toEqual({
      ...COUNTS,
      unchanged: 1,
      reactivated: 1,
      belowCost: 1,
    });
    expect(await shown()).toMatchObject({ active: true });
    // What the operator took away stays away.
    await shop.cli("admin", "service", "deactivate", id);
    await sync(shop, [other]);
    expect((await sync(shop, [other, changed])).json).toMatchObject({ reactivated: 0 });
    expect(await shown()).toMatchObject({ active: false });
  });

  test("of an inactive provider is refused before the provider is asked, with one JSON document", async () => {
    const shop = shopOf();
    upstream.services = [LISTED];
    await shop.cli("admin", "provider", "deactivate", "acme");
    const calls = upstream.received.length;
    for (const more of [[], ["--dry-run"]]) {
      const argv = ["admin", "provider", "sync", "acme", "--markup", "30%", ...more];
      const json = await shop.cli(...argv, "--json");
      expect([json.code, json.stdout]).toEqual([1, ""]);
      expect(JSON.parse(json.stderr)).toMatchObject({ code: "provider_inactive" });
      const plain = await shop.cli(...argv);
      expect([plain.code, plain.stdout]).toEqual([1, ""]);
    }
    expect(upstream.received.length).toBe(calls);
  });

  test("takes packages at their price and comments by the thousand", async () => {
    const shop = shopOf();
    const pack = {
      ...LISTED,
      service: 2,
      name: "Pack",
      type: "Package",
      rate: "4.5",
      min: 1,
      max: 1,
    };
    const comments = { ...LISTED, service: 3, name: "Comments", type: "Custom Comments" };
    const fed = { ...LISTED, service: 4, name: "Fed", dripfeed: true };
    upstream.services = [pack, comments, fed];
    const dry = ["provider", "sync", "acme", "--markup", "0%", "--dry-run"];
    const { stdout } = await shop.cli("admin", ...dry);
    expect(stdout).toContain("+ Pack (provider's 2): 4.5 USD per order, 1 to 1, package");
    expect(stdout).toContain("+ Fed (provider's 4): 0.9 USD, 50 to 10000, drip-feed");
    const { json } = await sync(shop, [pack, comments, fed]);
    expect(json).toEqual({ ...COUNTS, added: 3 });
    const { json: services } = await shop.cli("admin", "service", "list", "--json");
    const shown = (name: string) => services.find((each: { name: string }) => each.name === name);
    expect(shown("Pack")).toMatchObject({ type: "package", per: "order", price: 4.5, apiV2: true });
    expect(shown("Comments")).toMatchObject({ type: "custom_comments", per: "1000" });
    expect(shown("Fed")).toMatchObject({ type: "default", dripfeed: true });
    // By hand: the type stays, until then it follows.
    const { id } = shown("Comments");
    await shop.cli("admin", "service", "update", id, "--type", "poll", "--json");
    expect((await sync(shop, [pack, comments, fed])).json).toEqual({ ...COUNTS, unchanged: 3 });
    await shop.cli("admin", "service", "update", shown("Fed").id, "--no-dripfeed");
    expect((await sync(shop, [pack, comments, fed])).json).toEqual({ ...COUNTS, unchanged: 3 });
  });

  test("--dry-run counts what it would do and changes nothing", async () => {
    const shop = shopOf();
    const before = shop.dump();
    expect((await sync(shop, [LISTED, posts], "--dry-run")).json).toEqual({
      ...COUNTS,
      added: 1,
      skipped: 1,
    });
    expect(shop.dump()).toBe(before);
  });

  test("--only with --markup prices those services, and leaves the stored markup to all the others", async () => {
    const shop = shopOf();
    const other = { ...LISTED, service: 2, name: "Other" };
    upstream.services = [LISTED, other];
    const run = (...argv: string[]) => shop.cli("admin", "provider", "sync", "acme", ...argv);
    const stored = () =>
      shop.query("SELECT markup FROM providers WHERE name = 'acme'")[0]!["markup"];
    const prices = () =>
      shop
        .query("SELECT price_micros FROM services WHERE provider_service IS NOT NULL ORDER BY name")
        .map((row) => row["price_micros"]);
    const first = await run("--only", "1", "--markup", "50%");
    expect(first.stdout).toEndWith("(markup 50%, for these services only)\n");
    expect(stored()).toBeNull();
    // Nothing is stored yet: the next whole sync asks, or is refused.
    expect((await run()).code).toBe(1);
    expect((await run("--markup", "30%")).stdout).toEndWith("(markup 30%, stored from now on)\n");
    expect([stored(), prices()]).toEqual(["30", [1_170_000, 1_170_000]]);
    const dry = await run("--only", "2", "--markup", "50%", "--dry-run");
    const said = "(markup 50%, for these services only: 30% stays stored for all)\n";
    expect(dry.stdout).toEndWith(said);
    expect((await run("--only", "2", "--markup", "50%")).stdout).toEndWith(said);
    expect([stored(), prices()]).toEqual(["30", [1_170_000, 1_350_000]]);
    expect((await run("--only", "2")).stdout).toEndWith("(markup 30%, as stored)\n");
    expect([stored(), prices()]).toEqual(["30", [1_170_000, 1_170_000]]);
  });

  test("prices by the markup of a category and the rounding of the provider, by hand and in each later sync", async () => {
    const shop = shopOf();
    const views = { ...LISTED, service: 2, name: "Views", category: "You=Tube" };
    upstream.services = [LISTED, views];
    const prices = () =>
      shop
        .query("SELECT price_micros FROM services WHERE provider_service IS NOT NULL ORDER BY name")
        .map((row) => row["price_micros"]);
    const update = (...argv: string[]) =>
      shop.cli("admin", "provider", "update", "acme", ...argv, "--json");
    const rules = ["--category-markup", "You=Tube=100%", "--category-markup", "Services=12.5"];
    const set = await update(...rules, "--round-prices", "x.x9");
    expect(set.json).toMatchObject({
      categoryMarkups: { "You=Tube": 100, Services: 12.5 },
      roundPrices: "x.x9",
    });
    await sync(shop, [LISTED, views], "--markup", "30%");
    expect(prices()).toEqual([1_090_000, 1_890_000]);
    const removed = await update("--category-markup", "Services=none", "--round-prices", "none");
    expect(removed.json).toMatchObject({
      categoryMarkups: { "You=Tube": 100 },
      roundPrices: "none",
    });
    expect((await sync(shop, [LISTED, views], "--markup", "30%")).json.updated).toBe(2);
    expect(prices()).toEqual([1_170_000, 1_800_000]);
    const shown = await shop.cli("admin", "provider", "show", "acme");
    expect(shown.stdout).toContain("30%, You=Tube 100%");
    for (const wrong of ["Likes", "Likes=", "=30", "Likes=much", "Likes=30%%"]) {
      expect([wrong, (await update("--category-markup", wrong)).code]).toEqual([wrong, 2]);
    }
    expect((await update("--round-prices", "0.5")).code).toBe(2);
  });

  test("prints the diff before the counts, without --json", async () => {
    const shop = shopOf();
    upstream.services = [LISTED];
    const { stdout } = await shop.cli("admin", "provider", "sync", "acme", "--markup", "30%");
    expect(stdout).toStartWith("+ Likes (provider's 1): 1.17 USD, 50 to 10000\n1 added");
  });

  test("leaves out, names and counts entries that cannot be read; their services stay as they were", async () => {
    const shop = shopOf();
    const listed = [1, 2, 3, 4, 5].map((service) => ({ ...LISTED, service, name: `N${service}` }));
    await sync(shop, listed);
    const servicesOf = () =>
      shop.query("SELECT * FROM services WHERE provider_service IN ('2', '3') ORDER BY id");
    const before = servicesOf();
    const [one, two, three, four] = listed;
    const odd = [
      { ...one, rate: "2" },
      { ...two, name: "Other", rate: "free" },
      { ...three, min: 20_000 },
      four,
      { ...LISTED, service: 6 },
      { ...LISTED, service: `x-${PROVIDER_KEY}` },
    ];
    const counts = { ...COUNTS, added: 1, updated: 1, unchanged: 1, deactivated: 1, unreadable: 3 };
    upstream.services = odd;
    const unchanged = shop.dump();
    const dry = await shop.cli("admin", "provider", "sync", "acme", "--dry-run");
    expect(shop.dump()).toBe(unchanged);
    for (const line of [
      "? entry 2 (provider's 2) cannot be read, left out: ",
      "? entry 3 (provider's 3) cannot be read, left out: its min 20000 is above its max 10000",
      "? entry 6 (provider's x-***) cannot be read, left out: ",
      ", 3 unreadable, ",
    ]) {
      expect(dry.stdout).toContain(line);
    }
    expect(dry.stdout + dry.stderr).not.toContain(PROVIDER_KEY);
    expect((await sync(shop, odd, "--dry-run")).json).toEqual(counts);
    expect((await sync(shop, odd)).json).toEqual(counts);
    expect(servicesOf()).toEqual(before);
    expect((await sync(shop, odd)).json).toEqual({ ...COUNTS, unchanged: 3, unreadable: 3 });
  });

  test.each<[what: string, services: unknown]>([
    ["empty", []],
    ["an error", { error: "Invalid API key" }],
    ["a word", "soon"],
    ["null", null],
    ["unreadable for the most part", [LISTED, null, { ...LISTED, service: 3, rate: "free" }]],
    ["of one service over and over", [LISTED, LISTED, LISTED]],
  ])("a list that is %s changes nothing and exits 1", async (_, services) => {
    const shop = shopOf();
    await sync(shop, [LISTED]);
    const before = shop.dump();
    const { code, told } = await sync(shop, services);
    expect([code, told.startsWith("error: ")]).toEqual([1, true]);
    expect(shop.dump()).toBe(before);
  });

  test("--markup 30%% is wrong usage", async () => {
    const { code } = await shopOf().cli("admin", "provider", "sync", "acme", "--markup", "30%%");
    expect(code).toBe(2);
  });
});
