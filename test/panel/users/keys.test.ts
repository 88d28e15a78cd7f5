// Keys in the panel: the form makes order keys unless it is told otherwise, and what can add credit is marked and limited.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { seedPanelMarket, type PanelMarket } from "../../support/seeds/panel-market.ts";
import { openPanel } from "../../support/worlds/panel.ts";

let market: PanelMarket;
beforeAll(async () => void (market = seedPanelMarket(await openPanel())));
afterAll(() => market.stop());

const page = async () => (await market.get("/users/alice")).text;
const keys = () => market.query("SELECT id, type, reach FROM keys ORDER BY created_at, id");
const rowOf = async (id: string) =>
  (await page()).match(new RegExp(`<tr>(?:(?!</tr>).)*/keys/${id}/.*?</tr>`, "s"))![0];

test("the form's preselected key is an order key, and no reach is preselected", async () => {
  const [, form] = /<form[^>]*action="\/users\/alice\/keys"[^>]*>(.*?)<\/form>/s.exec(
    await page(),
  )!;
  const selected = (name: string) =>
    new RegExp(`<select[^>]*name="${name}"[^>]*>(.*?)</select>`, "s").exec(form!)![1]!;
  expect(selected("type").match(/<option[^>]*selected[^>]*>/g)).toEqual([
    expect.stringContaining('value="order"'),
  ]);
  expect(selected("reach")).not.toContain("selected");
  expect(selected("reach")).toMatch(/^<option value>|^<option value="">/);
});

test("a recharge key needs a reach, an order key has neither reach nor limits; otherwise no key is made", async () => {
  const before = keys().length;
  for (const type of ["recharge", "full"]) {
    const refused = await market.post("/users/alice/keys", { type, reach: "" });
    expect([refused.status, refused.text]).toEqual([
      422,
      expect.stringContaining("Reach is required"),
    ]);
  }
  for (const [field, value, message] of [
    ["recharge-limit", "1", "An order key cannot recharge"],
    ["recharge-limit", "0", "Limit for one recharge, USD must be a positive number"],
    [
      "recharge-daily",
      "1.0000001",
      "Limit for one day (UTC), USD must be a number with at most six decimals",
    ],
  ] as const) {
    const refused = await market.post("/users/alice/keys", { type: "order", [field]: value });
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining(message)]);
  }
  expect(keys().length).toBe(before);
  const made = await market.post("/users/alice/keys", { type: "order", reach: "" });
  expect(made.text).toContain('<pre id="key">rk_');
});

test("a key that can add credit is marked, with its reach and its limits; an order or a test key is not", async () => {
  const marked: [type: "order" | "recharge" | "full", test: boolean, isMarked: boolean][] = [
    ["order", false, false],
    ["recharge", false, true],
    ["full", false, true],
    ["full", true, false],
  ];
  for (const [type, isTest, isMarked] of marked) {
    const { id } = market.key("alice", type, "children", isTest);
    const row = await rowOf(id);
    expect([type, isTest, row.includes(">creates credit</span>")]).toEqual([
      type,
      isTest,
      isMarked,
    ]);
    expect(row.includes("its child users")).toBe(type !== "order");
  }
  const { id } = market.key("alice", "recharge");
  const changes = { rechargeLimitMicros: 12_500_000, rechargeDailyMicros: 1_000_000_000 };
  market.run("updateKey", { id, changes });
  expect(await rowOf(id)).toContain("all users, 12.5 USD at once, 1000 USD a day");
});
