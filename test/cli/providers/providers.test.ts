// `admin provider create` and `balance`.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { bundledProgram } from "../../support/bundles.ts";
import { openShop, optionsOf, reseller } from "../../support/worlds/shop.ts";
import { seedProvider } from "../../support/seeds/shop-orders.ts";
import { json, PROVIDER_KEY, startUpstream, type Upstream } from "../../support/peers/upstream.ts";

let upstream: Upstream;
beforeAll(async () => (upstream = await startUpstream()));
afterAll(() => upstream.stop());

const shopOf = () => seedProvider(openShop(), upstream);

describe("create", () => {
  test("reads the key from stdin and shows it nowhere", async () => {
    const shop = openShop();
    const program = await bundledProgram();
    const argv = [
      "admin",
      "provider",
      "create",
      "acme",
      "--url",
      "https://acme.example/api/v2",
      "--key-stdin",
      "--no-check",
    ];
    const create = (stdin: string, ...more: string[]) =>
      Bun.spawnSync([...program, ...argv, ...optionsOf(shop), ...more], {
        stdin: Buffer.from(stdin),
      });
    const created = create(`${PROVIDER_KEY}\n`, "--json");
    expect(JSON.parse(created.stdout.toString())).toEqual({
      name: "acme",
      url: "https://acme.example/api/v2",
      open: 0,
      pausedAt: null,
      pausedBy: null,
      pausedUntil: null,
      onNoFunds: "refund",
      holdFor: "1d",
      holdLimit: 500,
      unknown: 0,
      lastSuccessAt: null,
      oldestUncheckedAt: null,
      rateToUsd: "1",
      currency: "USD",
      active: true,
      markup: null,
      categoryMarkups: {},
      roundPrices: "none",
      syncEvery: null,
      syncMaxPriceChange: 20,
      syncMaxDeactivated: 10,
      syncNew: "public",
      readableIds: false,
      syncedAt: null,
      syncHeld: null,
      attention: [],
    });
    const listed = await shop.cli("admin", "provider", "list");
    expect(created.stdout.toString() + created.stderr.toString() + listed.stdout).not.toContain(
      PROVIDER_KEY,
    );
    expect(create("other\n").exitCode).toBe(1);
    expect(create("").exitCode).toBe(2);
    expect(create("two words").exitCode).toBe(2);
  });

  test("an address with a password is refused", async () => {
    const url = "http://user:secret@acme.example";
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
    ["a message in place of a number", json({ balance: "contact us" })],
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

test("a held sync is shown as not applied beside its time, until a sync is applied", async () => {
  const shop = shopOf();
  upstream.services = [{ service: 1, name: "Likes", type: "Default", rate: "1", min: 1, max: 9 }];
  const changes = { markup: "10", syncEvery: 3_600_000 };
  shop.run("updateProvider", { name: "acme", changes });
  shop.run("holdSync", { providerId: 1, held: "12 services would be deactivated" });
  const list = async () => {
    const { json } = await shop.cli("admin", "provider", "list", "--json");
    const [{ syncedAt, syncHeld }] = json as [{ syncedAt: string; syncHeld: string | null }];
    return { syncedAt, syncHeld };
  };
  const held = await list();
  expect(held.syncHeld).toBe("12 services would be deactivated");
  const second = held.syncedAt.slice(0, "2026-11-22T12:00:00".length);
  for (const command of [["list"], ["show", "acme"]]) {
    const { stdout } = await shop.cli("admin", "provider", ...command);
    expect(stdout).toContain(`${second}Z, not applied`);
    expect(stdout).toContain(
      "not applied (12 services would be deactivated): see `reseller admin provider sync acme`",
    );
  }
  const synced = await shop.cli("admin", "provider", "sync", "acme");
  expect([synced.code, synced.stderr]).toEqual([0, ""]);
  expect((await list()).syncHeld).toBeNull();
  const { stdout } = await shop.cli("admin", "provider", "list");
  expect([stdout.includes("LAST SYNC"), stdout.includes("not applied")]).toEqual([true, false]);
});

test("pause and resume: shown by list and show, as JSON and under ATTENTION", async () => {
  const shop = seedProvider(openShop(), upstream);
  const paused = await shop.cli("admin", "provider", "pause", "acme", "--json");
  expect(paused.json).toEqual({ name: "acme", paused: true });
  const [listed] = (await shop.cli("admin", "provider", "list", "--json")).json;
  expect(listed).toMatchObject({ pausedBy: "operator", pausedAt: expect.any(String) });
  for (const verb of [["list"], ["show", "acme"]]) {
    const { stdout } = await shop.cli("admin", "provider", ...verb);
    expect(stdout).toContain("Submissions to acme are paused by hand since");
    expect(stdout).toContain("`reseller admin provider resume acme`");
  }
  const resumed = await shop.cli("admin", "provider", "resume", "acme", "--json");
  expect(resumed.json).toEqual({ name: "acme", paused: false });
  const shown = await shop.cli("admin", "provider", "show", "acme", "--json");
  expect(shown.json).toMatchObject({ pausedBy: null, pausedAt: null, attention: [] });
  const unknown = await shop.cli("admin", "provider", "pause", "nobody");
  expect(unknown.code).toBe(1);
});

test("a pause for a time shows its end, and a time out of bounds is wrong usage", async () => {
  const shop = seedProvider(openShop(), upstream);
  const pause = ["admin", "provider", "pause", "acme"];
  const { json } = await shop.cli(...pause, "--for", "2h", "--json");
  expect(json).toEqual({ name: "acme", paused: true, pausedUntil: expect.any(String) });
  const shown = await shop.cli("admin", "provider", "show", "acme");
  expect(shown.stdout).toContain(`operator until ${json.pausedUntil}`);
  const before = shop.dump();
  for (const time of ["59s", "31d", "0", "-1h", "soon", ""]) {
    const wrong = await shop.cli(...pause, "--for", time);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("1m to 30d")]);
  }
  expect(shop.dump()).toBe(before);
});
