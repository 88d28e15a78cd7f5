// The audit log over the compiled binary: every change is recorded with author, action, before and after, and no secret.

import { Database } from "bun:sqlite";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { binary, binaryJson, binaryWith, stall, stop } from "../../support/binary.ts";
import { type Body, callApi } from "../../support/http/api.ts";
import { freshFolder } from "../../support/folders.ts";

const LOGIN_ID = "/proc/self/loginuid";
const NO_LOGIN = String(2 ** 32 - 1);

test("every change by an operator or a key is a row, with author, action, before and after", async () => {
  const began = Date.now();
  const folder = freshFolder();
  const { server, key } = await stall(folder);
  const cli = (command: string) => binaryJson(folder, ...command.split(" "));
  const audit = (flags = ""): Promise<Body[]> => cli(`admin audit list ${flags}`.trim());
  const [{ id: keyId }] = await cli("admin key list");
  await cli("admin user create bob --parent alice");
  await cli("admin user debit alice 10");
  await cli("admin service update s --price 2.5");
  await cli("admin service deactivate s");
  await cli("admin service activate s");
  await cli("admin service grant s --user alice --price 0.5");
  await cli("admin service grant s --user alice --price 0.5");
  await cli("admin service revoke s --user alice");
  await callApi(server.url, "POST", "/orders", key, { service: "s", link: "x", quantity: 10 });
  await callApi(server.url, "POST", "/recharge", key, { username: "bob", amount: 5.5 });
  await cli("admin order progress 1 --start-count 7");
  await cli("admin order partial 1 --remains 4");
  const { id: freshId } = await cli(`admin key rotate ${keyId}`);
  await cli(`admin key deactivate ${freshId}`);

  const rows = (await audit("--limit 100")).toReversed();
  const user = Bun.spawnSync(["id", "-un"]).stdout.toString().trim();
  const login = loginUser() ?? user;
  const operator = login === user ? user : `${user} (${login})`;
  const short = rows.map(({ by, action, subject, user }) => [by, action, subject, user]);
  expect(short).toEqual([
    [operator, "user.create", "alice", "alice"],
    [operator, "user.credit", "alice", "alice"],
    [operator, "service.create", "s", null],
    [operator, "key.create", keyId, "alice"],
    [operator, "user.create", "bob", "bob"],
    [operator, "user.debit", "alice", "alice"],
    [operator, "service.update", "s", null],
    [operator, "service.deactivate", "s", null],
    [operator, "service.activate", "s", null],
    [operator, "grant.put", "s", "alice"],
    // The second, equal grant changed nothing.
    [operator, "grant.revoke", "s", "alice"],
    [`key ${keyId}`, "user.recharge", "bob", "bob"],
    [operator, "order.progress", "1", "alice"],
    [operator, "order.move", "1", "alice"],
    [operator, "key.create", freshId, "alice"],
    [operator, "key.rotate", keyId, "alice"],
    [operator, "key.deactivate", freshId, "alice"],
  ]);
  const changeOf = (action: string) => {
    const { before, after } = rows.findLast((row) => row.action === action)!;
    return { before, after };
  };
  expect(changeOf("service.update")).toEqual({ before: { price: 1 }, after: { price: 2.5 } });
  expect(changeOf("user.recharge")).toEqual({ before: { balance: 0 }, after: { balance: 5.5 } });
  expect(changeOf("user.debit")).toEqual({
    before: { balance: 1_000_000 },
    after: { balance: 999_990, note: null },
  });
  expect(changeOf("grant.revoke")).toEqual({ before: { price: 0.5 }, after: null });
  expect(changeOf("order.move")).toMatchObject({
    before: { status: "PROCESSING" },
    after: { status: "PARTIAL", remains: 4 },
  });
  expect(changeOf("key.rotate").after).toMatchObject({ replacedBy: freshId });
  for (const { at } of rows) expect(Date.parse(at)).toBeWithin(began, Date.now() + 1);

  expect((await audit("--user bob")).map(({ action }) => action)).toEqual([
    "user.recharge",
    "user.create",
  ]);
  expect((await audit("--since 1h --limit 100")).length).toBe(rows.length);
  expect(await audit("--since 2099-01-01")).toEqual([]);
  expect((await audit("--limit 2")).map(({ action }) => action)).toEqual([
    "key.deactivate",
    "key.rotate",
  ]);
  await stop(server);
});

test("a refused or rolled-back change leaves no row, and no row is ever changed or a secret", async () => {
  const folder = freshFolder();
  const { server, key } = await stall(folder);
  const path = join(folder, "data", "reseller.db");
  const database = new Database(path);
  const content = () => JSON.stringify(database.query("SELECT * FROM audit").values());
  const before = content();
  expect((await binary(folder, "admin", "user", "create", "alice")).code).toBe(1);
  expect((await binary(folder, "admin", "user", "debit", "alice", "9000000", "--yes")).code).toBe(
    1,
  );
  await callApi(server.url, "POST", "/recharge", key, { username: "nobody", amount: 1 });
  expect(content()).toBe(before);
  for (const change of ["UPDATE audit SET operator = 'x'", "DELETE FROM audit"]) {
    expect(() => database.run(change)).toThrow("the audit log is append-only");
  }
  const { hash } = database.query("SELECT hash FROM keys").get() as { hash: string };
  for (const secret of [key, hash]) expect(before).not.toContain(secret);
  database.close();
  await stop(server);
});

test("wrong filters are wrong usage, an unknown user is refused", async () => {
  const folder = freshFolder();
  const { server } = await stall(folder);
  const code = async (...flags: string[]) =>
    (await binary(folder, "admin", "audit", "list", ...flags)).code;
  expect(await code("--since", "yesterday")).toBe(2);
  expect(await code("--since", "2026-13-01")).toBe(2);
  expect(await code("--limit", "0")).toBe(2);
  expect(await code("--user", "nobody")).toBe(1);
  await stop(server);
});

test("who logged in stands beside the service's user, and the name of --as beside both; --by finds each", async () => {
  const folder = freshFolder();
  const { server } = await stall(folder);
  const user = Bun.spawnSync(["id", "-un"]).stdout.toString().trim();
  const create = async (name: string, environment: Record<string, string>, ...more: string[]) => {
    const argv = ["admin", "user", "create", name, ...more];
    expect((await binaryWith(environment, folder, ...argv)).code).toBe(0);
    const [entry]: Body[] = await binaryJson(folder, ..."admin audit list --limit 1".split(" "));
    return entry.by;
  };
  // What the kernel knows comes before what the environment says; without a login it knows nothing.
  const login = loginUser() ?? "ann-sudo";
  const beside = login === user ? user : `${user} (${login})`;
  expect(await create("u1", { SUDO_USER: "ann-sudo" })).toBe(beside);
  expect(await create("u2", { SUDO_USER: "ann-sudo" }, "--as", "nightly")).toBe(
    `${beside} as nightly`,
  );
  expect(await create("u3", { SUDO_USER: "no) as root" })).toBe(loginUser() ? beside : user);
  expect(await create("u4", { SUDO_USER: user })).toBe(loginUser() ? beside : user);
  const by = async (name: string) => {
    const found: Body[] = await binaryJson(
      folder,
      "admin",
      "audit",
      "list",
      "--by",
      name,
      "--action",
      "user.create",
    );
    return found
      .map(({ subject }) => subject)
      .filter((subject) => subject !== "alice")
      .toReversed();
  };
  expect(await by("nightly")).toEqual(["u2"]);
  expect(await by(`${beside} as nightly`)).toEqual(["u2"]);
  expect(await by(user)).toEqual(["u1", "u2", "u3", "u4"]);
  if (login !== user)
    expect(await by(login)).toEqual(loginUser() ? ["u1", "u2", "u3", "u4"] : ["u1", "u2"]);
  expect(await by("ann")).toEqual([]);
  expect((await binary(folder, ..."admin user create u5 --as".split(" "), "a b")).code).toBe(2);
  await stop(server);
});

/** As the kernel has it; null in a process that no login started. */
function loginUser(): string | null {
  const id = existsSync(LOGIN_ID) ? readFileSync(LOGIN_ID, "utf8") : NO_LOGIN;
  if (id === NO_LOGIN) return null;
  return Bun.spawnSync(["id", "-un", id]).stdout.toString().trim();
}
