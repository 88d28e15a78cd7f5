// The log: requests' lines, formatted by hand, equal the others; lines for a terminal.

import { expect, test } from "bun:test";
import { join } from "node:path";

/** What a process of its own writes to its log: standard error is the log's alone. */
async function written(script: string): Promise<string> {
  const module = join(import.meta.dir, "../../src/monitoring/log.ts");
  const child = Bun.spawn(
    [
      process.execPath,
      "-e",
      `import { createLog, logConsole } from ${JSON.stringify(module)};\n${script}`,
    ],
    { stdout: "ignore", stderr: "pipe" },
  );
  const text = await child.stderr.text();
  expect(await child.exited).toBe(0);
  return text;
}

const withoutTime = (line: string) => line.replace(/"time":"[^"]+"/, '"time":""');

test.each([
  ["GET", "/api/v1/orders/:id", "8f14e45f-ceea-467f-a0e6-1f3b0e0a2c11", "tz4a98xxat96iws9zmbrgj3a"],
  ["POST", "/api/v1/orders", "trace_1.a-rk_live_***", "tz4a98xxat96iws9zmbrgj3a"],
  ['B"D', null, "x", null],
  ["POST", "/api/v2 add", "x", "tz4a98xxat96iws9zmbrgj3a", "insufficient_balance", "alice@b.c"],
  ["GET", "/api/v1/balance", "x", null, "api_key_invalid", undefined, "2001:db8::7"],
])("a request's line is the same as from a general call of the log: %p", async (...named) => {
  const [method, route, requestId, keyId, code, username, address] = named;
  const who = username === undefined ? {} : { username };
  const why = code === undefined ? {} : { code };
  const where = address === undefined ? {} : { address };
  const answered = { requestId, keyId, ...who, status: 200, ...why, ...where, milliseconds: 0.123 };
  const text = await written(`
    const log = createLog("info");
    const answered = ${JSON.stringify(answered)};
    log.requests(...${JSON.stringify([method, route])})(answered);
    log.info({ ...${JSON.stringify({ method, route })}, ...answered }, "request");
    await log.close();
  `);
  const [ours, others, ...rest] = text.split("\n");
  expect(withoutTime(ours!)).toBe(withoutTime(others!));
  expect(JSON.parse(ours!)).toMatchObject({ method, route, ...answered, msg: "request" });
  expect(rest).toEqual([""]);
});

test("lines of any length arrive whole, in order and once, while earlier ones are being written", async () => {
  // All lines together are below the limit of the buffer, so none may be lost, however slowly they are read.
  const text = await written(`
    const log = createLog("info");
    let number = 0;
    for (const burst of [400, ...Array(12).fill(50)]) {
      for (let left = burst; left > 0; left -= 1) {
        const length = (number * 7919) % (number % 97 === 0 ? 100_000 : 3_000);
        log.info({ number: number++, padding: "é€x".repeat(length / 3) }, "line");
      }
      await new Promise(setImmediate);
    }
    await log.close();
  `);
  const lines = text.trimEnd().split("\n");
  for (const [index, line] of lines.entries()) {
    const length = (index * 7919) % (index % 97 === 0 ? 100_000 : 3_000);
    const { number, padding } = JSON.parse(line);
    expect([number, padding === "é€x".repeat(length / 3)]).toEqual([index, true]);
  }
  expect(lines).toHaveLength(1000);
  expect(Buffer.byteLength(text)).toBeLessThan(4 * 1024 * 1024);
});

test("above level info no line is written for a request", async () => {
  const text = await written(`
    const log = createLog("warn");
    log.requests("GET", "/")({ requestId: "x", keyId: null, status: 200, milliseconds: 1 });
    await log.close();
  `);
  expect(text).toBe("");
});

test("what a library or the runtime prints becomes a log line, without a key", async () => {
  const text = await written(`
    const log = createLog("info");
    logConsole(log);
    console.error("broken: %s", "rk_${"x".repeat(28)}", new Error("why"));
    console.log({ a: 1 });
    process.emitWarning("old");
    const { EventEmitter } = await import("node:events");
    const emitter = new EventEmitter();
    for (let count = 0; count < 20; count++) emitter.on("x", () => {});
    await log.close();
  `);
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines).toMatchObject([
    {
      level: "warn",
      msg: "console.error",
      text: expect.stringMatching(/^broken: rk_\*\*\* .*why/s),
    },
    { level: "warn", msg: "console.log", text: "{ a: 1 }" },
    { level: "warn", text: "old" },
    { level: "warn", text: expect.stringContaining("MaxListeners") },
  ]);
  expect(text).not.toContain("x".repeat(28));
});

test("invisible characters are printed by code point on a terminal, and unchanged in JSON", async () => {
  const note = (format: string) =>
    written(`
      const log = createLog("info", ${JSON.stringify(format)});
      log.info({ name: "a\u202eb" }, "made");
      await log.close();
    `);
  expect(await note("pretty")).toContain("a<U+202E>b");
  expect(JSON.parse(await note("json")).name).toBe("a\u202eb");
});

test("a line for a terminal has the time, the level, the message and the fields; that of a request has the request", async () => {
  const text = await written(`
    const log = createLog("info", "pretty", false);
    log.info({ port: 80, big: 9n }, "listening");
    log.warn({}, "plain");
    const answered = { requestId: "x", keyId: null, status: 400, milliseconds: 2.34 };
    log.requests("POST", "/api/v1/orders")({ ...answered, code: "bad", username: "alice" });
    await log.close();
  `);
  expect(text.replaceAll(/\d\d:\d\d:\d\d\.\d{3}/g, "TIME").split("\n")).toEqual([
    '[TIME] INFO: listening {"port":80,"big":"9"}',
    "[TIME] WARN: plain",
    "[TIME] INFO: POST /orders 400 bad alice 2.3 ms",
    "",
  ]);
});

test("lines below the level are not written, and a coloured one has the colour of its level", async () => {
  const text = await written(`
    const log = createLog("warn", "pretty", true);
    log.info({}, "no");
    log.error({}, "failed");
    await log.close();
  `);
  expect(text).toEndWith("\u001b[31mERROR\u001b[39m: \u001b[36mfailed\u001b[39m\n");
  expect(text).not.toContain("INFO");
});
