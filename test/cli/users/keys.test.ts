// Keys that can add credit: made with a reach, said in one sentence, limited, and marked wherever keys are looked at.

import { afterAll, expect, test } from "bun:test";
import { openShop, reseller, optionsOf } from "../../support/worlds/shop.ts";

const shop = openShop();
afterAll(() => shop.close());

const create = (...flags: string[]) =>
  shop.cli("admin", "key", "create", "--user", "alice", ...flags);

/** Flags, and what the sentence says of them; null: none. */
const SENTENCES: [flags: string, sentence: string | null][] = [
  ["--type order", null],
  ["--type order --test", null],
  ["--type recharge --reach all", "This key can add credit to any user, alice included: any amount at once, without a daily limit."],
  ["--type recharge --reach children", "This key can add credit to the child users of alice: any amount at once, without a daily limit."],
  ["--type full --reach all --recharge-limit 50", "This key can place orders of alice and add credit to any user, alice included: at most 50 USD at once, without a daily limit."],
  ["--type full --reach children --recharge-daily 0.5", "This key can place orders of alice and add credit to the child users of alice: any amount at once, at most 0.5 USD a day."],
  ["--type recharge --reach all --recharge-limit 50 --recharge-daily 500 --test", "This key can add test credit to any user, alice included: at most 50 USD at once, at most 500 USD a day."],
]; // prettier-ignore

test.each(SENTENCES)(
  "key create %s says what the key can do, beside its JSON: %p",
  async (...row) => {
    const [flags, sentence] = row;
    const said = sentence === null ? "" : `${sentence}\n`;
    const made = await create(...flags.split(" "), "--json");
    expect([made.code, made.stderr]).toEqual([0, said]);
    const rotated = await shop.cli("admin", "key", "rotate", made.json.id, "--json");
    expect([rotated.code, rotated.stderr]).toEqual([0, said]);
    expect((await create(...flags.split(" "))).stderr).toBe(said);
  },
);

test("without a reach a key that recharges is wrong usage, and the message names both choices", async () => {
  const before = shop.dump();
  for (const type of ["recharge", "full"]) {
    const { code, stderr } = await create("--type", type);
    expect([code, stderr]).toEqual([2, expect.stringContaining("--reach children")]);
    expect(stderr).toContain("--reach all");
  }
  expect(shop.dump()).toBe(before);
});

test("limits are set, shown, kept by rotation, changed and removed; an order key has none", async () => {
  const limits = ["--recharge-limit", "12.5", "--recharge-daily", "100"];
  const { id } = (await create("--type", "recharge", "--reach", "children", "--json", ...limits))
    .json;
  const shown = { createsCredit: true, rechargeLimit: 12.5, rechargeDaily: 100 };
  const { id: rotated, ...terms } = (await shop.cli("admin", "key", "rotate", id, "--json")).json;
  expect(terms).toMatchObject(shown);
  const listed = async () =>
    (await shop.cli("admin", "key", "list", "--json")).json.find(
      (key: { id: string }) => key.id === rotated,
    );
  expect(await listed()).toMatchObject(shown);
  const text = (await shop.cli("admin", "key", "list")).stdout;
  expect(text).toMatch(new RegExp(`${rotated} +recharge +children, 12.5 once, 100 daily +alice`));
  const update = (...flags: string[]) =>
    shop.cli("admin", "key", "update", rotated, "--json", ...flags);
  expect((await update("--recharge-daily", "99.999999")).json).toMatchObject({
    rechargeLimit: 12.5,
    rechargeDaily: 99.999999,
  });
  expect((await update("--no-recharge-limit", "--no-recharge-daily")).json).toMatchObject({
    rechargeLimit: null,
    rechargeDaily: null,
  });
  const order = (await create("--type", "order", "--json")).json;
  expect((await create("--type", "order")).stdout).toMatch(/^reach +-$/m);
  expect((await create("--type", "full", "--reach", "all")).stdout).toMatch(/^reach +all$/m);
  expect(order).toMatchObject({ createsCredit: false, rechargeLimit: null, rechargeDaily: null });
  const logged = (await shop.cli("admin", "audit", "list", "--subject", order.id)).stdout;
  expect(logged).toContain("type order");
  expect(logged).not.toContain("reach");
  const refused = await shop.cli("admin", "key", "update", order.id, "--recharge-limit", "1");
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("cannot recharge")]);
});

test("doctor counts the keys that can add credit, and warns of those without a daily limit for any user", async () => {
  const fresh = openShop();
  const finding = async () =>
    (await fresh.cli("doctor", "--json")).json.findings.find(
      ({ check }: { check: string }) => check === "keys that add credit",
    );
  const make = (...flags: string[]) =>
    fresh.cli("admin", "key", "create", "--user", "bob", "--json", ...flags);
  for (const { id } of (await fresh.cli("admin", "key", "list", "--json")).json) {
    await fresh.cli("admin", "key", "deactivate", id);
  }
  await make("--type", "order");
  await make("--type", "full", "--reach", "all", "--test");
  expect(await finding()).toMatchObject({ state: "ok", found: "none" });
  await make("--type", "full", "--reach", "children");
  const { id } = (await make("--type", "recharge", "--reach", "all", "--recharge-daily", "1")).json;
  expect(await finding()).toMatchObject({
    state: "ok",
    found: "2, limited to a daily amount or to child users",
  });
  await fresh.cli("admin", "key", "update", id, "--no-recharge-daily", "--recharge-limit", "1");
  expect(await finding()).toMatchObject({
    state: "warn",
    found: "2 keys can add credit, 1 of them to any user without a daily limit",
  });
  await fresh.cli("admin", "key", "deactivate", id);
  expect(await finding()).toMatchObject({ state: "ok" });
  expect((await reseller("verify", ...optionsOf(fresh))).code).toBe(0);
  fresh.close();
});
