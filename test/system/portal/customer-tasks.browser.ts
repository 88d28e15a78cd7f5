// Twenty things that customers do, each found from the first page by visible words alone: in English and Spanish, on a laptop
// and a phone, with JavaScript and without. The variants take turns, and at night each task runs in all of them.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import type { Language } from "../../../src/domain/members/languages.ts";
import { pairsOf } from "../../support/runs.ts";
import { openPortal, PASSWORD, type TestPortal } from "../../support/worlds/portal.ts";
import { DESKTOP, expectFits, launch, PHONE } from "../panel/browser.ts";
import { type Customer, customerAt } from "./customer.ts";
import { fillPortal, type Market } from "./market.ts";

let browser: Browser;

beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());

type Actor = Customer & { portal: TestPortal; market: Market };

interface Task {
  title: string;
  run: (actor: Actor) => Promise<void>;
}

const LINK = "https://instagram.example/new.profile";
/** Of the orders of fillPortal: 27 is completed, 28 partly done, and 26 in progress. */
const COMPLETED = 27;
const PARTIAL = 28;
const OPEN = 26;

const count = (portal: TestPortal, table: string, where = "TRUE") =>
  Number(portal.query(`SELECT count(*) AS number FROM ${table} WHERE ${where}`)[0]!["number"]);

async function findOrder({ nav, type, click }: Actor, text: string): Promise<void> {
  await nav("nav.orders");
  await type("orders.findLabel", text);
  await click("parts.filter");
}

const TASKS: readonly Task[] = [
  {
    title: "place an order, with the charge and the balance after it in sight",
    async run({ nav, click, type, sees, page, portal }) {
      await nav("nav.newOrder");
      await page.getByRole("link", { name: "Instagram Likes", exact: true }).click();
      await type("orders.link", LINK);
      await type("orders.quantity", "500");
      await click("newOrder.review");
      await sees("newOrder.balanceAfter");
      expect(count(portal, "orders", `link = '${LINK}'`)).toBe(0);
      await click("newOrder.place");
      await sees("newOrder.otherService", "order.placedNote");
      expect(count(portal, "orders", `link = '${LINK}'`)).toBe(1);
    },
  },
  {
    title: "place several orders at once, the right ones of them",
    async run({ nav, click, type, sees, portal }) {
      await nav("nav.newOrder");
      await click("several.title");
      await type("several.lines", `1 | ${LINK} | 100\n99 | ${LINK} | 100\n2 | ${LINK} | 200`);
      await click("several.check");
      await sees("several.someWrong");
      expect(count(portal, "orders", `link = '${LINK}'`)).toBe(0);
      await click("several.placeRight");
      await sees("several.placed");
      expect(count(portal, "orders", `link = '${LINK}'`)).toBe(2);
    },
  },
  {
    title: "find an order by a part of its link",
    async run(actor) {
      await findOrder(actor, "profile.name.7");
      const row = actor.page.getByRole("row").filter({ hasText: "profile.name.7" });
      await row.getByRole("link").first().click();
      await actor.sees("order.timeline");
    },
  },
  {
    title: "see what was refunded of an order",
    async run(actor) {
      await findOrder(actor, String(PARTIAL));
      await actor.sees("order.refunded");
      await actor.sees("status.PARTIAL");
    },
  },
  {
    title: "ask to cancel an order",
    async run(actor) {
      await findOrder(actor, String(OPEN));
      await actor.click("order.cancel");
      await actor.sees("order.asked");
      expect(count(actor.portal, "order_requests", `order_id = ${OPEN} AND kind = 'cancel'`)).toBe(
        1,
      );
    },
  },
  {
    title: "ask for a refill",
    async run(actor) {
      await findOrder(actor, String(COMPLETED));
      await actor.click("order.refill");
      await actor.sees("order.asked");
      const asked = `order_id = ${COMPLETED} AND kind = 'refill'`;
      expect(count(actor.portal, "order_requests", asked)).toBe(1);
    },
  },
  {
    title: "order the same again",
    async run(actor) {
      await findOrder(actor, String(COMPLETED));
      await actor.click("order.again");
      await actor.click("newOrder.review");
      await actor.click("newOrder.place");
      await actor.sees("order.timeline");
      expect(count(actor.portal, "orders")).toBe(31);
    },
  },
  {
    title: "download the orders that are in progress",
    async run({ nav, click, download }) {
      await nav("nav.orders");
      await click("status.PROCESSING");
      const csv = await download("site.csv");
      expect(csv.split("\n").filter((line) => line !== "")).toHaveLength(28);
    },
  },
  {
    title: "find a service and its price",
    async run({ nav, click, type, sees, page }) {
      await nav("nav.services");
      await type("newOrder.search", "likes");
      await click("newOrder.show");
      await page.getByText("Instagram Likes").first().waitFor();
      await sees("newOrder.per1000");
      expect(await page.getByText("Telegram Members").count()).toBe(0);
    },
  },
  {
    title: "download the price list",
    async run({ nav, download }) {
      await nav("nav.services");
      expect(await download("site.csv")).toContain("Telegram Members");
    },
  },
  {
    title: "see what was charged for orders",
    async run({ nav, click, choose, sees, page }) {
      await nav("nav.balance");
      await choose("balance.kind", "order");
      await click("parts.filter");
      await sees("transfer.order");
      expect(await page.locator("main").innerText()).not.toContain("+");
    },
  },
  {
    title: "open the statement of a month",
    async run({ nav, page, sees }) {
      await nav("nav.balance");
      await page.getByRole("listitem").getByRole("link").last().click();
      await sees("statement.opening");
      await sees("statement.closing");
    },
  },
  {
    title: "add funds by a bank transfer, and say what was paid",
    async run({ nav, click, type, choose, sees, portal }) {
      await nav("nav.balance");
      await click("payments.add");
      await choose("payments.method", "bank");
      await type("payments.amount", "60");
      await click("payments.review");
      await sees("payments.credited");
      await click("payments.create");
      await type("payments.reference", "Ann, 28 November");
      await click("payments.claim");
      await sees("payments.claimed");
      expect(count(portal, "payments", "awaits = 'claim'")).toBe(1);
    },
  },
  {
    title: "create a key for a program",
    async run({ nav, click, type, page }) {
      await nav("nav.api");
      await click("keys.new");
      await type("keys.label", "my shop");
      await click("keys.create");
      await page.getByText(/rk_[0-9A-Za-z]{28}/).first().waitFor(); // prettier-ignore
    },
  },
  {
    title: "switch a key off",
    async run({ nav, click, press, sees, portal }) {
      await nav("nav.api");
      await press("keys.deactivate");
      await click("keys.confirmDeactivate");
      await sees("keys.deactivated");
      expect(count(portal, "keys", "active = 0")).toBe(1);
    },
  },
  {
    title: "switch a webhook off",
    async run({ nav, click, sees, page, portal }) {
      await nav("nav.api");
      await page.getByRole("link", { name: "https://hooks.example/" }).click();
      await click("webhooks.disable");
      await sees("webhooks.wasDisabled");
      expect(count(portal, "webhooks", "active = 0")).toBe(1);
    },
  },
  {
    title: "invite a colleague who places orders",
    async run({ nav, click, type, choose, sees, portal }) {
      await nav("nav.members");
      await type("field.email", "dan@alice.example");
      await type("field.name", "Dan");
      await choose("field.role", "buyer");
      await click("team.invite");
      await sees("team.linkTitle", "team.sent");
      expect(count(portal, "members", "email = 'dan@alice.example'")).toBe(1);
    },
  },
  {
    title: "change the language",
    async run({ nav, click, choose, page, language, say }) {
      await nav("nav.settings");
      const other: Language = language === "en" ? "tr" : "en";
      await choose("field.language", other);
      await click("site.save");
      await page.getByRole("heading", { name: say("settings.title", other) }).waitFor();
    },
  },
  {
    title: "change the password",
    async run({ nav, click, type, sees }) {
      await nav("nav.settings");
      await type("field.currentPassword", PASSWORD);
      await type("field.newPassword", "green tea with lemon");
      await click("settings.changePassword");
      await sees("settings.passwordChanged");
    },
  },
  {
    title: "try an order without money, and come back",
    async run({ click, nav, type, sees, page, portal }) {
      const before = portal.query(
        "SELECT sum(balance_micros) AS sum FROM users WHERE test_of IS NULL",
      );
      await nav("test.enter");
      await nav("nav.newOrder");
      await page.getByRole("link", { name: "Instagram Likes", exact: true }).click();
      await type("orders.link", "https://test.invalid/complete");
      await type("orders.quantity", "100");
      await click("newOrder.review");
      await click("newOrder.place");
      await sees("order.timeline");
      await nav("test.leave");
      expect(
        portal.query("SELECT sum(balance_micros) AS sum FROM users WHERE test_of IS NULL"),
      ).toEqual(before);
    },
  },
];

const VARIANTS = (["en", "es"] as const).flatMap((language) =>
  [DESKTOP, PHONE].flatMap((view) => [true, false].map((js) => ({ language, view, js }))),
);

test.each(
  pairsOf(TASKS, VARIANTS).map(([task, variant]) => ({
    ...task,
    ...variant,
    screen: variant.view.name,
  })),
)("$title; $language, $screen, JavaScript: $js", async ({ run, language, view, js }) => {
  const portal = await openPortal({ prefix: "/portal" });
  const market = fillPortal(portal);
  portal.query("UPDATE members SET language = ? WHERE id = ?", language, market.owner);
  const { width, height, colorScheme } = view;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    javaScriptEnabled: js,
    locale: language,
  });
  context.setDefaultTimeout(0);
  const [name, value] = portal.session(market.owner).split("=") as [string, string];
  await context.addCookies([{ name, value, url: portal.url, httpOnly: true, sameSite: "Strict" }]);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    // What a form says with 422 is for the customer to correct.
    if (!message.text().includes("status of 422")) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(`${portal.url}/portal/`);
  await run({ ...customerAt(page, language), portal, market });
  await expectFits(page);
  expect(complaints).toEqual([]);
  await context.close();
  await portal.stop();
});
