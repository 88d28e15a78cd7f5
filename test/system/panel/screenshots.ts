// Makes the pictures of docs/panel.md from a quickstart of the source: `bun test/system/panel/screenshots.ts`.

import type { Page } from "playwright-core";
import { launch } from "./browser.ts";
import { startQuickstart } from "./quickstart.ts";

const FOLDER = new URL("../../../docs/panel", import.meta.url).pathname;
const SIZE = { width: 1100, height: 720 };

const quickstart = await startQuickstart();
try {
  const browser = await launch();
  const page = await browser.newPage({ viewport: SIZE, colorScheme: "light" });
  await quickstart.signUp(page);
  const shoot = async (
    name: string,
    path: string,
    before: (page: Page) => Promise<void> = async () => {},
  ) => {
    await page.goto(quickstart.panelUrl + path);
    await before(page);
    await page.screenshot({ path: `${FOLDER}/${name}.png` });
  };
  await shoot("today", "/");
  await shoot("orders", "/orders");
  await shoot("order", "/orders/47");
  await shoot("confirmation", "/orders/47", async (shown) => {
    await shown.getByText("Cancel…").click();
    await shown.getByRole("button", { name: /^Cancel, refund/ }).click();
  });
  await shoot("user", "/users/corner-shop");
  await browser.close();
} finally {
  await quickstart.stop();
}
