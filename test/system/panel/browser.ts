// Chromium for the tests of the panel: a page as someone sees it, and what a person with a keyboard, a phone or another's
// eyes would stumble over. With SCREENSHOTS=yes what it saw is in dist/screenshots/panel.

import { existsSync, mkdirSync } from "node:fs";
import axe from "axe-core";
import { expect } from "bun:test";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import type { TestPanel } from "../../support/worlds/panel.ts";
import { runs } from "../../support/runs.ts";

/** The program without its windows takes half the processor time. */
const CHROMIUM =
  process.env["CHROMIUM"] ??
  ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find((path) => existsSync(path));
const FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
]; // prettier-ignore
const SCREENSHOTS = new URL("../../../dist/screenshots/panel", import.meta.url).pathname;

export interface View {
  name: string;
  width: number;
  height: number;
  colorScheme: "light" | "dark";
}

export const DESKTOP: View = {
  name: "desktop-light",
  width: 1440,
  height: 900,
  colorScheme: "light",
};
export const PHONE: View = { name: "phone-dark", width: 390, height: 844, colorScheme: "dark" };
export const VIEWS: readonly View[] = runs(
  [DESKTOP, PHONE],
  [
    DESKTOP,
    { ...DESKTOP, name: "desktop-dark", colorScheme: "dark" },
    { ...PHONE, name: "phone-light", colorScheme: "light" },
    PHONE,
  ],
);

export function launch(): Promise<Browser> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  if (CHROMIUM === undefined)
    throw new Error("Chromium is missing: apt-get install chromium-headless-shell");
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS, timeout: 0 });
}

export interface Visit {
  context: BrowserContext;
  page: Page;
  /** What the browser complained of: errors of scripts, refused by the policy, requests that failed. */
  complaints: string[];
  close: () => Promise<void>;
}

export interface VisitOptions {
  view?: View;
  javaScriptEnabled?: boolean;
  /** Signed in as this administrator. */
  as?: string;
  /** Its password was right, and the code is asked for. */
  awaitsCode?: boolean;
}

export async function visit(
  browser: Browser,
  panel: TestPanel,
  { view = DESKTOP, javaScriptEnabled = true, as, awaitsCode }: VisitOptions = {},
): Promise<Visit> {
  const { width, height, colorScheme } = view;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    javaScriptEnabled,
    // It is put into the page by its own policy otherwise.
    bypassCSP: false,
  });
  context.setDefaultTimeout(0);
  if (as !== undefined) await signIn(context, panel, as, awaitsCode);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith(panel.url) && !request.url().startsWith("data:")) {
      complaints.push(`asked ${request.url()}`);
    }
  });
  return { context, page, complaints, close: () => context.close() };
}

/** Gives the browser a new session of this administrator. */
export async function signIn(
  context: BrowserContext,
  panel: TestPanel,
  as: string,
  awaitsCode?: boolean,
): Promise<void> {
  const [name, value] = panel.session(as, awaitsCode).split("=") as [string, string];
  await context.addCookies([{ name, value, url: panel.url, httpOnly: true, sameSite: "Strict" }]);
}

export async function screenshot(page: Page, name: string): Promise<void> {
  if (!process.env["SCREENSHOTS"]) return;
  await page.screenshot({ path: `${SCREENSHOTS}/${name}.png`, fullPage: true });
}

interface Finding {
  id: string;
  nodes: { html: string; failureSummary?: string }[];
}

/** What axe-core finds; run in the page by the debugger, so that the page's policy stays as it is. */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{ violations: Finding[] }>(
    "axe.run(document, { resultTypes: ['violations'] })",
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ""}`),
  );
}

/** Everything that a page must be, in one look at it. */
export async function expectSound(page: Page, complaints: readonly string[]): Promise<void> {
  await expectFits(page);
  expect(complaints).toEqual([]);
  expect(await axeFindings(page)).toEqual([]);
}

/** Nothing of the page is beyond the window's right edge. */
export async function expectFits(page: Page): Promise<void> {
  const [content, window] = await page.evaluate<[number, number]>(
    "[document.documentElement.scrollWidth, innerWidth]",
  );
  expect(content).toBeLessThanOrEqual(window);
}

/** What can be used on the page, in the document's order, and what the Tab key reaches of it, in its order. */
export async function reachedByTab(page: Page): Promise<{ usable: string[]; reached: string[] }> {
  await page.evaluate(COLLECT);
  const presses = await page.evaluate<number>("globalThis.stops");
  for (let press = 0; press < presses; press++) await page.keyboard.press("Tab");
  return page.evaluate("({ usable: globalThis.usable.map(nameOf), reached: globalThis.reached })");
}

/** A field for a date is four stops: day, month, year and the calendar. */
const COLLECT = `
  globalThis.usable = [...document.querySelectorAll("a[href], button, input, select, textarea, summary")].filter(
    (each) => each.type !== "hidden" && !each.disabled && each.checkVisibility({ visibilityProperty: true }),
  );
  globalThis.nameOf = (each) => [usable.indexOf(each), each.tagName, each.name || each.innerText].join(" ");
  globalThis.stops = usable.reduce((sum, { type }) => sum + (type === "date" ? 4 : 1), 0);
  globalThis.reached = [];
  document.activeElement.blur();
  document.addEventListener("focusin", ({ target }) => reached.push(nameOf(target)));
`;
