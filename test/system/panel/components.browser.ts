// The page of all components in Chromium, in each view, with what is folded open and without JavaScript.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { DESKTOP, expectSound, launch, PHONE, screenshot } from "./browser.ts";
import { serveComponents } from "./components/serve.ts";

let browser: Browser;
let server: ReturnType<typeof serveComponents>;

beforeAll(async () => {
  browser = await launch();
  server = serveComponents(0);
});
afterAll(async () => {
  await browser.close();
  await server.stop(true);
});

const VIEWS = [DESKTOP, PHONE].flatMap((view) =>
  (["light", "dark"] as const).map((colorScheme) => ({ ...view, colorScheme })),
);

async function open({ width, height, colorScheme }: (typeof VIEWS)[number]) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme });
  context.setDefaultTimeout(0);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(server.url.href);
  return { page, complaints, context };
}

test.each(VIEWS)("every component is sound: $width $colorScheme", async (view) => {
  const { page, complaints, context } = await open(view);
  await screenshot(page, `components-${view.width}-${view.colorScheme}`);
  await expectSound(page, complaints);
  await context.close();
});

test("the bar of ticked rows appears with the first tick, and counts and sums them", async () => {
  const { page, context } = await open(VIEWS[0]!);
  const bar = page.locator(".bulk");
  expect(await bar.isVisible()).toBe(false);
  await page.getByLabel("Select order 4812").check();
  expect(await bar.locator("output").innerText()).toBe("1 order, 2.32 USD");
  await page.getByLabel("Select order 4811").check();
  expect(await bar.locator("output").innerText()).toBe("2 orders, 6.96 USD");
  await page.getByLabel("All on this page").check();
  expect(await bar.locator("output").innerText()).toStartWith("7 orders, ");
  await context.close();
});

test("the script leaves the links of headings that sort, and the hidden heading of a column of boxes", async () => {
  const { page, context } = await open(VIEWS[0]!);
  expect(await page.locator("thead a").allTextContents()).toEqual(["Order ↓", "Charge USD"]);
  expect(await page.locator("thead th .hidden").allTextContents()).toEqual(["Select"]);
  await context.close();
});

test("a click elsewhere and Escape close an open menu", async () => {
  const { page, context } = await open(VIEWS[0]!);
  const field = page.getByLabel("In a menu", { exact: true });
  for (const close of [() => page.keyboard.press("Escape"), () => page.locator("h1").click()]) {
    await page.locator("summary", { hasText: "Menu" }).click();
    expect(await field.isVisible()).toBe(true);
    await close();
    expect(await field.isVisible()).toBe(false);
  }
  await context.close();
});
