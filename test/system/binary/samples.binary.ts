// The samples of docs/samples that place orders, unchanged, against the binary: each places exactly one order, although the response to
// its first try is lost.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { binaryJson, type Serving, serving, stop } from "../../support/binary.ts";
import { freshFolder } from "../../support/service.ts";
import { WEBHOOK_SAMPLES } from "../../support/webhook-samples.ts";

const SAMPLES = new URL("../../../docs/samples", import.meta.url).pathname;
const INTERPRETERS: Record<string, string[]> = {
  "order.sh": ["sh"],
  "order.js": ["node"],
  "order.py": ["python3"],
  "order.php": ["php"],
  "panel.php": ["php"],
};

const folder = freshFolder();
let server: Serving;
let key: string;

beforeAll(async () => {
  server = await serving(folder, "quickstart");
  [key] = /rk_[0-9A-Za-z]{28}/.exec(server.stdout())!;
});

afterAll(() => stop(server));

test("each has an interpreter here", () => {
  const orders = readdirSync(SAMPLES).filter((file) => !(file in WEBHOOK_SAMPLES));
  expect(orders.toSorted()).toEqual(Object.keys(INTERPRETERS).toSorted());
});

const countOrders = async (): Promise<number> =>
  (await binaryJson(folder, "admin", "order", "list", "--limit", "1000", "--data", "data")).length;

/** What tells an order from another that is sent: its Idempotency-Key, or the reference in the form of a panel. */
function intentOf(request: Request, body: string): string | null {
  const form = new URLSearchParams(body);
  return form.get("action") === "add"
    ? form.get("reference")
    : request.headers.get("idempotency-key");
}

/**
 * Stands before the server. The first order is passed on and its answer thrown away: the sample cannot know that its
 * order is there. Everything else gets through.
 */
function lossyProxy() {
  const intents: string[] = [];
  const proxy = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const body = request.method === "POST" ? await request.text() : null;
      const intent = body === null ? null : intentOf(request, body);
      const passed = ["x-api-key", "content-type", "idempotency-key"].flatMap((name) => {
        const value = request.headers.get(name);
        return value === null ? [] : [[name, value] as [string, string]];
      });
      const response = await fetch(server.url + pathname, {
        method: request.method,
        headers: Object.fromEntries(passed),
        body,
      });
      const text = await response.text();
      if (intent !== null) intents.push(intent);
      const lost = intent !== null && intents.length === 1;
      if (lost) return new Response("{}", { status: 503, headers: { "retry-after": "1" } });
      return new Response(text, {
        status: response.status,
        headers: { "content-type": "application/json" },
      });
    },
  });
  return { url: `http://127.0.0.1:${proxy.port}`, intents, stop: () => proxy.stop(true) };
}

for (const [file, interpreter] of Object.entries(INTERPRETERS)) {
  test(`${file} places one order, whose first response was lost`, async () => {
    const before = await countOrders();
    const proxy = lossyProxy();
    const sample = Bun.spawn([...interpreter, join(SAMPLES, file)], {
      env: { PATH: process.env["PATH"] ?? "", RESELLER_URL: proxy.url, RESELLER_KEY: key },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr, code] = await Promise.all([
      new Response(sample.stdout).text(),
      new Response(sample.stderr).text(),
      sample.exited,
    ]);
    await proxy.stop();
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(file === "panel.php" ? /In progress/ : /PROCESSING/);
    expect(proxy.intents).toHaveLength(2);
    expect(proxy.intents[0]).toBe(proxy.intents[1]!);
    expect(await countOrders()).toBe(before + 1);
  });

  test(`${file} says what to set where the address or the key is missing`, async () => {
    for (const [missing, given] of [
      ["RESELLER_URL", { RESELLER_KEY: key }],
      ["RESELLER_KEY", { RESELLER_URL: server.url }],
    ] as const) {
      const sample = Bun.spawn([...interpreter, join(SAMPLES, file)], {
        env: { PATH: process.env["PATH"] ?? "", ...given },
        stdout: "pipe",
        stderr: "pipe",
      });
      expect(await sample.stderr.text()).toContain(missing);
      expect(await sample.stdout.text()).toBe("");
      expect(await sample.exited).not.toBe(0);
    }
  });

  test(`${file} prints a refusal`, async () => {
    const sample = Bun.spawn([...interpreter, join(SAMPLES, file)], {
      env: { PATH: process.env["PATH"] ?? "", RESELLER_URL: server.url, RESELLER_KEY: "rk_wrong" },
      stdout: "pipe",
      stderr: "pipe",
    });
    const said =
      (await new Response(sample.stdout).text()) + (await new Response(sample.stderr).text());
    expect(said).toContain("Invalid API key");
  });
}
