// Test mode in Chromium, found by visible words only: in, an order, out; with JavaScript and without.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { openPortal, type TestPortal } from "../../support/worlds/portal.ts";
import { expectSound, launch } from "../panel/browser.ts";
import { fillPortal, type Market } from "./market.ts";

let browser: Browser;
let portal: TestPortal;
let market: Market;

beforeAll(async () => {
  browser = await launch();
  portal = await openPortal({ prefix: "/portal" });
  market = fillPortal(portal);
});
afterAll(async () => {
  await browser.close();
  await portal.stop();
});

const orders = (isTest: boolean) =>
  portal.query(
    `SELECT count(*) AS orders, sum(balance_micros) AS micros FROM users
      LEFT JOIN orders ON orders.reseller_account = users.account
      WHERE test_of IS ${isTest ? "NOT NULL" : "NULL"}`,
  );

test.each([true, false])(
  "a test order leaves the live side as it is; JavaScript: %p",
  async (js) => {
    const context = await browser.newContext({ javaScriptEnabled: js });
    context.setDefaultTimeout(0);
    const [name, value] = portal.session(market.owner).split("=") as [string, string];
    await context.addCookies([{ name, value, url: portal.url }]);
    const page = await context.newPage();
    const before = [orders(true), orders(false)];
    await page.goto(`${portal.url}/portal/`);
    // The first time the switch is a button, which opens the test account.
    await page.getByRole("banner").getByText("Test mode").click();
    await page.getByText("nothing is delivered").waitFor();
    await page.getByRole("link", { name: "New order" }).first().click();
    await page.getByRole("link", { name: "Instagram Likes" }).click();
    await page.getByLabel("Link").fill("https://test.invalid/typo");
    await page.getByLabel("Quantity").fill("100");
    await page.getByRole("button", { name: "Review" }).click();
    await page.getByText("not a link of test mode").first().waitFor();
    await page.getByLabel("Link").fill("https://test.invalid/complete");
    await page.getByRole("button", { name: "Review" }).click();
    await page.getByRole("button", { name: "Place" }).click();
    await page.getByRole("heading", { name: /^Order / }).waitFor();
    expect(new URL(page.url()).pathname).toStartWith("/portal/test/orders/");
    if (js) await expectSound(page, []);
    expect(orders(true)).not.toEqual(before[0]!);
    expect(orders(false)).toEqual(before[1]!);
    await page.getByRole("banner").getByText("Leave test mode").click();
    await page.getByRole("heading", { name: "Orders" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/portal/orders");
    expect(await page.getByText("nothing is delivered").count()).toBe(0);
    await context.close();
  },
);
