// The first minute: the quickstart in an empty folder, and every curl command it prints, as pasted.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { binary, serving, stop } from "../../support/binary.ts";
import type { Body } from "../../support/http/api.ts";
import { freshFolder } from "../../support/folders.ts";

/** What each command must answer, in the order they are printed. */
const ANSWERS: object[] = [
  { status: "success", services: expect.arrayContaining([expect.objectContaining({ id: "instagram-followers" })]) },
  { status: "success", order: { orderId: 48, quantity: 1000, charge: 2.32, status: "PROCESSING" } },
  { status: "success", order: { orderId: 48, startCount: 0, remains: 1000 } },
  { status: "success", balance: 97.68, currency: "USD" },
]; // prettier-ignore

test("every printed command works when pasted, and the same data is there after a restart", async () => {
  const folder = freshFolder();
  const first = await serving(folder, "quickstart");
  const commands = first.stdout().match(/^ *curl .+$/gm)!;
  expect(commands).toHaveLength(ANSWERS.length);
  for (const [index, command] of commands.entries()) {
    expect(paste(command)).toMatchObject(ANSWERS[index]!);
  }
  const [key] = /rk_[0-9A-Za-z]{28}/.exec(first.stdout())!;

  const operator = first.stdout().match(/^ .* admin .+$/gm)!;
  const run = (line: string) =>
    Bun.spawnSync(["bash", "-c", line], { cwd: folder }).stdout.toString();
  expect(operator.map(run)).toEqual([
    expect.stringContaining("123.18"),
    expect.stringContaining("https://example.com/me"),
  ]);
  // The key that it hands out adds no money.
  const recharge = commands[1]!.replace(
    /\/orders -d .*/,
    `/recharge -d '{"username":"demo","amount":1}'`,
  );
  expect(paste(recharge)).toMatchObject({ code: "permission_denied" });

  await stop(first);
  const again = await serving(folder, "quickstart");
  expect(again.stdout()).not.toContain("rk_");
  const there = (command: string) => paste(command.replaceAll(first.url, again.url));
  expect(there(commands[2]!)).toMatchObject(ANSWERS[2]!);
  expect(there(commands[3]!)).toMatchObject({ balance: 123.18 });
  // Repeated, it is the same order; with another key a new one.
  expect(there(commands[1]!)).toMatchObject(ANSWERS[1]!);
  const next = commands[1]!.replace("idempotency-key: order-1", "idempotency-key: order-2");
  expect(there(next)).toMatchObject({ order: { orderId: 49 } });

  const data = join(folder, "data");
  const files = readdirSync(data);
  expect(files).toEqual(expect.arrayContaining(["reseller.db", "reseller.db-wal"]));
  for (const file of files) {
    expect([file, statSync(join(data, file)).mode & 0o777]).toEqual([file, 0o600]);
    expect(readFileSync(join(data, file)).includes(key)).toBe(false);
  }
  expect(statSync(data).mode & 0o777).toBe(0o700);

  await stop(again);
  expect(first.stderr() + again.stderr()).not.toContain(key.slice(0, 12));
  expect((await binary(folder, "verify")).code).toBe(0);
});

test("a port in use costs no key: the next start still makes one", async () => {
  const folder = freshFolder();
  const taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { code, stderr } = await binary(folder, "quickstart", "--port", String(taken.port));
  taken.stop();
  expect(code).toBe(1);
  expect(stderr).toContain(`cannot listen on 127.0.0.1:${taken.port} (EADDRINUSE)`);
  const server = await serving(folder, "quickstart");
  expect(server.stdout()).toContain("rk_");
  await stop(server);
});

function paste(command: string): Body {
  const { stdout, stderr } = Bun.spawnSync(["bash", "-c", command]);
  if (stdout.length === 0) throw new Error(`${command}: ${stderr.toString()}`);
  return JSON.parse(stdout.toString());
}

test("Ctrl-C of `bun run quickstart` stops it in order, although the script runner passes the signal on once more", async () => {
  const folder = freshFolder();
  const command = `exec bun run quickstart --data ${folder}/data --port 0 --panel-listen 0`;
  // A terminal: its Ctrl-C reaches the runner and the server.
  const terminal = Bun.spawn(["script", "-qec", command, "/dev/null"], {
    cwd: join(import.meta.dir, "../../.."),
    env: { ...process.env, SHELL: "/bin/sh" },
    stdin: "pipe",
    stdout: "pipe",
  });
  let shown = "";
  let isInterrupted = false;
  for await (const chunk of terminal.stdout) {
    shown += new TextDecoder().decode(chunk);
    if (isInterrupted || !shown.includes("listening on")) continue;
    isInterrupted = true;
    void terminal.stdin.write("\x03");
    await terminal.stdin.flush();
  }
  expect([await terminal.exited, shown]).toEqual([0, expect.stringContaining("stopped")]);
  expect(shown).not.toContain("exited with code");
});

test("a signal that comes twice at once stops the server in order", async () => {
  const server = await serving(freshFolder(), "quickstart");
  for (const signal of ["SIGINT", "SIGINT", "SIGTERM"] as const) server.kill(signal);
  const { code, stderr } = await server.ended;
  expect([code, stderr]).toEqual([0, expect.stringContaining('"stopped"')]);
});
