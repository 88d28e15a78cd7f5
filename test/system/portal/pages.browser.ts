// Every page of the portal in Chromium, by axe-core: in five languages on a laptop and a phone, in .ci/run in one of them;
// and with texts of three times their length.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { type Language, LANGUAGES } from "../../../src/domain/members/languages.ts";
import { ROUTES } from "../../../src/portal/server/routes.ts";
import { CATALOGUES, createTexts } from "../../../src/portal/texts/texts.ts";
import { pairsOf, runs } from "../../support/runs.ts";
import { openPortal, type TestPortal } from "../../support/worlds/portal.ts";
import { DESKTOP, expectSound, launch, PHONE, screenshot, type View } from "../panel/browser.ts";
import { fillPortal, type Market } from "./market.ts";

const PAGES = ROUTES.filter(
  ({ method, path }) => method === "GET" && !path.endsWith(".csv") && path !== "/sign-in/code",
);

const SEEN: readonly { language: Language; view: View }[] = runs(
  [
    { language: "en", view: DESKTOP },
    { language: "ru", view: PHONE },
  ],
  LANGUAGES.flatMap((language) => [DESKTOP, PHONE].map((view) => ({ language, view }))),
);

/** Returns the pages that are looked at in a language and a window: each in one of both, at night in all. */
const pagesIn = (language: Language, view: View) =>
  pairsOf(PAGES, SEEN).flatMap(([page, seen]) =>
    seen.language === language && seen.view === view ? [page] : [],
  );

let browser: Browser;
let portal: TestPortal;
let long: TestPortal;
const markets = new Map<TestPortal, Market>();

beforeAll(async () => {
  browser = await launch();
  const settings = { registration: "open" } as const;
  portal = await openPortal({ settings, prefix: "/portal" });
  const en = Object.fromEntries(
    Object.entries(CATALOGUES.en).map(([key, text]) => {
      const tripled = (form: string) => `${form} ${form} ${form}`;
      return [key, typeof text === "string" ? tripled(text) : { other: tripled(text.other) }];
    }),
  );
  long = await openPortal({ settings, texts: createTexts({ en }) });
  for (const each of [portal, long]) markets.set(each, fillPortal(each));
});
afterAll(async () => {
  await browser.close();
  await portal.stop();
  await long.stop();
});

async function open(
  where: TestPortal,
  { width, height, colorScheme }: View,
  language: Language,
): Promise<{ context: BrowserContext; page: Page; complaints: string[] }> {
  const { owner } = markets.get(where)!;
  where.query("UPDATE members SET language = ? WHERE id = ?", language, owner);
  const viewport = { width, height };
  const context = await browser.newContext({ viewport, colorScheme, locale: language });
  context.setDefaultTimeout(0);
  const [name, value] = where.session(owner).split("=") as [string, string];
  await context.addCookies([{ name, value, url: where.url, httpOnly: true, sameSite: "Strict" }]);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  return { context, page, complaints };
}

const pathOf = (where: TestPortal, path: string) =>
  path.replace(/:(\w+)/g, (_, name: string) => markets.get(where)!.parameters[name]!);
const nameOf = (path: string) => path.slice(1).replaceAll(/[/:]+/g, "-") || "overview";

test.each([...SEEN])("every page is sound: $language, $view.name", async ({ language, view }) => {
  const { context, page, complaints } = await open(portal, view, language);
  for (const { path, role } of pagesIn(language, view)) {
    if (role === "anyone") await context.clearCookies({ name: "reseller-portal" });
    const response = await page.goto(`${portal.url}/portal${pathOf(portal, path)}`);
    expect([path, response!.status()]).toEqual([path, 200]);
    await screenshot(page, `portal-${nameOf(path)}-${language}-${view.name}`);
    await expectSound(page, complaints);
    if (role !== "anyone") continue;
    const [name, value] = portal.session(markets.get(portal)!.owner).split("=");
    await context.addCookies([{ name: name!, value: value!, url: portal.url }]);
  }
  await context.close();
});

test.each([DESKTOP, PHONE])("texts of three times their length fit: $name", async (view) => {
  const { context, page } = await open(long, view, "en");
  const wide: string[] = [];
  for (const [{ path }] of pairsOf(PAGES, [DESKTOP, PHONE]).filter(([, seen]) => seen === view)) {
    await page.goto(long.url + pathOf(long, path));
    await screenshot(page, `portal-${nameOf(path)}-long-${view.name}`);
    const [content, window] = await page.evaluate<[number, number]>(
      "[document.documentElement.scrollWidth, innerWidth]",
    );
    if (content > window) wide.push(`${path}: ${content}`);
  }
  expect(wide).toEqual([]);
  await context.close();
});
