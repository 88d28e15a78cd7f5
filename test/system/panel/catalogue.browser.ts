// The catalogue and its providers as an operator changes them in a browser: by mouse and keyboard, with JavaScript and
// without.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { openPanel, type TestPanel } from "../../support/worlds/panel.ts";
import { PROVIDER_KEY, startUpstream, type Upstream } from "../../support/peers/upstream.ts";
import { expectSound, launch, screenshot, visit } from "./browser.ts";

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

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
const cellsOf = (page: Page, label: string) =>
  page.locator(`td[data-label="${label}"]`).allTextContents();
/** Complaints except those that the browser itself makes about a refused form. */
const unexpected = (complaints: readonly string[]) =>
  complaints.filter((each) => !each.includes("422"));
/** What the page says was done; the search in its header has a status of its own. */
const status = (page: Page) => page.getByRole("main").getByRole("status").textContent();

describe.each([
  ["with JavaScript", true],
  ["without JavaScript", false],
])("%s", (title, javaScriptEnabled) => {
  let panel: TestPanel;
  beforeAll(async () => {
    panel = await openPanel({ role: "operator" });
    panel.user("alice", "10");
  });
  afterAll(() => panel.stop());

  test("a service is added, granted and repriced after a preview; a wrong field is named", async () => {
    const { page, complaints, close } = await visit(browser, panel, {
      javaScriptEnabled,
      as: "tester",
    });
    await page.goto(`${panel.url}/services`);
    await page.getByRole("link", { name: "New service" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Followers");
    await page.getByLabel("Price in USD").fill("2.5");
    await page.getByLabel("Smallest order").fill("100");
    await page.getByLabel("Largest order").fill("10");
    await page.getByLabel("Id", { exact: true }).fill("followers");
    await press(page, "Add the service");
    const alert = page.getByRole("alert");
    expect(await alert.textContent()).toContain("Smallest order must not be above Largest order");
    await page.getByLabel("Largest order").fill("1000");
    await press(page, "Add the service");
    expect(page.url()).toBe(`${panel.url}/services/followers`);
    await page.getByText("Add a grant or change a reseller's price").click();
    await page.getByLabel("Reseller", { exact: true }).fill("alice");
    await page.getByLabel("Reseller's price in USD").fill("2");
    await press(page, "Grant");
    expect(await status(page)).toBe("alice has the grant.");
    await page.goto(`${panel.url}/services`);
    await page.getByLabel("Select service followers").check();
    await page.getByLabel("Change their prices by percent").fill("10");
    await press(page, "Change prices by percent");
    expect(await cellsOf(page, "Present price USD")).toEqual(["2.50"]);
    expect(await cellsOf(page, "New price USD")).toEqual(["2.75"]);
    if (javaScriptEnabled) await expectSound(page, unexpected(complaints));
    await screenshot(page, `prices-preview-${title.replace(" ", "-")}`);
    await press(page, "Change 1 price by 10 %");
    expect(await status(page)).toBe("1 price changed.");
    expect(await cellsOf(page, "Price USD")).toEqual(["2.75 per 1000"]);
    await close();
  });

  test("a list with wrong rows is shown again with each of them, and imported once it is right", async () => {
    const { page, complaints, close } = await visit(browser, panel, {
      javaScriptEnabled,
      as: "tester",
    });
    await page.goto(`${panel.url}/import-services`);
    const list = page.getByLabel("List as CSV");
    await list.fill("name,price,min,max\nA,1,1,10\nB,one,1,10\nC,1,20,10\n");
    await press(page, "Import the services");
    expect(await cellsOf(page, "Row")).toEqual(["line 3", "line 4"]);
    if (javaScriptEnabled) {
      await expectSound(page, unexpected(complaints));
      await screenshot(page, "services-import-wrong");
    }
    await list.fill((await list.inputValue()).replace("one", "1").replace("1,20,10", "1,2,10"));
    await press(page, "Import the services");
    expect(await status(page)).toBe("Imported: 3 services.");
    await close();
  });

  test("a provider is made, tested and synced after a preview; a sync is refused if the list changed since then", async () => {
    const { page, complaints, close } = await visit(browser, panel, {
      javaScriptEnabled,
      as: "tester",
    });
    const entry = (service: number, rate: string) => ({
      service, name: `Likes ${service}`, rate, type: "Default", min: "10", max: "1000", category: "All",
    }); // prettier-ignore
    upstream.services = [entry(1, "1"), entry(2, "2")];
    await page.goto(`${panel.url}/providers`);
    await page.locator("summary", { hasText: "New provider" }).click();
    await page.getByLabel("Name", { exact: true }).fill("acme");
    await page.getByLabel("Address of its API").fill(upstream.url);
    await page.getByLabel("Our key at the provider").fill(PROVIDER_KEY);
    await press(page, "Add and test");
    expect(await status(page)).toContain("It answers: our balance there is");
    await page.getByRole("link", { name: "Prices and syncs" }).click();
    await page.getByLabel("Markup in percent").fill("50");
    await press(page, "Preview the sync");
    expect(await cellsOf(page, "Price USD")).toEqual(["1.50", "3.00"]);
    if (javaScriptEnabled) await expectSound(page, unexpected(complaints));
    await screenshot(page, `sync-preview-${title.replace(" ", "-")}`);
    upstream.services = [entry(1, "1"), entry(2, "4")];
    await press(page, "Sync acme: change 2 services");
    expect(await page.getByRole("alert").textContent()).toContain(
      "The catalogue changed at the same time",
    );
    await page.getByLabel("Markup in percent").fill("50");
    await press(page, "Preview the sync");
    expect(await cellsOf(page, "Price USD")).toEqual(["1.50", "6.00"]);
    await press(page, "Sync acme: change 2 services");
    expect(await status(page)).toBe("Synced: 2 added.");
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByRole("link", { name: "Its services" }).click();
    expect(await cellsOf(page, "Service")).toEqual(["Likes 1", "Likes 2"]);
    await close();
  });
});
