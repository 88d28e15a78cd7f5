// Every page of the panel in Chromium, by axe-core, and with what is folded open: at night at two widths, light and dark.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { ROUTES } from "../../../src/panel/server/routes.ts";
import { expectFits, expectSound, screenshot, VIEWS } from "./browser.ts";
import { type Looking, startLooking } from "./looking.ts";
import { pairsOf } from "../../support/runs.ts";
import { PAGES } from "./pages.ts";

let looking: Looking;

beforeAll(async () => {
  looking = await startLooking();
});
afterAll(() => looking.stop());

test("every page of the route table is checked", () => {
  const forms = PAGES.map(({ path }) => looking.pathOf(path).split("?")[0]!);
  const missing = ROUTES.filter(({ method, path }) => {
    const form = new RegExp(`^${path.replace(/:\w+/g, "[^/]+")}$`);
    return (
      method === "GET" && !/(\.csv|\/file)$/.test(path) && !forms.some((each) => form.test(each))
    );
  });
  expect(missing.map(({ path }) => path)).toEqual([]);
});

test.each(
  pairsOf(PAGES, VIEWS).map(([page, view]) => ({ name: page.name, page, view, window: view.name })),
)("$name is sound: $window", ({ name, page: looked, view }) =>
  looking.at(looked, view, async (page, complaints) => {
    await screenshot(page, `${name}-${view.name}`);
    await expectFits(page);
    const [red] = (
      await page.evaluate<string>("getComputedStyle(document.body).backgroundColor")
    ).match(/\d+/g)!;
    expect(Number(red) < 128).toBe(view.colorScheme === "dark");
    await page.evaluate(
      'for (const each of document.querySelectorAll("details")) each.open = true',
    );
    await screenshot(page, `${name}-open-${view.name}`);
    await expectSound(page, complaints);
  }),
);
