// Every page of the panel in Chromium: at two widths, light and dark, by axe-core and by the keyboard; with what is folded
// open, with nothing to show, and with errors beside its fields.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { ROUTES } from "../../../src/panel/routes.ts";
import { freshPanel, type TestPanel } from "../../support/panel.ts";
import {
  expectSound,
  launch,
  reachedByTab,
  screenshot,
  VIEWS,
  visit,
  type View,
} from "./browser.ts";
import { fillMarket, type LookedAt, PAGES, WRONG } from "./pages.ts";

let browser: Browser;
let panel: TestPanel;
let empty: TestPanel;
let ids: ReturnType<typeof fillMarket>;

beforeAll(async () => {
  [panel, empty] = [await freshPanel("owner"), await freshPanel("owner")];
  ids = fillMarket(panel);
  browser = await launch();
});
afterAll(async () => {
  await browser.close();
  await panel.stop();
  await empty.stop();
});

const pathOf = (path: string) => path.replace(":webhook", ids.webhook);

/** As who may see it. Of those sessions none stays: the pages would list them. */
async function looking(
  { path, isPublic, awaitsCode }: Pick<LookedAt, "path" | "isPublic" | "awaitsCode">,
  view: View,
  look: (page: Page, complaints: string[]) => Promise<void>,
  at: TestPanel = panel,
): Promise<void> {
  const who = isPublic ? {} : { as: awaitsCode ?? "tester", awaitsCode: awaitsCode !== undefined };
  const { page, complaints, close } = await visit(browser, at, { view, ...who });
  const response = await page.goto(at.url + pathOf(path));
  expect(response!.status()).toBe(200);
  await look(page, complaints);
  await close();
  at.query("DELETE FROM panel_sessions WHERE administrator <> 'sam'");
}

test("every page of the route table is looked at", () => {
  const forms = PAGES.map(({ path }) => pathOf(path).split("?")[0]!);
  const missing = ROUTES.filter(({ method, path }) => {
    const form = new RegExp(`^${path.replace(/:\w+/g, "[^/]+")}$`);
    return method === "GET" && !path.endsWith(".csv") && !forms.some((each) => form.test(each));
  });
  expect(missing.map(({ path }) => path)).toEqual([]);
});

describe.each([...VIEWS])("$name", (view) => {
  test.each([...PAGES])("$name is sound", ({ name, ...looked }) =>
    looking(looked, view, async (page, complaints) => {
      await screenshot(page, `${name}-${view.name}`);
      await expectSound(page, complaints);
      const [red] = (
        await page.evaluate<string>("getComputedStyle(document.body).backgroundColor")
      ).match(/\d+/g)!;
      expect(Number(red) < 128).toBe(view.colorScheme === "dark");
      const folded = await page.evaluate<number>(`(() => {
        const all = [...document.querySelectorAll("details:not([open])")];
        for (const each of all) each.open = true;
        return all.length;
      })()`);
      if (folded === 0) return;
      await screenshot(page, `${name}-open-${view.name}`);
      await expectSound(page, complaints);
    }),
  );
});

/** A wide one and a narrow one. */
describe.each([VIEWS[0]!, VIEWS[3]!])("$name", (view) => {
  test.each(PAGES.filter(({ path }) => /^\/\w*$/.test(path)))(
    "$name is sound without data",
    (looked) =>
      looking(
        looked,
        view,
        async (page, complaints) => {
          await screenshot(page, `${looked.name}-empty-${view.name}`);
          await expectSound(page, complaints);
        },
        empty,
      ),
  );

  test.each([...WRONG])(
    "the form of $action is sound with its errors",
    ({ path, action, typed = {} }) =>
      looking(
        { path, ...(path === "/sign-in" && { isPublic: true }) },
        view,
        async (page, complaints) => {
          const form = page.locator(`form[method="post"][action="${action}"]`);
          await page.evaluate(
            "for (const each of document.querySelectorAll('details')) each.open = true",
          );
          for (const [name, text] of Object.entries(typed)) {
            await form.locator(`[name="${name}"]`).first().fill(text);
          }
          const [response] = await Promise.all([
            page.waitForResponse((each) => each.request().method() === "POST"),
            form.locator("button").first().click(),
          ]);
          expect(response.status()).toBe(422);
          await page.waitForLoadState();
          const wrong = form.locator("[aria-invalid]").first();
          expect(await wrong.isVisible()).toBe(true);
          await screenshot(page, `wrong${action.replaceAll("/", "-")}-${view.name}`);
          await expectSound(
            page,
            complaints.filter((each) => !each.includes("422")),
          );
        },
      ),
  );
});

/** Of laptops and tablets, between the two. */
const WIDTHS = [1280, 1100, 768];

test.each([...PAGES])("nothing of $name is cut off at the widths between", ({ name, ...looked }) =>
  looking(looked, VIEWS[0]!, async (page) => {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 720 });
      await screenshot(page, `${name}-${width}`);
      const [content, window] = await page.evaluate<[number, number]>(
        "[document.documentElement.scrollWidth, innerWidth]",
      );
      expect([width, window, content]).toEqual([width, width, expect.any(Number)]);
      expect(content).toBeLessThanOrEqual(window);
    }
  }),
);

test.each([...PAGES])("the keyboard reaches everything of $name in its order", (looked) =>
  looking(looked, VIEWS[0]!, async (page) => {
    const { usable, reached } = await reachedByTab(page);
    expect(usable.length).toBeGreaterThan(1);
    expect(usable[0]).toContain("To the content");
    expect([...new Set(reached)].slice(0, usable.length)).toEqual(usable);
  }),
);

test.each([...PAGES])(
  "$name needs no JavaScript: each of its forms has a button that sends it",
  async (looked) => {
    const { path, isPublic, awaitsCode } = looked;
    const who = isPublic
      ? {}
      : { as: awaitsCode ?? "tester", awaitsCode: awaitsCode !== undefined };
    const { page, close } = await visit(browser, panel, { ...who, javaScriptEnabled: false });
    await page.goto(panel.url + pathOf(path));
    expect(await page.locator("h1").isVisible()).toBe(true);
    const stuck = await page.evaluate<string[]>(`[...document.forms]
    .filter((form) => ![...form.elements].some(({ type }) => type === "submit"))
    .map(({ action }) => action)`);
    expect(stuck).toEqual([]);
    await close();
  },
);
