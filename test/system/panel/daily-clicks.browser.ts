// The ten things that operators do each day, counted from Today: none takes more clicks than its limit. Typing is no click.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { type PanelMarket, seedPanelMarket } from "../../support/seeds/panel-market.ts";
import { pairsOf } from "../../support/runs.ts";
import { openPanel } from "../../support/worlds/panel.ts";
import { launch, visit } from "./browser.ts";
import { type Person, personAt } from "./person.ts";

let browser: Browser;

beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());

interface Task {
  title: string;
  /** The most clicks that it may take. */
  clicks: number;
  /** Makes what it is about; returns the order's number if it is about one. */
  prepare?: (market: PanelMarket) => number;
  run: (person: Person & { market: PanelMarket; hasScript: boolean }, id: number) => Promise<void>;
}

const SEARCH = "Search orders, resellers, members, services, providers and keys";

const TASKS: readonly Task[] = [
  {
    title: "open an order",
    clicks: 1,
    prepare: (market) => market.order(),
    async run({ type, click, page }, id) {
      await type(SEARCH, String(id));
      await click("Find");
      await page.getByRole("heading", { name: `Order ${id}` }).waitFor();
    },
  },
  {
    title: "find an order by its provider's number",
    clicks: 1,
    prepare: (market) => market.delivered({ placed: "8123456" }),
    async run({ type, click, page }, id) {
      await type(SEARCH, "8123456");
      await click("Find");
      await page.getByRole("heading", { name: `Order ${id}` }).waitFor();
    },
  },
  {
    title: "credit 50 USD",
    clicks: 3,
    async run({ type, click, market, hasScript }) {
      await type(SEARCH, "alice");
      await click("Find");
      await type("Amount in USD", "50");
      if (hasScript) await click("Credit 50.00 USD");
      else {
        await click("Credit");
        await click("Credit alice");
      }
      expect(market.balance("alice")).toBe(150_000_000);
    },
  },
  {
    title: "approve a request",
    clicks: 1,
    prepare(market) {
      market.run("updateService", { id: "followers", changes: { cancel: true } });
      const id = market.order();
      const [order] = market.query<{ account: number; key: string }>(
        "SELECT reseller_account AS account, (SELECT id FROM keys LIMIT 1) AS key FROM orders",
      );
      const asked = { resellerAccount: Number(order!.account), keyId: order!.key };
      market.run("makeRequest", { ...asked, kind: "cancel", id: String(id) });
      return id;
    },
    async run({ page, counts, text, market }, id) {
      counts.clicks += 1;
      await page.getByRole("button", { name: /^Approve, refund 0\.232 USD/ }).click();
      expect(await text()).toContain("0.232 USD refunded");
      expect(market.status(id)).toBe("CANCELLED");
    },
  },
  {
    title: "change a price",
    clicks: 2,
    async run({ type, click, market }) {
      await type(SEARCH, "followers");
      await click("Find");
      await type("Price in USD", "2.5");
      await click("Save");
      expect(market.query("SELECT price_micros FROM services WHERE id = 'followers'")).toEqual([
        { price_micros: 2_500_000 },
      ]);
    },
  },
  {
    title: "switch a service off",
    clicks: 2,
    async run({ click, market }) {
      await click("Catalogue");
      await click("Deactivate Followers");
      expect(market.query("SELECT active FROM services WHERE id = 'followers'")).toEqual([
        { active: 0 },
      ]);
    },
  },
  {
    title: "see all providers' balances",
    clicks: 1,
    async run({ click, text }) {
      await click("Providers");
      expect(await text()).toMatch(/Balance[^]+acme/);
    },
  },
  {
    title: "a new reseller with a key",
    clicks: 3,
    async run({ click, type, text }) {
      await click("Resellers");
      await click("New reseller");
      await type("Username", "newshop");
      await click("Create with an order key");
      expect(await text()).toMatch(/rk_[0-9A-Za-z]{28}/);
    },
  },
  {
    title: "refund an unknown order",
    clicks: 3,
    prepare: (market) => market.delivered("unknown"),
    async run({ click, market }, id) {
      await click("Settle");
      await click(`Refund 0.10 USD for order ${id}`);
      await click(`Settle order ${id} as not placed`);
      expect(market.status(id)).toBe("FAILED");
    },
  },
  {
    title: "see the best resellers",
    clicks: 1,
    prepare: (market) => market.order({ user: "bob" }),
    async run({ click, text }) {
      await click("Best resellers");
      expect(await text()).toMatch(/Revenue USD[^]+bob[^]+Total/);
    },
  },
];

test.each(pairsOf(TASKS, [true, false]).map(([task, hasScript]) => ({ ...task, hasScript })))(
  "$title: at most $clicks clicks, with JavaScript: $hasScript",
  async ({ clicks, prepare, run, hasScript: javaScriptEnabled }) => {
    const market = seedPanelMarket(await openPanel());
    const id = prepare?.(market) ?? 0;
    const { page, complaints, close } = await visit(browser, market, {
      as: "tester",
      javaScriptEnabled,
    });
    await page.goto(`${market.url}/`);
    const person = personAt(page);
    await run({ ...person, market, hasScript: javaScriptEnabled }, id);
    expect(person.counts.clicks).toBeLessThanOrEqual(clicks);
    expect(complaints).toEqual([]);
    await close();
    await market.stop();
  },
);
