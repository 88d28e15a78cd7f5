// The search box as one types: results by mouse and keyboard, for screen readers too, and the page without JavaScript.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { openPanel } from "../../support/worlds/panel.ts";
import { type PanelMarket, seedPanelMarket } from "../../support/seeds/panel-market.ts";
import { DESKTOP, expectSound, launch, PHONE, screenshot, type View, visit } from "./browser.ts";

let browser: Browser;
let market: PanelMarket;
let order: number;

beforeAll(async () => {
  browser = await launch();
  market = seedPanelMarket(await openPanel());
  order = market.delivered({ placed: "77001" });
  market.run("updateUser", { username: "bob", changes: { email: "Bob@Shop.example" } });
});
afterAll(async () => {
  await browser.close();
  await market.stop();
});

const opened = async (view: View = DESKTOP, javaScriptEnabled = true) => {
  const visited = await visit(browser, market, { as: "tester", view, javaScriptEnabled });
  await visited.page.goto(`${market.url}/`);
  return visited;
};
const boxOf = (page: Page) => page.locator("#search");
const optionsOf = (page: Page) => page.locator("#finds [role=option]");

describe("while one types", () => {
  test.each([DESKTOP, PHONE])(
    "results of all kinds are shown below the box: $name",
    async (view) => {
      const { page, complaints, close } = await opened(view);
      await boxOf(page).pressSequentially("bo");
      await optionsOf(page).first().waitFor();
      expect(await page.locator("#finds [role=group]").allInnerTexts()).toEqual([
        expect.stringMatching(/^Resellers\nbob/),
      ]);
      expect(await boxOf(page).getAttribute("aria-expanded")).toBe("true");
      await expectSound(page, complaints);
      await screenshot(page, `search-list-${view.name}`);
      await optionsOf(page).first().click();
      await page.waitForURL(`${market.url}/users/bob`);
      await close();
    },
  );

  test("arrows choose a result, Enter opens it, Escape closes the list", async () => {
    const { page, complaints, close } = await opened();
    const box = boxOf(page);
    await page.keyboard.press("/");
    await box.pressSequentially("li");
    await optionsOf(page).first().waitFor();
    const titles = await optionsOf(page).allInnerTexts();
    expect(titles.length).toBeGreaterThan(1);
    const chosen = page.locator("#finds [aria-selected=true]");
    await page.keyboard.press("ArrowUp");
    expect(await chosen.innerText()).toBe(titles.at(-1)!);
    await page.keyboard.press("ArrowDown");
    expect(await chosen.innerText()).toBe(titles[0]!);
    expect(await box.getAttribute("aria-activedescendant")).toBe(await chosen.getAttribute("id"));
    expect(await box.evaluate((each) => each === document.activeElement)).toBe(true);
    await page.keyboard.press("Escape");
    expect(await optionsOf(page).count()).toBe(0);
    expect(await box.getAttribute("aria-activedescendant")).toBeNull();
    await box.pressSequentially("k");
    await optionsOf(page).first().waitFor();
    await page.keyboard.press("ArrowDown");
    const href = await chosen.getAttribute("data-href");
    await page.keyboard.press("Enter");
    await page.waitForURL(market.url + href!);
    expect(complaints).toEqual([]);
    await close();
  });

  test("an order is found by its provider's number, a reseller by its e-mail, with one key after it", async () => {
    const { page, close } = await opened();
    for (const [text, path] of [
      ["77001", `/orders/${order}`],
      ["bob@SHOP.example", "/users/bob"],
    ] as const) {
      await boxOf(page).fill(text);
      await page.keyboard.press("Enter");
      await page.waitForURL(market.url + path);
    }
    await close();
  });
});

test("without JavaScript the box leads to the page of results", async () => {
  const { page, close } = await opened(PHONE, false);
  await boxOf(page).fill("li");
  await page.getByRole("button", { name: "Find", exact: true }).click();
  expect(await page.locator("main").innerText()).toContain("Likes");
  expect(await page.locator("#finds").count()).toBe(0);
  await close();
});
