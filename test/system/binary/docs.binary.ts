// The documentation of the binary in Chromium, as a reader sees it: wide, narrow, dark; offline; with a key; without script.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { pagesOf } from "../../../src/api-docs/page/pages.tsx";
import { type Serving, stall, stop } from "../../support/binary.ts";
import { freshFolder } from "../../support/folders.ts";
import { document } from "../../support/http/openapi.ts";
import { pairsOf } from "../../support/runs.ts";
import {
  axeFindings,
  DESKTOP,
  expectFits,
  launch,
  PHONE,
  screenshot,
  type View,
  VIEWS,
} from "../panel/browser.ts";

const PATHS = [...pagesOf(document).keys()];
/** One page of each kind. */
const KINDS = [
  "/docs",
  "/docs/errors",
  "/docs/webhooks",
  "/docs/panels",
  "/docs/samples",
  "/docs/payments",
  "/docs/reference",
  "/docs/reference/place-order",
  "/docs/reference/delete-webhook",
];

let browser: Browser;
let server: Serving;
let key: string;

beforeAll(async () => {
  ({ server, key } = await stall(freshFolder()));
  browser = await launch();
});

afterAll(async () => {
  await browser.close();
  await stop(server);
});

interface Opened {
  page: Page;
  /** Paths that the page asked for. */
  requests: string[];
  complaints: string[];
}

async function open(
  { width, height, colorScheme }: View,
  path = "/docs",
  javaScriptEnabled = true,
): Promise<Opened> {
  const viewport = { width, height };
  const context = await browser.newContext({ viewport, colorScheme, javaScriptEnabled });
  context.setDefaultTimeout(0);
  const page = await context.newPage();
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => requests.push(request.url().replace(server.url, "")));
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(server.url + path);
  return { page, requests, complaints };
}

const read = <T>(page: Page, expression: string): Promise<T> => page.evaluate<T>(expression);

/** Returns the pages that are looked at in a window: each in one of them, at night in all. */
const seenIn = (view: View, paths: readonly string[]): string[] =>
  pairsOf(paths, VIEWS).flatMap(([path, window]) => (window === view ? [path] : []));

describe.each([...VIEWS])("the documentation, $name", (view) => {
  test("renders without an error and without scrolling sideways, and loads only its style and script", async () => {
    const { page, requests, complaints } = await open(view);
    for (const path of seenIn(view, PATHS)) {
      await page.goto(server.url + path);
      await screenshot(page, `docs${path.slice("/docs".length).replaceAll("/", "-")}-${view.name}`);
      await expectFits(page);
    }
    const [red] = (
      await read<string>(page, "getComputedStyle(document.body).backgroundColor")
    ).match(/\d+/g)!;
    expect(Number(red) < 128).toBe(view.colorScheme === "dark");
    const others = requests.filter((path) => !PATHS.includes(path));
    expect(others.filter((path) => !/^\/docs\/assets\/\w{16}\/docs\.(css|js)$/.test(path))).toEqual(
      [],
    );
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("axe-core finds nothing on a page of each kind", async () => {
    const { page } = await open(view);
    for (const path of seenIn(view, KINDS)) {
      await page.goto(server.url + path);
      await read(
        page,
        "document.querySelectorAll('details').forEach((each) => (each.open = true))",
      );
      expect([path, await axeFindings(page)]).toEqual([path, []]);
    }
    await page.context().close();
  });
});

test("the first page uses the reader's key, does not store it, and calls this server only", async () => {
  const { page, requests, complaints } = await open(DESKTOP);
  await page.fill("#key", key);
  await page.click("#own button[type=submit]");
  await page.locator("#checked", { hasText: "Your key works. Balance: 1000000 USD." }).waitFor();
  expect(await page.locator("pre").first().textContent()).toBe(`export RESELLER_KEY='${key}'`);
  expect(requests.filter((path) => !path.startsWith("/docs/assets/"))).toEqual([
    "/docs",
    "/api/v1/balance",
  ]);
  expect(requests.join()).not.toContain(key);
  expect(complaints).toEqual([]);
  expect(await read<number>(page, "localStorage.length + sessionStorage.length")).toBe(0);
  expect(await page.context().cookies()).toEqual([]);
  await page.reload();
  expect(await page.inputValue("#key")).toBe("");
  expect(await page.content()).not.toContain(key);
  await page.context().close();
});

test("the page for owners of panels shows this server's URL and the reader's key", async () => {
  const { page } = await open(DESKTOP, "/docs/panels");
  await page.fill("#key", key);
  const shown = await page.locator("#connect ~ figure code").allTextContents();
  expect(shown).toEqual([`${server.url}/api/v2`, key]);
  const besides = "#fields ~ .scroll td:nth-child(4)";
  expect((await page.locator(besides).first().boundingBox())!.width).toBeGreaterThan(200);
  await page.context().close();
});

test("the key is masked, in its field and in the calls, until it is revealed", async () => {
  const { page } = await open(DESKTOP);
  const masked = () =>
    read(
      page,
      "[document.querySelector('#key').type, getComputedStyle(document.querySelector('.key')).webkitTextSecurity]",
    );
  await page.fill("#key", key);
  expect(await masked()).toEqual(["password", "disc"]);
  await page.click("#reveal");
  expect(await masked()).toEqual(["text", "none"]);
  await page.click("#reveal");
  expect(await masked()).toEqual(["password", "disc"]);
  await page.context().close();
});

test("the first page says why a key does not work", async () => {
  const { page } = await open(DESKTOP);
  await page.fill("#key", "rk_nonsense");
  await page.click("#own button[type=submit]");
  await page.locator("#checked", { hasText: "401 api_key_invalid: Invalid API key" }).waitFor();
  await page.context().close();
});

describe("the search", () => {
  const results = (page: Page) => page.locator("#found a");

  test.each([
    ["place an order", "Place an order", "/docs/reference/place-order"],
    ["/orders/batch", "Place up to 100 orders", "/docs/reference/place-orders"],
    ["startcount", "startCount", "/docs/reference/list-orders#listOrders.answer.orders.startCount"],
    ["insufficient balance", "insufficient_balance", "/docs/errors#insufficient_balance"],
    ["hmac", "Receiving webhooks", "/docs/webhooks#receiving-webhooks"],
    ["rk_test_", "Test keys", "/docs/testing#test-keys"],
  ])("finds %j first as %j", async (words, name, path) => {
    const { page, complaints } = await open(DESKTOP);
    await page.keyboard.press("/");
    await page.keyboard.type(words);
    await results(page).first().waitFor();
    expect(await results(page).first().textContent()).toStartWith(name);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(server.url + path);
    expect(await page.locator("#found").isVisible()).toBe(false);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("says that it found nothing, and closes with Escape", async () => {
    const { page } = await open(PHONE, "/docs/limits");
    await page.fill("#search", "frobnicate");
    await page.locator("#found p", { hasText: "0 results" }).waitFor();
    await expectFits(page);
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press("Escape");
    expect(await page.locator("#found").isVisible()).toBe(false);
    await page.context().close();
  });

  test("leads to the index without a script", async () => {
    const { page } = await open(DESKTOP, "/docs/limits", false);
    await page.fill("#search", "orderId");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${server.url}/docs/reference?`);
    expect(await page.locator(".entries a", { hasText: /^orderId$/ }).count()).toBe(1);
    await page.context().close();
  });
});

describe("a language", () => {
  const shown = (page: Page, name: string) =>
    page.locator(`.tabs:has([name="${name}"]) > div:visible`).textContent();

  test("is chosen once, for every example of every page, and for the next visit", async () => {
    const { page } = await open(DESKTOP);
    await page.click('label[for="try-balance-python"]');
    expect(await shown(page, "try-status")).toContain("import urllib.request");
    await page.goto(`${server.url}/docs/reference/place-order`);
    expect(await shown(page, "placeOrder")).toContain("uuid.uuid4()");
    await page.goto(`${server.url}/docs/webhooks`);
    expect(await shown(page, "webhook-sample")).toContain("hmac.compare_digest");
    await page.context().close();
  });

  test("without one of its own an example keeps the one that it shows", async () => {
    const { page } = await open(DESKTOP);
    await page.click('label[for="try-balance-curl"]');
    await page.goto(`${server.url}/docs/webhooks`);
    expect(await shown(page, "webhook-sample")).toContain("node:crypto");
    await page.context().close();
  });

  test("is switched without a script, and by keyboard", async () => {
    const { page } = await open(DESKTOP, "/docs/reference/place-order", false);
    await page.focus("#placeOrder-curl");
    await page.keyboard.press("ArrowRight");
    expect(await shown(page, "placeOrder")).toContain("crypto.randomUUID()");
    await page.click('label[for="placeOrder-php"]');
    expect(await shown(page, "placeOrder")).toContain("stream_context_create");
    await page.context().close();
  });
});

test.each([
  ["#placeOrder", "/docs/reference/place-order"],
  ["#errors", "/docs/errors#errors"],
  ["#receiving-webhooks", "/docs/webhooks#receiving-webhooks"],
  ["#orders", "/docs/reference#orders"],
  ["#recharge", "/docs/payments#recharge"],
  ["#keys", "/docs#keys"],
])("the old anchor %s leads to %s", async (anchor, path) => {
  const { page } = await open(DESKTOP, `/docs${anchor}`);
  await page.waitForURL(server.url + path);
  await page.context().close();
});

test.each([true, false])(
  "a phone's menu opens, and closes after it was used (script: %p)",
  async (script) => {
    const { page } = await open(PHONE, "/docs/errors", script);
    expect(await page.locator("nav").isVisible()).toBe(false);
    await page.click("label.menu");
    await page.click('nav a[href="#errors"]');
    expect(await page.locator("nav").isVisible()).toBe(!script);
    await page.context().close();
  },
);

test("the page alone is enough to write a receiver: every event, and the members of its body", async () => {
  const { page } = await open(DESKTOP, "/docs/webhooks");
  const cells = await page.locator("#events ~ .scroll code").allTextContents();
  for (const type of Object.keys(document.webhooks)) expect(cells).toContain(type);
  const fields = await page
    .locator("#events ~ details", { hasText: "order events" })
    .locator("td code")
    .allTextContents();
  for (const name of ["type", "timestamp", "data.order.orderId", "data.previousStatus"]) {
    expect(fields).toContain(name);
  }
  await page.goto(`${server.url}/docs/reference/create-webhook`);
  const events = page.locator("td", { hasText: "order.completed" });
  expect(await events.first().textContent()).toContain("Any of *, ");
  await page.context().close();
});

test("the pages are served with a policy that allows only their own style and script", async () => {
  for (const path of PATHS) {
    const response = await fetch(server.url + path);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const policy = response.headers.get("content-security-policy")!;
    expect(policy).toStartWith("default-src 'none'; style-src 'self'; script-src 'self';");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
  }
});
