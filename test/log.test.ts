// The log's own lines beside the library's.

import { expect, test } from "bun:test";
import { join } from "node:path";

/** What a process of its own writes to its log: standard error is the log's alone. */
async function written(script: string): Promise<string> {
  const module = join(import.meta.dir, "../src/log.ts");
  const child = Bun.spawn(
    [process.execPath, "-e", `import { createLog } from ${JSON.stringify(module)};\n${script}`],
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
])("the line of a request is the one that pino writes: %p", async (...named) => {
  const [method, route, requestId, keyId] = named;
  const answered = { requestId, keyId, status: 200, milliseconds: 0.123 };
  const text = await written(`
    const log = createLog("info");
    const answered = ${JSON.stringify(answered)};
    log.requests(...${JSON.stringify([method, route])})(answered);
    log.info({ ...${JSON.stringify({ method, route })}, ...answered }, "request");
    log.flush();
  `);
  const [ours, pinos, ...rest] = text.split("\n");
  expect(withoutTime(ours!)).toBe(withoutTime(pinos!));
  expect(JSON.parse(ours!)).toMatchObject({ method, route, ...answered, msg: "request" });
  expect(rest).toEqual([""]);
});

test("a log above info has no line of a request", async () => {
  const text = await written(`
    const log = createLog("warn");
    log.requests("GET", "/")({ requestId: "x", keyId: null, status: 200, milliseconds: 1 });
    log.flush();
  `);
  expect(text).toBe("");
});
