// Every page of the panel in Chromium as it is used: with nothing to show, with errors beside its fields, at the widths
// between, by the keyboard, and without JavaScript.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DESKTOP, expectFits, expectSound, PHONE, reachedByTab, screenshot } from "./browser.ts";
import { type Looking, startLooking } from "./looking.ts";
import { runs, sampleOf } from "../../support/runs.ts";
import { PAGES, WRONG } from "./pages.ts";

let looking: Looking;

beforeAll(async () => {
  looking = await startLooking();
});
afterAll(() => looking.stop());

describe.each(runs([PHONE], [DESKTOP, PHONE]))("$name", (view) => {
  test.each(
    sampleOf(
      PAGES.filter(({ path }) => /^\/\w*$/.test(path)),
      2,
    ),
  )("$name is sound without data", (looked) =>
    looking.at(
      looked,
      view,
      async (page, complaints) => {
        await screenshot(page, `${looked.name}-empty-${view.name}`);
        await expectSound(page, complaints);
      },
      { isEmpty: true },
    ),
  );

  test.each(sampleOf(WRONG, 2))(
    "the form of $action is sound with its errors",
    ({ path, action: named, typed = {} }) => {
      const action = looking.pathOf(named);
      return looking.at(
        { path, ...(path === "/sign-in" && { isPublic: true }) },
        view,
        async (page, complaints) => {
          const form = page.locator(`form[method="post"][action="${action}"]`);
          // Only what is around the form: some parts close when another one opens.
          await page.evaluate(
            `for (let at = document.querySelector('form[method="post"][action="${action}"]'); at; at = at.parentElement)
              if ("open" in at) at.open = true`,
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
      );
    },
  );
});

test("times in lists say how long ago, with the exact time on hover and after a click", () =>
  looking.at({ path: "/orders" }, DESKTOP, async (page) => {
    const [time, heading] = [page.locator(".list time").first(), page.locator("thead")];
    expect(await time.innerText()).toMatch(/^(now|\d+ (min|h|days) ago)$/);
    const at = (await time.getAttribute("datetime"))!;
    const utc = `${at.slice(0, 19).replace("T", " ")} UTC`;
    expect((await time.getAttribute("title"))!.split("\n")).toEqual([expect.any(String), utc]);
    expect(await heading.innerText()).not.toContain("UTC");
    await time.click();
    expect(await time.innerText()).toBe(utc);
    await time.click();
    expect(await time.innerText()).not.toContain("UTC");
  }));

test.each(["/transactions", "/invoices"])(
  "times in the books are dates in a named zone: %s",
  (path) =>
    looking.at({ path }, DESKTOP, async (page) => {
      const [time, heading] = [page.locator(".list time").first(), page.locator("thead")];
      expect(await time.innerText()).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?$/);
      expect(await heading.innerText()).toContain("(UTC)");
      await time.click();
      expect(await time.innerText()).toMatch(/^\d{4}-/);
    }),
);

/** Widths of laptops and tablets, between the two. */
const WIDTHS = [1280, 1100, 768];

test.each(sampleOf(PAGES, 4))(
  "the keyboard reaches everything of $name in its order, and nothing is cut off at the widths between",
  ({ name, ...looked }) =>
    looking.at(looked, DESKTOP, async (page) => {
      const { usable, reached } = await reachedByTab(page);
      expect(usable.length).toBeGreaterThan(1);
      expect(usable[0]).toContain("To the content");
      expect([...new Set(reached)].slice(0, usable.length)).toEqual(usable);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 720 });
        await screenshot(page, `${name}-${width}`);
        await expectFits(page);
      }
    }),
);

test.each(sampleOf(PAGES, 4))(
  "$name needs no JavaScript: each of its forms has a button that sends it",
  (looked) =>
    looking.at(
      looked,
      DESKTOP,
      async (page) => {
        expect(await page.locator("h1").isVisible()).toBe(true);
        const stuck = await page.evaluate<string[]>(`[...document.forms]
          .filter((form) => ![...form.elements].some(({ type }) => type === "submit"))
          .map(({ action }) => action)`);
        expect(stuck).toEqual([]);
      },
      { javaScriptEnabled: false },
    ),
);
