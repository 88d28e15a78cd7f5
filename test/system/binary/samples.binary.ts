// The samples of docs/samples that place orders, unchanged, against the binary: each places exactly one order, although the response to
// its first try is lost, something else stands in its place, or the sample itself is killed.

import { readdirSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { binaryJson, type Serving, serving, stop } from "../../support/binary.ts";
import { freshFolder } from "../../support/folders.ts";
import { WEBHOOK_SAMPLES } from "../../support/peers/sample-receivers.ts";

const SAMPLES = new URL("../../../docs/samples", import.meta.url).pathname;
/** They report what was paid, to test/payments/callback.test.ts. */
const PAYMENT_SAMPLES = ["payment.mjs", "payment.php"];
const INTERPRETERS: Record<string, string[]> = {
  "order.sh": ["sh"],
  "order.mjs": ["node"],
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
  await binaryJson(folder, "admin", "user", "credit", "demo", "900", "--data", "data");
});

afterAll(() => stop(server));

test("every sample has an interpreter here", () => {
  const orders = readdirSync(SAMPLES).filter(
    (file) => !(file in WEBHOOK_SAMPLES) && !PAYMENT_SAMPLES.includes(file),
  );
  expect(orders.toSorted()).toEqual(Object.keys(INTERPRETERS).toSorted());
});

const countOrders = async (): Promise<number> =>
  (await binaryJson(folder, "admin", "order", "list", "--limit", "1000", "--data", "data")).length;

/** What tells an order from another that is sent: its Idempotency-Key, or the reference in the form of a panel. */
function intentOf(head: string, body: string): string | null {
  const form = new URLSearchParams(body);
  if (form.get("action") === "add") return form.get("reference");
  return /^idempotency-key: (\S+)/im.exec(head)?.[1] ?? null;
}

/** Whether an order is read, in either API. */
const isRead = (head: string, body: string): boolean =>
  /^GET \S*\/orders\//.test(head) || new URLSearchParams(body).get("action") === "status";

/** What a proxy sends in the place of the server's response, which it threw away; what follows is cut off. */
const FAULTS: Record<string, string> = {
  "a 503 of the service": response("503 x", '{"status":"error","code":"x"}', "Retry-After: 1"),
  "an empty 502": response("502 Bad Gateway", ""),
  "a page with status 502": response(
    "502 Bad Gateway",
    "<html>bad gateway</html>",
    "Retry-After: 1",
  ),
  "a page with status 200": response("200 OK", "<html>sign in</html>"),
  "another API's error": response("502 Bad Gateway", '{"error":"bad gateway","status":"error"}'),
  "JSON that is no object": response(
    "504 x",
    '"timeout"',
    "Retry-After: Fri, 31 Dec 1999 23:59:59 GMT",
  ),
  "a redirect": response("302 Found", "", "Location: /"),
  "no byte": "",
  "half a header": "HTTP/1.1 200 OK\r\nContent-Le",
  "half a body": 'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"status":"success","order":{',
};

function response(status: string, body: string, header = "X-Proxy: 1"): string {
  return `HTTP/1.1 ${status}\r\n${header}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
}

/**
 * Stands before the server. `fault` is sent in the place of the responses to the first `count` orders, which the server has;
 * null: nothing is sent, and the connection stays open. With `isDeafToReads` orders get through, and `fault` is the response to
 * each that is read.
 */
async function lossyProxy(fault: string | null, count = 1, isDeafToReads = false) {
  const intents: string[] = [];
  const held = Promise.withResolvers<void>();
  const { hostname, port } = new URL(server.url);
  const proxy = createServer((client) => {
    let request = "";
    client.on("error", () => {});
    client.on("data", (chunk) => {
      request += chunk.toString();
      const [head, body] = request.split("\r\n\r\n") as [string, string?];
      const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
      if (body === undefined || body.length < length) return;
      const intent = intentOf(head, body);
      if (intent !== null) intents.push(intent);
      const upstream = connect(Number(port), hostname);
      // One request a connection: its response ends where the connection does.
      upstream.end(
        request.replace(/^connection: .*\r\n/im, "").replace("\r\n", "\r\nConnection: close\r\n"),
      );
      request = "";
      const chunks: Buffer[] = [];
      upstream.on("data", (part: Buffer) => chunks.push(part));
      upstream.on("end", () => {
        const isLost =
          intent === null
            ? isDeafToReads && isRead(head, body)
            : !isDeafToReads && intents.length <= count;
        if (isLost && fault === null) return held.resolve();
        client.end(isLost ? fault! : Buffer.concat(chunks));
      });
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    intents,
    held: held.promise,
    stop: () => void proxy.close(),
  };
}

function start(file: string, cwd: string, url: string, givenKey = key) {
  return Bun.spawn([...INTERPRETERS[file]!, join(SAMPLES, file)], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", RESELLER_URL: url, RESELLER_KEY: givenKey },
    stdout: "pipe",
    stderr: "pipe",
  });
}

async function ended(sample: ReturnType<typeof start>) {
  const [stdout, stderr, code] = await Promise.all([
    sample.stdout.text(),
    sample.stderr.text(),
    sample.exited,
  ]);
  return { stdout, stderr, code };
}

const SETTLED = /PROCESSING|In progress/;
const PENDING = /^pending-/;
const EXCEPTION = /Traceback|Fatal error|Warning|\n {4}at /;
const pendingIn = (cwd: string) => readdirSync(cwd).filter((name) => PENDING.test(name));

test.each(Object.keys(INTERPRETERS))(
  "%s places one order, whatever replaces its first response",
  async (file) => {
    const before = await countOrders();
    const faults = Object.entries(FAULTS);
    await Promise.all(
      faults.map(async ([name, fault]) => {
        const proxy = await lossyProxy(fault);
        const cwd = freshFolder();
        const { stdout, stderr, code } = await ended(start(file, cwd, proxy.url));
        proxy.stop();
        expect({ name, code, stderr: code === 0 ? "" : stderr }).toEqual({
          name,
          code: 0,
          stderr: "",
        });
        expect(stdout).toMatch(SETTLED);
        expect([name, proxy.intents.length, new Set(proxy.intents).size]).toEqual([name, 2, 1]);
        expect(pendingIn(cwd)).toEqual([]);
      }),
    );
    expect(await countOrders()).toBe(before + faults.length);
  },
);

/** Runs it four times: it gives up, is refused, is killed, and places the order. */
async function settleLater(file: string): Promise<void> {
  const cwd = freshFolder();
  const deaf = await lossyProxy(response("502 Bad Gateway", "", "Retry-After: 0"), 100);
  const gaveUp = await ended(start(file, cwd, deaf.url));
  deaf.stop();
  expect([gaveUp.code, gaveUp.stderr]).toEqual([
    1,
    expect.stringContaining("No answer yet (HTTP 502)"),
  ]);
  expect(gaveUp.stderr + gaveUp.stdout).not.toMatch(EXCEPTION);
  expect(pendingIn(cwd)).toHaveLength(1);

  if (file !== "panel.php") {
    // It lists services first, which the key may not.
    const refused = await ended(start(file, cwd, server.url, "rk_wrong"));
    expect([refused.code, refused.stdout + refused.stderr]).toEqual([
      1,
      expect.stringContaining("Invalid API key"),
    ]);
  }
  expect(pendingIn(cwd)).toHaveLength(1);

  const silent = await lossyProxy(null, 100);
  const killed = start(file, cwd, silent.url);
  await silent.held;
  killed.kill("SIGKILL");
  await killed.exited;
  silent.stop();
  expect(pendingIn(cwd)).toHaveLength(1);

  const { code, stdout } = await ended(start(file, cwd, server.url));
  expect([code, stdout]).toEqual([0, expect.stringMatching(SETTLED)]);
  expect(pendingIn(cwd)).toEqual([]);
  expect(new Set([...deaf.intents, ...silent.intents]).size).toBe(1);
}

test("a sample that gave up, was refused or was killed places its one order when it is run again", async () => {
  const before = await countOrders();
  const files = Object.keys(INTERPRETERS);
  await Promise.all(files.map(settleLater));
  expect(await countOrders()).toBe(before + files.length);
});

test("a sample that placed its order and cannot read it says so, and does not ask to be run again", async () => {
  const before = await countOrders();
  const files = Object.keys(INTERPRETERS);
  await Promise.all(
    files.map(async (file) => {
      const proxy = await lossyProxy(response("502 Bad Gateway", "", "Retry-After: 0"), 0, true);
      const { code, stdout, stderr } = await ended(start(file, freshFolder(), proxy.url));
      proxy.stop();
      expect(stdout + stderr).not.toMatch(EXCEPTION);
      if (file === "order.sh") return expect(code).toBe(0); // It reads nothing.
      expect([file, code, stdout]).toEqual([file, 1, expect.stringMatching(/order \d+ is placed/)]);
      expect(stderr).toContain("The order is placed");
      expect(stderr).not.toContain("Run this again");
    }),
  );
  expect(await countOrders()).toBe(before + files.length);
});

for (const file of Object.keys(INTERPRETERS)) {
  test(`${file} says what to set where the address or the key is missing`, async () => {
    for (const [missing, given] of [
      ["RESELLER_URL", { RESELLER_KEY: key }],
      ["RESELLER_KEY", { RESELLER_URL: server.url }],
    ] as const) {
      const sample = Bun.spawn([...INTERPRETERS[file]!, join(SAMPLES, file)], {
        cwd: freshFolder(),
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
    const { stdout, stderr, code } = await ended(
      start(file, freshFolder(), server.url, "rk_wrong"),
    );
    expect([code, stdout + stderr]).toEqual([1, expect.stringContaining("Invalid API key")]);
  });
}
