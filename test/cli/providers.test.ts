// `admin provider …`, and the operator's commands for orders of providers.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openShop, reseller, type Shop } from "../support/cli.ts";
import { json, PROVIDER_KEY, startUpstream, type Upstream } from "../support/upstream.ts";

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
  skipped: 0,
  unreadable: 0,
  belowCost: 0,
};

let upstream: Upstream;
beforeAll(async () => (upstream = await startUpstream()));
afterAll(() => upstream.stop());

/** A shop whose provider `acme` is the upstream. */
function shopOf(): Shop {
  const shop = openShop();
  const { url } = upstream;
  shop.run("createProvider", { name: "acme", protocol: "smm-api", url, key: PROVIDER_KEY });
  return shop;
}

/** An order of alice for a service of acme's, as far as it has got. */
function orderOf(
  shop: Shop,
  outcome?: "unknown" | "sending" | "placed",
  providerOrder = "501",
): string {
  if (!shop.connection.sqlite.query("SELECT 1 FROM services WHERE id = 'likes'").get()) {
    shop.service({ id: "likes", price: "2", provider: { name: "acme", service: "7" } });
  }
  const { account } = shop.connection.sqlite
    .query<{ account: number }, []>("SELECT account FROM users WHERE username = 'alice'")
    .get()!;
  const { id: keyId } = shop.key("alice", "full");
  const input = { resellerAccount: account, keyId, service: "likes", link: "x", quantity: 1000 };
  const { orderId } = shop.run("placeOrder", input);
  const placeRetryMs = 3_600_000;
  if (outcome) shop.run("startAttempt", { orderId, placeRetryMs });
  if (outcome === "unknown" || outcome === "placed") {
    const result =
      outcome === "placed"
        ? ({ outcome: "accepted", providerOrder } as const)
        : ({ outcome, cause: "no answer within 30 s" } as const);
    shop.run("finishAttempt", { orderId, result, placeRetryMs, backoffMs: 1000 });
  }
  return String(orderId);
}

describe("create", () => {
  test("reads the key from stdin and shows it nowhere", async () => {
    const shop = openShop();
    const main = new URL("../../src/main.ts", import.meta.url).pathname;
    const argv = [
      "admin",
      "provider",
      "create",
      "acme",
      "--url",
      "https://acme.example/api/v2",
      "--key-stdin",
    ];
    const create = (stdin: string, ...more: string[]) =>
      Bun.spawnSync(["bun", main, ...argv, "--data", shop.folder, ...more], {
        stdin: Buffer.from(stdin),
      });
    const created = create(`${PROVIDER_KEY}\n`, "--json");
    expect(JSON.parse(created.stdout.toString())).toEqual({
      name: "acme",
      url: "https://acme.example/api/v2",
      open: 0,
      unknown: 0,
      lastSuccessAt: null,
      oldestUncheckedAt: null,
    });
    const listed = await shop.cli("admin", "provider", "list");
    expect(created.stdout.toString() + created.stderr.toString() + listed.stdout).not.toContain(
      PROVIDER_KEY,
    );
    expect(create("other\n").exitCode).toBe(1);
    expect(create("").exitCode).toBe(2);
    expect(create("two words").exitCode).toBe(2);
  });

  test.each([
    ["ftp://acme.example"],
    ["acme.example"],
    ["http://user:secret@acme.example"],
    ["javascript:1"],
  ])("%s is no address", async (url) => {
    const { code } = await reseller(
      "admin",
      "provider",
      "create",
      "x",
      "--url",
      url,
      "--key-stdin",
    );
    expect(code).toBe(2);
  });
});

describe("balance", () => {
  test("is a number, in the provider's currency", async () => {
    const shop = shopOf();
    const { json: funds } = await shop.cli("admin", "provider", "balance", "ACME", "--json");
    expect(funds).toEqual({ name: "acme", balance: 100.84292, currency: "USD" });
    const { json: listed } = await shop.cli("admin", "provider", "list", "--json");
    expect(Date.parse(listed[0].lastSuccessAt)).toBeGreaterThan(0);
  });

  test.each([
    ["an error", json({ error: `Invalid API key ${PROVIDER_KEY}` })],
    ["a message for a number", json({ balance: "contact us" })],
    ["a page", { body: "<html>" }],
    ["a redirect", { status: 302, body: "", headers: { location: "/" } }],
    ["a reset", "reset" as const],
  ])("%s is exit 1 with a sentence, and without the key", async (_, reply) => {
    const shop = shopOf();
    upstream.next("balance", reply);
    const { code, stderr, stdout } = await shop.cli("admin", "provider", "balance", "acme");
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toStartWith("error: provider acme at ");
    expect(stderr).not.toContain(PROVIDER_KEY);
  });
});

describe("sync", () => {
  const sync = async (shop: Shop, services: unknown, ...more: string[]) => {
    upstream.services = services;
    return shop.cli("admin", "provider", "sync", "acme", "--json", ...more);
  };
  const pack = { ...LISTED, service: 2, name: "Pack", type: "Package" };

  test("adds, keeps what was set by hand, deactivates, reactivates, and reports it", async () => {
    const shop = shopOf();
    const first = await sync(shop, [LISTED, pack], "--markup", "30%");
    expect(first.json).toEqual({ ...COUNTS, added: 1, skipped: 1 });
    expect(first.stderr).toContain("+ Likes");
    expect(first.stderr).toContain("Pack (provider's 2) left out: type Package");
    const { json: services } = await shop.cli("admin", "service", "list", "--json");
    const { id, ...likes } = services.find(({ name }: { name: string }) => name === "Likes");
    expect(likes).toEqual({
      name: "Likes",
      price: 1.17,
      per: "1000",
      min: 50,
      max: 10_000,
      active: true,
      private: false,
      provider: "acme",
      providerService: "1",
    });
    expect((await sync(shop, [LISTED], "--markup", "30%")).json).toEqual({
      ...COUNTS,
      unchanged: 1,
    });
    // By hand: the price stays, the rest follows.
    await shop.cli("admin", "service", "update", id, "--price", "0.5");
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

  test("--dry-run counts what it would do and changes nothing", async () => {
    const shop = shopOf();
    const before = shop.dump();
    expect((await sync(shop, [LISTED, pack], "--dry-run")).json).toEqual({
      ...COUNTS,
      added: 1,
      skipped: 1,
    });
    expect(shop.dump()).toBe(before);
  });

  test("prints the diff before the counts, without --json", async () => {
    const shop = shopOf();
    upstream.services = [LISTED];
    const { stdout } = await shop.cli("admin", "provider", "sync", "acme");
    expect(stdout).toStartWith("+ Likes (provider's 1): 0.9 USD, 50 to 10000\n1 added");
  });

  test("leaves out, names and counts entries that cannot be read; their services stay as they were", async () => {
    const shop = shopOf();
    const listed = [1, 2, 3, 4, 5].map((service) => ({ ...LISTED, service, name: `N${service}` }));
    await sync(shop, listed);
    const servicesOf = () =>
      shop.connection.sqlite
        .query("SELECT * FROM services WHERE provider_service IN ('2', '3') ORDER BY id")
        .all();
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
    const { code, stderr } = await sync(shop, services);
    expect([code, stderr.startsWith("error: ")]).toEqual([1, true]);
    expect(shop.dump()).toBe(before);
  });

  test.each(["-1%", "abc", "30%%", ""])("--markup %p is wrong usage", async (markup) => {
    const { code } = await shopOf().cli("admin", "provider", "sync", "acme", "--markup", markup);
    expect(code).toBe(2);
  });
});

describe("settle", () => {
  test("--placed polls the order from then on, --not-placed refunds it", async () => {
    const shop = shopOf();
    const [found, lost] = [orderOf(shop, "unknown"), orderOf(shop, "unknown")];
    const { json: unknown } = await shop.cli("admin", "order", "list", "--unknown", "--json");
    expect(unknown.map(({ orderId }: { orderId: number }) => String(orderId))).toEqual([
      lost,
      found,
    ]);
    const { json: listed } = await shop.cli("admin", "provider", "list", "--json");
    expect(listed[0]).toMatchObject({ open: 2, unknown: 2 });
    const placed = await shop.cli("admin", "order", "settle", found, "--placed", "23501", "--json");
    expect(placed.json).toMatchObject({
      status: "PROCESSING",
      provider: "acme",
      providerOrder: "23501",
      placement: "placed",
      refunded: 0,
    });
    const before = shop.balance("alice");
    const refunded = await shop.cli("admin", "order", "settle", lost, "--not-placed", "--json");
    expect(refunded.json).toMatchObject({ status: "FAILED", placement: "refused", refunded: 2 });
    expect(shop.balance("alice") - before).toBe(2_000_000);
    const { json: shown } = await shop.cli("admin", "order", "show", lost, "--json");
    expect(shown.timeline).toMatchObject([
      { what: "sending" },
      { what: "unknown", note: "no answer within 30 s" },
      { what: "status", from: "PENDING", to: "FAILED" },
    ]);
    expect(shown.timeline[2].by).toBeString();
  });

  test("refuses a number that another order of the provider has, and orders that are not unknown", async () => {
    const shop = shopOf();
    orderOf(shop, "placed", "501");
    const unknown = orderOf(shop, "unknown");
    const queued = orderOf(shop);
    const sending = orderOf(shop, "sending");
    const before = shop.dump();
    const taken = await shop.cli("admin", "order", "settle", unknown, "--placed", "501");
    expect(taken.code).toBe(1);
    for (const id of [queued, sending, "1"]) {
      expect((await shop.cli("admin", "order", "settle", id, "--not-placed")).code).toBe(1);
    }
    for (const argv of [
      [],
      ["--placed", "0"],
      ["--placed", "abc"],
      ["--placed", "5", "--not-placed"],
    ]) {
      expect((await shop.cli("admin", "order", "settle", unknown, ...argv)).code).toBe(2);
    }
    expect(shop.dump()).toBe(before);
  });
});

test("an operator cancels a PENDING order that is queued or unknown, never one being sent, and fails none", async () => {
  const shop = shopOf();
  const balance = shop.balance("alice");
  for (const [outcome, placement, code] of [
    [undefined, "queued", 0],
    ["unknown", "unknown", 0],
    ["sending", "sending", 1],
  ] as const) {
    const id = orderOf(shop, outcome);
    expect((await shop.cli("admin", "order", "fail", id)).code).toBe(1);
    expect((await shop.cli("admin", "order", "cancel", id)).code).toBe(code);
    const { json: shown } = await shop.cli("admin", "order", "show", id, "--json");
    expect(shown).toMatchObject({ status: code === 0 ? "CANCELLED" : "PENDING", placement });
  }
  expect(balance - shop.balance("alice")).toBe(2_000_000);
  expect((await shop.cli("admin", "order", "list", "--unknown", "--json")).json).toEqual([]);
});

test("an order queued in a backup is unknown after a restore: it may have been sent since", async () => {
  const shop = shopOf();
  const ids = [orderOf(shop), orderOf(shop, "sending"), orderOf(shop, "placed")];
  const file = `${shop.folder}/monday.db`;
  expect((await shop.cli("backup", file)).code).toBe(0);
  shop.connection.sqlite.close();
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
  sqlite.run("DROP INDEX placement_attempts_sent_once");
  const unknown = sqlite.query("SELECT order_id FROM orders WHERE placement = 'unknown'").get();
  const { order_id: id } = unknown as { order_id: number };
  sqlite.query("INSERT INTO placement_attempts VALUES (99, ?, 'accepted', NULL, 1, 2)").run(id);
  const { code, json } = await shop.cli("verify", "--json");
  expect(code).toBe(1);
  expect(json.problems.map(({ check }: { check: string }) => check)).toEqual([
    // The index that forbids it had to go first.
    "the schema is what the migrations make",
    "an order is sent at most once",
    "placements follow from their attempts",
  ]);
});

test("a service names its provider when it is made, changed or imported; both or neither", async () => {
  const shop = shopOf();
  const terms = ["--name", "N", "--price", "1", "--min", "1", "--max", "2"];
  const create = (...more: string[]) =>
    shop.cli("admin", "service", "create", ...terms, "--json", ...more);
  const { json: made } = await create("--provider", "acme", "--provider-service", "9");
  expect(made).toMatchObject({ provider: "acme", providerService: "9" });
  expect((await create("--provider", "acme")).code).toBe(2);
  expect((await create("--provider-service", "9")).code).toBe(2);
  expect((await create("--provider", "nobody", "--provider-service", "9")).code).toBe(1);
  const update = (id: string, ...more: string[]) =>
    shop.cli("admin", "service", "update", id, "--json", ...more);
  expect((await update(made.id, "--provider-service", "10")).json).toMatchObject({
    providerService: "10",
  });
  expect((await update("followers", "--provider-service", "10")).code).toBe(1);
  expect(
    (await update("followers", "--provider", "acme", "--provider-service", "8")).json,
  ).toMatchObject({
    provider: "acme",
    providerService: "8",
  });
  const file = `${shop.folder}/catalogue.csv`;
  const importing = async (rows: string) => {
    await Bun.write(file, `name,price,min,max,provider,providerService\n${rows}`);
    return shop.cli("admin", "service", "import", file);
  };
  expect((await importing("A,1,1,2,acme,5\nB,1,1,2,,\n")).code).toBe(0);
  const nobody = await importing("C,1,1,2,,\nD,1,1,2,nobody,5\n");
  expect([nobody.code, nobody.stderr]).toEqual([1, expect.stringContaining("line 3")]);
  expect((await importing("C,1,1,2,acme,\n")).code).toBe(1);
});
