// Ten tasks of an operator's day, each done as a person does it, from Today, with JavaScript and without. The clicks and the
// typing that each takes are counted.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { seedPanelMarket, type PanelMarket } from "../../support/seeds/panel-market.ts";
import { openPanel } from "../../support/worlds/panel.ts";
import { PROVIDER_KEY, startUpstream, type Upstream } from "../../support/peers/upstream.ts";
import { runs } from "../../support/runs.ts";
import { launch, visit } from "./browser.ts";
import { type Person, personAt } from "./person.ts";

let browser: Browser;

let upstream: Upstream;

beforeAll(async () => {
  browser = await launch();
  upstream = await startUpstream();
  upstream.book.set("23501", { form: {}, status: { status: "In progress" } });
});
afterAll(async () => {
  await browser.close();
  await upstream.stop();
});

interface Task {
  title: string;
  clicks: number;
  fields: number;
  /** Clicks that it takes more without JavaScript. */
  more?: number;
  /** Makes what it is about; returns what the steps need to know. */
  prepare: (market: PanelMarket) => number;
  run: (person: Person & { market: PanelMarket; hasScript: boolean }, id: number) => Promise<void>;
}

const TASKS: readonly Task[] = [
  {
    title: "Find why an order is stuck and settle it: the provider has it",
    clicks: 3,
    fields: 1,
    prepare(market) {
      // The provider is asked for the number.
      const changes = { url: upstream.url, key: PROVIDER_KEY };
      market.run("updateProvider", { name: "acme", changes });
      return market.delivered("unknown");
    },
    async run({ click, type, text, market }, id) {
      await click("Settle");
      await click(String(id));
      expect(await text()).toContain("It is not known whether acme received this order");
      await type("Its number at the provider", "23501");
      await click("The provider has it: follow it");
      expect(await text()).toContain(`Order ${id} is now polled as 23501.`);
      expect(market.status(id)).toBe("PROCESSING");
    },
  },
  {
    title: "Refund an unknown order that the provider never had",
    clicks: 3,
    fields: 0,
    prepare: (market) => market.delivered("unknown"),
    async run({ click, text, market }, id) {
      await click("Settle");
      await click(`Refund 0.10 USD for order ${id}`);
      expect(await text()).toContain("+0.10 USD");
      await click(`Settle order ${id} as not placed`);
      expect(market.status(id)).toBe("FAILED");
    },
  },
  {
    title: "Give alice 25 USD and show who did it",
    clicks: 4,
    more: 1,
    fields: 2,
    prepare: () => 0,
    async run({ click, type, text, market, hasScript }) {
      await click("Resellers");
      await click("alice");
      await type("Amount in USD", "25");
      await type("Note", "invoice 12");
      if (hasScript) await click("Credit 25.00 USD");
      else {
        await click("Credit");
        expect(await text()).toContain("+25.00 USD");
        await click("Credit alice");
      }
      expect(market.balance("alice")).toBe(125_000_000);
      await click("Changes in the audit log");
      expect(await text()).toMatch(/tester\s+Reseller credited\s+alice/);
    },
  },
  {
    title: "Refund what is left of a delivered order",
    clicks: 4,
    fields: 0,
    prepare(market) {
      const id = market.order();
      market.run("transitionOrder", { id: String(id), to: "COMPLETED", note: null });
      return id;
    },
    async run({ click, market }, id) {
      await click("Orders");
      await click(String(id));
      await click("Refund 0.232 USD");
      await click(`Refund: order ${id}`);
      expect(market.status(id)).toBe("REFUNDED");
    },
  },
  {
    title: "Cancel two orders of bob together",
    clicks: 7,
    fields: 1,
    prepare(market) {
      market.order({ user: "bob" });
      return market.order({ user: "bob" });
    },
    async run({ click, tick, type, text, market }, id) {
      await click("Orders");
      await click("Filters");
      await type("Reseller or user", "bob");
      await click("Filter");
      await tick(`Select order ${id}`);
      await tick(`Select order ${id - 1}`);
      expect(await text()).toMatch(/2 orders, 0\.46 USD|With the ticked rows:/);
      await click("Cancel");
      expect(await text()).toContain("+0.464 USD");
      await click("Cancel 2 orders");
      expect([market.status(id), market.status(id - 1)]).toEqual(["CANCELLED", "CANCELLED"]);
    },
  },
  {
    title: "End an order early and refund the half that was not delivered",
    clicks: 5,
    fields: 1,
    prepare: (market) => market.order(),
    async run({ click, type, text, market }, id) {
      await click("Orders");
      await click(String(id));
      await click("End early…");
      await type("Not delivered", "50");
      await click("End early and refund that part");
      expect(await text()).toContain("+0.116 USD");
      await click(`End early: order ${id}`);
      expect(market.status(id)).toBe("PARTIAL");
    },
  },
  {
    title: "Deliver an order by hand: note its progress, then complete it",
    clicks: 5,
    fields: 1,
    prepare: (market) => market.order(),
    async run({ click, type, text, market }, id) {
      await click("Orders");
      await click(String(id));
      await click("Progress…");
      await type("Start count", "3572");
      await click("Save the progress");
      expect(await text()).toContain("start count 3572");
      await click("Complete");
      expect(market.status(id)).toBe("COMPLETED");
    },
  },
  {
    title: "Make a reseller and its API key",
    clicks: 3,
    fields: 1,
    prepare: () => 0,
    async run({ click, type, text, market }) {
      await click("Resellers");
      await click("New reseller");
      await type("Username", "newshop");
      await click("Create with an order key");
      const [key] = /rk_[0-9A-Za-z]{28}/.exec(await text())!;
      const hash = new Bun.CryptoHasher("sha256").update(key).digest("hex");
      expect(market.query("SELECT type FROM keys WHERE hash = ?", hash)).toEqual([
        { type: "order" },
      ]);
    },
  },
  {
    title: "Switch a service off",
    clicks: 2,
    fields: 0,
    prepare: () => 0,
    async run({ click, text, market }) {
      await click("Catalogue");
      await click("Deactivate Followers");
      expect(await text()).toContain("The service followers is inactive.");
      const [service] = market.query("SELECT active FROM services WHERE id = 'followers'");
      expect(service).toEqual({ active: 0 });
    },
  },
  {
    title: "See which resellers earn the most",
    clicks: 1,
    fields: 0,
    prepare: (market) => market.order({ user: "bob" }),
    async run({ click, text }) {
      await click("Best resellers");
      expect(await text()).toMatch(/Revenue USD[^]+bob[^]+Total/);
    },
  },
  {
    title: "Stop a key that leaked",
    clicks: 3,
    fields: 0,
    prepare: () => 0,
    async run({ click, text, market }) {
      await click("Resellers");
      await click("bob");
      await click("Deactivate", "#keys ~ table");
      expect(await text()).toContain("is refused from now on");
      const keys = market.query(
        "SELECT keys.active FROM keys JOIN users ON account = reseller_account WHERE username = 'bob'",
      );
      expect(keys).toEqual([{ active: 0 }]);
    },
  },
  {
    title: "Find an order by its link and leave a note on it",
    clicks: 6,
    fields: 2,
    prepare(market) {
      const id = market.order({ link: "https://example.com/lost" });
      market.order();
      return id;
    },
    async run({ click, type, text }, id) {
      await click("Orders");
      await click("Filters");
      await type("Link contains", "LOST");
      await click("Filter");
      await click(String(id));
      await click("Note…");
      await type("Note for other administrators", "asked the provider");
      await click("Add the note");
      expect(await text()).toMatch(/note by tester\s+asked the provider/);
    },
  },
];

// Without JavaScript the tasks of a month are done each time.
describe.each(runs([true], [true, false]))("with JavaScript: %p", (javaScriptEnabled) => {
  test.each([...TASKS])("$title: $clicks clicks", async (task) => {
    const { fields, prepare, run } = task;
    const clicks = task.clicks + (javaScriptEnabled ? 0 : (task.more ?? 0));
    const market = seedPanelMarket(await openPanel());
    const id = prepare(market);
    const { page, complaints, close } = await visit(browser, market, {
      as: "tester",
      javaScriptEnabled,
    });
    await page.goto(`${market.url}/`);
    const person = personAt(page);
    await run({ ...person, market, hasScript: javaScriptEnabled }, id);
    expect(person.counts).toEqual({ clicks, fields });
    expect(complaints).toEqual([]);
    await close();
    await market.stop();
  });
});
