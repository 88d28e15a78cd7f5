// The documentation page of the binary in Chromium, as a reader sees it: wide, narrow, dark; offline; with a key.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { type Serving, stall, stop } from "../../support/binary.ts";
import { freshFolder } from "../../support/folders.ts";
import { until } from "../../support/until.ts";
import {
  axeFindings,
  DESKTOP,
  launch,
  PHONE,
  screenshot,
  type View,
  VIEWS,
} from "../panel/browser.ts";

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

/** The page, and everything it asked for and complained of. */
async function open({ width, height, colorScheme }: View, path = "/docs") {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme });
  context.setDefaultTimeout(0);
  const page = await context.newPage();
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(server.url + path);
  return { page, requests, complaints };
}

const read = <T>(page: Page, expression: string): Promise<T> => page.evaluate<T>(expression);

describe.each([...VIEWS])("the documentation page, $name", (view) => {
  test("renders without an error, without a request and without scrolling sideways", async () => {
    const { page, requests, complaints } = await open(view);
    expect(await page.title()).toBe("Reseller Ordering API");
    for (const id of ["quick-start", "idempotency", "states", "placeOrder", "errors", "samples"]) {
      expect(await page.locator(`#${id}`).count()).toBe(1);
      await read(page, `document.getElementById("${id}").scrollIntoView()`);
    }
    await screenshot(page, `docs-${view.name}`);
    const [content, window] = await read<number[]>(
      page,
      "[document.documentElement.scrollWidth, innerWidth]",
    );
    expect(content).toBe(window!);
    const [red] = (
      await read<string>(page, "getComputedStyle(document.body).backgroundColor")
    ).match(/\d+/g)!;
    expect(Number(red) < 128).toBe(view.colorScheme === "dark");
    expect(requests).toEqual([`${server.url}/docs`]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test("the one for owners of panels does so too, and shows this server's URL and the reader's key", async () => {
    const { page, requests, complaints } = await open(view, "/docs/panels");
    await page.fill("#key", key);
    for (const id of ["connect", "fields", "actions", "statuses", "panel-errors", "panel-sample"]) {
      await read(page, `document.getElementById("${id}").scrollIntoView()`);
    }
    await screenshot(page, `docs-panels-${view.name}`);
    const shown = await page.locator("#connect ~ figure code").allTextContents();
    expect(shown).toEqual([`${server.url}/api/v2`, key]);
    const [content, window] = await read<number[]>(
      page,
      "[document.documentElement.scrollWidth, innerWidth]",
    );
    expect(content).toBe(window!);
    const besides = "#fields ~ .scroll td:nth-child(4)";
    expect((await page.locator(besides).first().boundingBox())!.width).toBeGreaterThan(200);
    expect(requests).toEqual([`${server.url}/docs/panels`]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});

test("the page uses the reader's key, does not store it, and calls this server only", async () => {
  const { page, requests, complaints } = await open(DESKTOP);
  await page.fill("#key", key);
  await page.click("#own button[type=submit]");
  await page.locator("#checked", { hasText: "Your key works. Balance: 1000000 USD." }).waitFor();
  expect(await page.locator("pre").first().textContent()).toBe(
    `curl -H 'x-api-key: ${key}' ${server.url}/api/v1/services`,
  );
  expect(requests).toEqual([`${server.url}/docs`, `${server.url}/api/v1/balance`]);
  expect(requests.join()).not.toContain(key);
  expect(complaints).toEqual([]);
  expect(await read<number>(page, "localStorage.length + sessionStorage.length")).toBe(0);
  expect(await page.context().cookies()).toEqual([]);
  await page.reload();
  expect(await page.inputValue("#key")).toBe("");
  expect(await page.content()).not.toContain(key);
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

test.each(["/docs", "/docs/panels"])(
  "axe-core finds nothing on %s, light and dark",
  async (path) => {
    for (const view of VIEWS) {
      const { page } = await open(view, path);
      expect(await axeFindings(page)).toEqual([]);
      await page.context().close();
    }
  },
);

test("every link of the contents leads somewhere, and a phone's menu closes after it was used", async () => {
  const { page } = await open(PHONE);
  const lost =
    "[...document.querySelectorAll('nav a[href^=\"#\"]')].filter(a => !document.querySelector(a.hash)).length";
  expect(await read<number>(page, lost)).toBe(0);
  await page.click("nav summary");
  await page.click('nav a[href="#errors"]');
  expect(await read<boolean>(page, "document.querySelector('nav details').open")).toBe(false);
  await page.context().close();
});

test("the page alone is enough to write a receiver: every event, and the members of its body", async () => {
  const { page } = await open(DESKTOP);
  const { webhooks } = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
    webhooks: Record<string, unknown>;
  };
  const cells = await page.locator("#receiving-webhooks ~ .scroll code").allTextContents();
  for (const type of Object.keys(webhooks)) expect(cells).toContain(type);
  const fields = await page
    .locator("#receiving-webhooks ~ details", { hasText: "order events" })
    .locator("td code")
    .allTextContents();
  for (const name of ["type", "timestamp", "data.order.orderId", "data.previousStatus"]) {
    expect(fields).toContain(name);
  }
  const events = page.locator("article:has(#createWebhook) td", { hasText: "order.completed" });
  expect(await events.first().textContent()).toContain("Any of *, ");
  await page.context().close();
});

test("the samples can be switched, and the page says why a key does not work", async () => {
  const { page } = await open(DESKTOP);
  const shown = (tab: string) => page.locator(`.tabs:has(#${tab}) > div:visible`).textContent();
  await page.click('label[for="sample-2"]');
  expect(await shown("sample-2")).toContain("import urllib.request");
  await page.click('label[for="webhook-sample-1"]');
  expect(await shown("webhook-sample-1")).toContain("hmac.compare_digest");
  expect(await shown("sample-2")).toContain("import urllib.request");
  await page.fill("#key", "rk_nonsense");
  await page.click("#own button[type=submit]");
  await page.locator("#checked", { hasText: "401 api_key_invalid: Invalid API key" }).waitFor();
  await page.context().close();
});

test("every call of the page, copied into a shell, reaches its endpoint", async () => {
  const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  const { page } = await open(DESKTOP);
  await page.fill("#key", key);
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { operationId: id }] of Object.entries(methods)) {
      if (path === "/api/v2") continue;
      const call = page.locator(`article:has(#${id}) .pair figure code`).first();
      const command = `${await call.textContent()} -sS -H 'x-request-id: ${id}'`;
      const { stdout, stderr } = Bun.spawnSync(["bash", "-c", command]);
      expect([id, stderr.toString()]).toEqual([id, ""]);
      // The examples' ids are nobody's here, their name has no address, and a live key has no test orders.
      const { code = "done", field } = JSON.parse(stdout.toString()) as Record<string, string>;
      const isReached =
        /^(done|\w*not_found)$/.test(code) || (id === "createWebhook" && field === "url");
      expect([id, code, isReached]).toEqual([id, code, true]);
      const line = `"method":"${method.toUpperCase()}","route":"${path.replace(/\{(\w+)\}/g, ":$1")}","requestId":"${id}"`;
      await until(() => server.stderr().includes(line));
    }
  }
  await page.context().close();
});

test("the documentation is served with a policy that allows only its own script and style", async () => {
  const response = await fetch(`${server.url}/docs`);
  expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
  const policy = response.headers.get("content-security-policy")!;
  expect(policy).toStartWith("default-src 'none'; style-src 'sha256-");
  expect(policy).not.toMatch(/unsafe|\*|https?:/);
  expect(await response.text()).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
});
