// Members in Chromium, by visible words only, on panel and portal of one database: invited, seen, viewed as, kept out; with
// JavaScript and without.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { findMemberByEmail } from "../../../src/db/members/members.ts";
import { openPanel, type TestPanel } from "../../support/worlds/panel.ts";
import { openPortal, type TestPortal } from "../../support/worlds/portal.ts";
import { fillPortal } from "../portal/market.ts";
import { expectSound, launch, screenshot, VIEWS } from "./browser.ts";
import { personAt } from "./person.ts";
import { VISITOR } from "../../support/seeds/visitors.ts";

let browser: Browser;
let portal: TestPortal;
let panel: TestPanel;

beforeAll(async () => {
  browser = await launch();
  portal = await openPortal({ prefix: "/portal" });
  panel = await openPanel({
    beside: portal,
    portal: { url: () => `${portal.url}/portal`, registration: "approve" },
  });
  fillPortal(portal);
  // Links are shown, not sent.
  panel.run("setMailSettings", { active: false, operator: null });
});
afterAll(async () => {
  await browser.close();
  await panel.stop();
  await portal.stop();
});

async function operator(
  options: Parameters<Browser["newContext"]>[0] = {},
): Promise<{ context: BrowserContext; page: Page }> {
  const context = await browser.newContext({ locale: "en", ...options });
  context.setDefaultTimeout(0);
  const [name, value] = panel.session("tester").split("=") as [string, string];
  await context.addCookies([{ name, value, url: panel.url, httpOnly: true, sameSite: "Strict" }]);
  const page = await context.newPage();
  await page.goto(panel.url);
  return { context, page };
}

/** Opens a link in a page of its own, and gives the code in it where the script does not. */
async function openLink(context: BrowserContext, link: string, hasScript: boolean): Promise<Page> {
  const page = await context.newPage();
  await page.goto(link);
  if (!hasScript) await page.getByLabel("Code from the link").fill(link.split("#")[1]!);
  return page;
}

describe.each([true, false])("with JavaScript: %p", (hasScript) => {
  test("a member is invited, signs in, and is kept out", async () => {
    const { context, page } = await operator({ javaScriptEnabled: hasScript });
    const { click, type, choose, text } = personAt(page);
    const email = `new-${hasScript}@alice.example`;
    await click("Resellers");
    await click("alice");
    await click("Manage members and the portal");
    await type("E-mail", email);
    await choose("Role", "buyer: orders");
    await click("Invite");
    const link = await page.locator("#link").innerText();
    const other = await browser.newContext({ javaScriptEnabled: hasScript, locale: "en" });
    other.setDefaultTimeout(0);
    const own = await openLink(other, link, hasScript);
    await own.getByLabel("Password").fill("correct horse battery");
    await own.getByRole("button", { name: "Continue" }).click();
    await own.getByText(`Welcome, ${email}.`).waitFor();
    await click("Done");
    expect(await text()).toContain(email);
    await click(`Disable ${email}`);
    await click(`Disable ${email}`);
    expect(await text()).toContain(`${email} is disabled, and signed out.`);
    await own.reload();
    await own.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(panel.read((reader) => findMemberByEmail(reader, email))!.active).toBe(false);
    await other.close();
    await context.close();
  });

  test("a visitor who waits is found from Today and approved", async () => {
    const email = `eve-${hasScript}@new.example`;
    panel.run("register", { email, name: "Eve", language: "es", limit: 1000, from: VISITOR });
    const { context, page } = await operator({ javaScriptEnabled: hasScript });
    const { click, text } = personAt(page);
    expect(await text()).toContain("1 visitor of the portal asked for an account");
    await click("Approve or decline");
    await click("Approve");
    await click(`Create the reseller ${email}`);
    expect(await page.locator("#link").innerText()).toMatch(/\/portal\/set-up#[\w-]{43}$/);
    await context.close();
  });

  test("the portal is viewed as an owner, where no form can be sent, and left again", async () => {
    const { context, page } = await operator({ javaScriptEnabled: hasScript });
    const { click } = personAt(page);
    await click("Resellers");
    await click("alice");
    await click("Manage members and the portal");
    await click("View the portal");
    const link = (await page.getByRole("link", { name: "Open the portal" }).getAttribute("href"))!;
    const seen = await openLink(context, link, hasScript);
    if (hasScript) expect(seen.url()).not.toContain("#");
    await seen.getByRole("button", { name: "Continue" }).click();
    const banner = seen.getByText("You see the pages of alice (Owner: everything)");
    await banner.waitFor();
    for (const name of ["Orders", "Members", "Settings"]) {
      await seen.getByRole("navigation").getByRole("link", { name, exact: true }).click();
      await seen.getByRole("heading", { name, exact: true }).first().waitFor();
      await banner.waitFor();
    }
    const fields = seen.locator("main form").locator("input:not([type=hidden]), select, button");
    const open = await fields.and(seen.locator(":enabled")).allInnerTexts();
    expect(open).toEqual(["End the view"]);
    expect(await seen.getByLabel("Name", { exact: true }).isDisabled()).toBe(true);
    if (hasScript) await expectSound(seen, []);
    await seen.getByRole("button", { name: "End the view" }).click();
    await seen.getByRole("heading", { name: "The view has ended" }).waitFor();
    await seen.getByRole("link", { name: "Back to the panel" }).click();
    await seen.getByRole("heading", { name: "Members of alice" }).waitFor();
    await context.close();
  });
});

test.each([...VIEWS])("the pages that are viewed are sound: $name", async (view) => {
  const { width, height, colorScheme } = view;
  const { context, page } = await operator({ viewport: { width, height }, colorScheme });
  await page.goto(`${panel.url}/users/alice/members`);
  await page.getByRole("button", { name: "View the portal" }).click();
  await screenshot(page, `view-as-link-${view.name}`);
  await expectSound(page, []);
  const link = await page.getByRole("link", { name: "Open the portal" }).getAttribute("href");
  await page.goto(link!);
  await screenshot(page, `view-as-open-${view.name}`);
  await page.getByRole("button", { name: "Continue" }).click();
  for (const path of ["/", "/orders", "/new-order", "/members", "/settings", "/api/keys"]) {
    await page.goto(`${portal.url}/portal${path}`);
    await screenshot(page, `view-as${path.replaceAll("/", "-")}-${view.name}`);
    await expectSound(page, []);
  }
  await page.getByRole("button", { name: "End the view" }).click();
  await screenshot(page, `view-as-ended-${view.name}`);
  await context.close();
});
