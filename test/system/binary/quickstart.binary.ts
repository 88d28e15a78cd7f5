// The first minute: the quickstart in an empty folder, and every curl command it prints, as pasted.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { binary, serving, stop } from "../../support/binary.ts";
import { type Body, freshFolder } from "../../support/service.ts";

/** What each command must answer, in the order they are printed. */
const ANSWERS: object[] = [
  { status: "success", services: expect.arrayContaining([expect.objectContaining({ id: "instagram-followers" })]) },
  { status: "success", order: { orderId: 48, quantity: 1000, charge: 2.32, status: "PROCESSING" } },
  { status: "success", order: { orderId: 48, startCount: 0, remains: 1000 } },
  { status: "success", balance: 97.68, currency: "USD" },
  { exists: true, user: { username: "demo", balance: 97.68, resellerId: null } },
  { status: "success", user: { previousBalance: 97.68, balance: 123.18 }, amount: 25.5 },
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

  const operator = /^The operator's side of it: +(.+)$/m.exec(first.stdout())![1]!;
  expect(Bun.spawnSync(["bash", "-c", operator], { cwd: folder }).stdout.toString()).toContain(
    "https://example.com/me",
  );

  await stop(first);
  const again = await serving(folder, "quickstart");
  expect(again.stdout()).not.toContain("rk_");
  const there = (command: string) => paste(command.replaceAll(first.url, again.url));
  expect(there(commands[2]!)).toMatchObject(ANSWERS[2]!);
  expect(there(commands[3]!)).toMatchObject({ balance: 123.18 });
  expect(there(commands[1]!)).toMatchObject({ order: { orderId: 49 } });

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
