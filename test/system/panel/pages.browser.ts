// Every page of the panel in Chromium: at two widths, light and dark, by axe-core and by the keyboard.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { freshPanel, type TestPanel } from "../../support/panel.ts";
import { expectSound, launch, screenshot, tabOrder, VIEWS, visit } from "./browser.ts";
import { fillMarket, PAGES } from "./pages.ts";

let browser: Browser;
let panel: TestPanel;
let ids: ReturnType<typeof fillMarket>;

beforeAll(async () => {
  panel = await freshPanel("owner");
  ids = fillMarket(panel);
  browser = await launch();
});
afterAll(async () => {
  await browser.close();
  await panel.stop();
});

describe.each([...VIEWS])("$name", (view) => {
  test.each([...PAGES])("$name is sound", async ({ name, path, isPublic }) => {
    const { page, complaints, close } = await visit(browser, panel, {
      view,
      ...(isPublic ? {} : { as: "tester" }),
    });
    const response = await page.goto(panel.url + path.replace(":webhook", ids.webhook));
    expect(response!.status()).toBe(200);
    await screenshot(page, `${name}-${view.name}`);
    await expectSound(page, complaints);
    const [red] = (
      await page.evaluate<string>("getComputedStyle(document.body).backgroundColor")
    ).match(/\d+/g)!;
    expect(Number(red) < 128).toBe(view.colorScheme === "dark");
    await close();
  });
});

test("the keyboard reaches the content first, then the navigation, and every field in its order", async () => {
  const { page, close } = await visit(browser, panel, { as: "tester" });
  await page.goto(`${panel.url}/audit`);
  const order = await tabOrder(page, 24);
  expect(order[0]).toBe("To the content");
  expect(order.slice(1, 3)).not.toContain("BODY");
  const fields = ["user", "action", "subject", "by", "from"];
  expect(
    order.filter((each) => fields.includes(each) || each.startsWith("all")).length,
  ).toBeGreaterThanOrEqual(4);
  await close();
});
