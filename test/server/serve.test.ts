// The server as a process: how it ends, and how it dies.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { audit } from "../support/databases/audit.ts";
import { optionsOf } from "../support/worlds/shop.ts";
import { spawnServe } from "../support/process.ts";
import { callApi } from "../support/http/api.ts";
import { freshDatabase } from "../support/databases/test-database.ts";

function shop() {
  const database = freshDatabase();
  database.user("anna", "1000");
  const order = { service: database.service(), link: "x", quantity: 100 };
  const { text } = database.key("anna", "full");
  return { database, order, key: text };
}

test("SIGTERM completes requests in flight, checkpoints, releases the data directory and exits 0", async () => {
  const { database, order, key } = shop();
  const serve = await spawnServe(database.folder, ...optionsOf(database));
  const first = await callApi(serve.url, "POST", "/orders", key, order);
  const calls = Array.from({ length: 50 }, () =>
    callApi(serve.url, "POST", "/orders", key, order).then(
      ({ status }) => status,
      () => "not taken",
    ),
  );
  const { exitCode, stderr } = await serve.stop();
  const statuses = await Promise.all(calls);
  expect([first.status, exitCode]).toEqual([200, 0]);
  const answered = statuses.filter((status) => status === 200).length;
  expect(statuses.filter((status) => status !== 200 && status !== "not taken")).toEqual([]);
  expect(database.query("SELECT id FROM orders").length).toBe(answered + 1);
  expect(audit(database)).toEqual({});
  expect(existsSync(join(database.folder, "serve.address"))).toBe(false);
  expect(stderr).toContain('"stopped"');
  const again = await spawnServe(database.folder, ...optionsOf(database));
  expect((await callApi(again.url, "GET", "/orders/1", key)).status).toBe(200);
  expect((await again.stop()).exitCode).toBe(0);
});

test.each([
  ["exception", 'setTimeout(() => { throw new Error("unforeseen"); })'],
  ["rejection", 'void Promise.reject(new Error("unforeseen"))'],
])("an %s that is not caught is one JSON line, and exit 1", async (_, fault) => {
  const { database } = shop();
  const program = new URL("../../src/cli/kernel/program.ts", import.meta.url).pathname;
  const argv = ["serve", ...optionsOf(database), "--port", "0"];
  const script = `
    import { run } from ${JSON.stringify(program)};
    await run(${JSON.stringify(argv)});
    ${fault};
  `;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "ignore", stderr: "pipe" });
  const text = await child.stderr.text();
  expect(await child.exited).toBe(1);
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.at(-1)).toMatchObject({
    level: "error",
    error: expect.stringContaining("unforeseen"),
  });
});
