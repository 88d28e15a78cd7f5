// Adding funds by card in Chromium, through the page of the local Stripe; with JavaScript and without.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { type Market, openMarket } from "../../payments/stripe-cases/world.ts";
import { DESKTOP, expectSound, launch, PHONE, screenshot } from "../panel/browser.ts";
import { addFunds, pay } from "./card-payment.ts";

let browser: Browser;
let market: Market;

beforeAll(async () => {
  browser = await launch();
  market = await openMarket();
  market.local.to.isAutomatic = true;
});
afterAll(async () => {
  await browser.close();
  await market.stop();
});

async function visit(javaScriptEnabled: boolean) {
  const { width, height, colorScheme } = javaScriptEnabled ? DESKTOP : PHONE;
  const viewport = { width, height };
  const context = await browser.newContext({ viewport, colorScheme, javaScriptEnabled });
  context.setDefaultTimeout(0);
  const { username, cookie } = market.customer();
  const [name, value] = cookie.split("=") as [string, string];
  const { url } = market.service;
  await context.addCookies([{ name, value, url, httpOnly: true, sameSite: "Strict" }]);
  const page = await context.newPage();
  await page.goto(`${url}/portal/`);
  const balance = () =>
    market.service.query<{ balance: number }>(
      "SELECT balance_micros AS balance FROM users WHERE username = ?",
      username,
    )[0]!.balance / 1_000_000;
  return { context, page, balance };
}

test.each([true, false])("a card credits the balance, once; JavaScript: %p", async (js) => {
  const { context, page, balance } = await visit(js);
  await addFunds(page, "25", "card");
  const state = page.locator("#payment");
  await state.getByText("Paid", { exact: true }).first().waitFor();
  await state.getByText("Credited").waitFor();
  await screenshot(page, `portal-card-paid-${js ? "desktop" : "phone"}`);
  if (js) await expectSound(page, []);
  expect(balance()).toBe(25);
  // Another visit of the page that Stripe leads to, and another event, change nothing.
  await page.reload();
  await market.local.deliver(market.local.event("checkout.session.completed"));
  expect(balance()).toBe(25);
  expect(await page.getByRole("link", { name: "Pay now" }).count()).toBe(0);
  await context.close();
});

test.each([true, false])(
  "a customer who comes back unpaid can pay later; JavaScript: %p",
  async (js) => {
    const { context, page, balance } = await visit(js);
    await addFunds(page, "25", "back");
    expect(balance()).toBe(0);
    await screenshot(page, `portal-card-pending-${js ? "desktop" : "phone"}`);
    const payment = page.url();
    await pay(page, "declined");
    expect(balance()).toBe(0);
    await page.goto(payment);
    await pay(page, "card");
    await page.locator("#payment").getByText("Paid", { exact: true }).first().waitFor();
    expect(balance()).toBe(25);
    await context.close();
  },
);

test("a bank debit is credited once the bank has paid, and the open page shows it", async () => {
  const { context, page, balance } = await visit(true);
  await addFunds(page, "25", "bank");
  expect(balance()).toBe(0);
  market.local.account.settle(market.local.session.id, true);
  await market.local.deliver(market.local.event("checkout.session.async_payment_succeeded"));
  await page.locator("#payment").getByText("Paid", { exact: true }).first().waitFor();
  expect(balance()).toBe(25);
  await context.close();
});
