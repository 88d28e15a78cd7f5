// Makes the pictures of docs/panel.md from a quickstart of the source: `bun test/system/panel/screenshots.ts`.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";

const FOLDER = new URL("../../../docs/panel", import.meta.url).pathname;
const SIZE = { width: 1100, height: 720 };
const MAIN = new URL("../../../src/main.ts", import.meta.url).pathname;

const data = mkdtempSync(join(tmpdir(), "reseller-screenshots-"));
const server = Bun.spawn(["bun", MAIN, "quickstart", "--data", data, "--port", "0"], {
  stdout: "pipe",
  stderr: "ignore",
});
try {
  const link = await printedLink(server.stdout);
  const browser = await chromium.launch({
    executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
    args: ["--headless", "--no-sandbox", "--disable-gpu"],
  });
  const page = await browser.newPage({ viewport: SIZE, colorScheme: "light" });
  await page.goto(link);
  await page.getByLabel("Choose a password").fill("correct horse battery");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("heading", { name: "Today" }).waitFor();
  const { origin } = new URL(link);
  const shoot = async (
    name: string,
    path: string,
    before: (page: Page) => Promise<void> = async () => {},
  ) => {
    await page.goto(origin + path);
    await before(page);
    await page.screenshot({ path: `${FOLDER}/${name}.png` });
  };
  await shoot("today", "/");
  await shoot("orders", "/orders");
  await shoot("order", "/orders/47");
  await shoot("confirmation", "/orders/47", (shown) =>
    shown.getByRole("button", { name: /^Cancel, refund/ }).click(),
  );
  await shoot("user", "/users/corner-shop");
  await browser.close();
} finally {
  server.kill();
  await server.exited;
  rmSync(data, { recursive: true });
}

async function printedLink(stream: ReadableStream<Uint8Array>): Promise<string> {
  let printed = "";
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    printed += decoder.decode(chunk, { stream: true });
    const [link] = /http:\S+\/setup#\S+/.exec(printed) ?? [];
    if (link && printed.includes("listening on")) return link;
  }
  throw new Error(`the quickstart printed no link: ${printed}`);
}
