// The test drive of docs/moving-in.md from the panel alone: upload, dry run, mapping, import, report.

import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { verifyStore } from "../../support/databases/verify.ts";
import { freshFolder } from "../../support/folders.ts";
import { OLD_PANEL_MAP, writeOldPanelDump } from "../../support/seeds/old-panel.ts";
import { openPanel, PASSWORD, type TestPanel } from "../../support/worlds/panel.ts";
import { expectSound, launch, screenshot, VIEWS, visit } from "./browser.ts";

let browser: Browser;
let panel: TestPanel;

beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
const status = (page: Page) => page.getByRole("main").getByRole("status").textContent();
const SIZE = { users: 20, services: 5, orders: 500, openEvery: 10 };

/** A dump with a user that owes money. */
function dumpWithDebt(): string {
  const path = writeOldPanelDump(freshFolder(), SIZE);
  const text = readFileSync(path, "utf8").replace(/(\(1,[^)]*?)'?\d+\.\d{4}'?/, "$1-3.5000");
  writeFileSync(path, text);
  return path;
}

/** Waits until what runs has ended: the page refreshes itself with JavaScript, and by its link without. */
async function ended(page: Page): Promise<void> {
  for (;;) {
    const link = page.getByRole("link", { name: "Refresh", exact: true });
    if ((await link.count()) === 0) return;
    await link.click().catch(() => {});
  }
}

describe.each([
  ["with JavaScript", true],
  ["without JavaScript", false],
])("%s", (title, javaScriptEnabled) => {
  beforeAll(async () => {
    panel = await openPanel();
    const url = "http://127.0.0.1:9/";
    panel.run("createProvider", { name: "upstream", protocol: "smm-api", url, key: "k" });
  });
  afterAll(() => panel.stop());

  test.each(VIEWS)("an owner moves in, $name", async (view) => {
    const { page, complaints, close } = await visit(browser, panel, {
      javaScriptEnabled,
      as: "tester",
      view,
    });
    const look = async (name: string) => {
      if (javaScriptEnabled) await expectSound(page, complaints);
      await screenshot(page, `moving-in-${name}-${title.replace(" ", "-")}-${view.name}`);
    };
    await page.goto(`${panel.url}/imported`);
    await page.getByRole("link", { name: "Import from another panel" }).click();
    await look("empty");
    await page.getByLabel("Dump with all tables").setInputFiles(dumpWithDebt());
    await press(page, "Upload");
    expect(await status(page)).toBe("1 file uploaded.");
    await page.getByLabel("Whose tables these are").selectOption("smartpanel");
    await page.getByRole("textbox", { name: "Mapping" }).fill(OLD_PANEL_MAP);
    await press(page, "Dry run");
    await ended(page);
    await look("refused");
    const main = page.getByRole("main");
    expect(await main.textContent()).toContain("the user owes 3.5 USD");
    const map = `${OLD_PANEL_MAP}[rules]\nnegativeBalance = "zero"\n`;
    await page.getByRole("textbox", { name: "Mapping" }).fill(map);
    await press(page, "Dry run");
    await ended(page);
    await look("planned");
    if (panel.query("SELECT * FROM imported_users").length > 0) {
      expect(await main.textContent()).toContain("There is nothing new to import.");
    } else {
      panel.clock.now += 20 * 60_000;
      await press(page, "Import");
      await look("confirm");
      await page.getByLabel("Your password, or a code of your second factor").fill(PASSWORD);
      await page.getByRole("button", { name: /^Import 20 users/ }).click();
      await ended(page);
      await look("imported");
      expect(await main.textContent()).toContain("What was imported");
      expect(await verifyStore(panel)).toEqual([]);
    }
    await close();
  });
});
