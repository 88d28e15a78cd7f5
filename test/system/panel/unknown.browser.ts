// The page of a provider's unknown orders in Chromium, from Today to the settled orders, on a desktop and on a phone.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { startUpstream, type Upstream } from "../../support/peers/upstream.ts";
import { HOUR_MS, openNight } from "../../support/seeds/bad-night.ts";
import { openPanel } from "../../support/worlds/panel.ts";
import { DESKTOP, expectSound, launch, PHONE, screenshot, visit } from "./browser.ts";

const ARRIVED = 30;
const LOST = 10;

let browser: Browser;
let upstream: Upstream;

beforeAll(async () => {
  browser = await launch();
  upstream = await startUpstream();
});
afterAll(async () => {
  await browser.close();
  await upstream.stop();
});

test.each([DESKTOP, PHONE])(
  "the likely orders are ticked by one box and settled after one confirmation; unclear ones stay: $name",
  async (view) => {
    const panel = await openPanel();
    panel.user("alice", "10");
    const night = openNight(panel, upstream);
    const begin = Date.now() - 10 * HOUR_MS;
    night.accepted(begin, 1000);
    for (let index = 0; index < ARRIVED + LOST; index++) {
      const number = index < ARRIVED ? 1001 + index : undefined;
      night.unknown(begin + HOUR_MS + index, 500 + index, number);
    }
    night.accepted(begin + 2 * HOUR_MS, 1040);
    night.unknown(begin + 3 * HOUR_MS, 70, 1041);
    const unclear = night.unknown(begin + 3 * HOUR_MS, 70);
    night.accepted(begin + 4 * HOUR_MS, 1050);
    const { page, complaints, close } = await visit(browser, panel, { view, as: "tester" });
    const isSound = (step: string) =>
      screenshot(page, `unknown-${step}-${view.name}`).then(() => expectSound(page, complaints));

    await page.goto(panel.url);
    await page.getByRole("link", { name: "Settle", exact: true }).click();
    expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe(
      "Unknown orders at acme",
    );
    await isSound("list");
    await page.getByRole("button", { name: "Ask acme" }).click();
    await page.getByText("30 likely sent, 10 likely not sent, 2 unclear").waitFor();
    await isSound("evidence");
    const ticked = () => page.locator('input[type="checkbox"]:checked').count();
    expect(await ticked()).toBe(0);
    await page.getByLabel("All likely ones").check();
    expect(await ticked()).toBe(ARRIVED + LOST + 1);
    expect(await page.getByLabel(`Select order ${unclear}`).isChecked()).toBe(false);
    await page.getByRole("button", { name: "Settle the selected orders" }).click();
    const question = "Settle 40 orders: 30 as sent, 10 as not sent";
    expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe(`${question}?`);
    // Its 40 rows are longer than the window.
    const { y, height } = (await page.getByRole("button", { name: question }).boundingBox())!;
    expect(y + height).toBeLessThanOrEqual(view.height);
    await isSound("confirmation");
    const before = panel.balance("alice");
    await page.getByRole("button", { name: question }).click();
    await page.getByText("40 orders settled: 30 as sent, 10 as not sent").waitFor();
    await isSound("settled");
    // 530 to 539 units at 4 USD for 1,000.
    expect(panel.balance("alice") - before).toBe(5345 * 4000);
    const left = panel.query("SELECT 1 FROM orders WHERE placement = 'unknown'");
    expect(left.length).toBe(2);
    await close();
    await panel.stop();
  },
);
