// Users and keys over the compiled binary: names, what is erased on request, and what keys tell.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { binary, binaryJson, stall, stop } from "../../support/binary.ts";
import { type Body, callApi } from "../../support/http/api.ts";
import { freshFolder } from "../../support/folders.ts";
import { until } from "../../support/until.ts";

const admin = (folder: string, ...argv: string[]) => binaryJson(folder, "admin", ...argv);

test("a key is relabelled, gets another expiry and other networks; its state and last address are shown", async () => {
  const folder = freshFolder();
  const { server, key } = await stall(folder);
  const keyOf = async (id: string) =>
    ((await admin(folder, "key", "list")) as Body[]).find((each) => each["id"] === id)!;
  const [{ id }] = await admin(folder, "key", "list");
  const use = () => callApi(server.url, "GET", "/balance", key);
  expect((await use()).status).toBe(200);
  const change = (...argv: string[]) => admin(folder, "key", "update", String(id), ...argv);
  expect(await change("--label", "bot", "--allow", "10.0.0.0/8")).toMatchObject({
    label: "bot",
    allow: "10.0.0.0/8",
    state: "active",
  });
  expect((await use()).body.message).toBe("This API key may not be used from this address");
  await change("--allow", "any");
  expect((await use()).status).toBe(200);
  const short = await change("--expires", "1ms");
  await until(() => Date.now() > Date.parse(short.expiresAt));
  expect((await use()).body.message).toBe("API key has expired");
  expect(await keyOf(id)).toMatchObject({ state: "expired", active: true });
  await change("--expires", "never");
  expect((await use()).status).toBe(200);
  await admin(folder, "key", "rotate", id, "--grace", "1h");
  expect(await keyOf(id)).toMatchObject({ state: "rotated" });
  const nothing = await binary(folder, "admin", "key", "update", id);
  expect(nothing.code).toBe(2);
  expect(await admin(folder, "key", "deactivate", "--user", "alice")).toEqual({
    username: "alice",
    deactivated: 2,
  });
  expect((await use()).body.message).toBe("API key is inactive");
  await stop(server);
  // Written with the last use, at the latest when the server stops.
  expect(await keyOf(id)).toMatchObject({ state: "off", lastAddress: "127.0.0.1" });
  const table = await binary(folder, "admin", "key", "list", "--wide");
  expect(table.stdout).toMatch(/STATE .* FROM /);
});

test("a user is renamed, deactivated and activated, and its personal data erased for good; the ledger adds up", async () => {
  const folder = freshFolder();
  const { server, key } = await stall(folder);
  const secret = "Erika-Mustermann";
  const call = (path: string, body: object, ...headers: [string, string][]) =>
    callApi(server.url, "POST", path, key, body, Object.fromEntries(headers));
  await admin(folder, "user", "update", "alice", "--rename", secret, "--name", `${secret} Ltd`);
  await admin(folder, "user", "create", "kid", "--parent", secret);
  await admin(folder, "user", "credit", secret, "5", "--note", `from ${secret}`);
  await admin(folder, "user", "debit", secret, "1", "--note", `to ${secret}`);
  const told = ["--public-note", `dear ${secret}`];
  await admin(folder, "user", "credit", secret, "1", "--reference", secret, ...told);
  const [{ id }] = await admin(folder, "key", "list");
  await admin(folder, "key", "update", id, "--label", `of ${secret}`);
  const url = `https://8.8.8.8/${secret}`;
  const hook = ["webhook", "create", "--user", secret, "--url", url, "--events", "*"];
  await admin(folder, ...hook);
  const order = { service: "s", link: `https://example.com/${secret}`, quantity: 1 };
  const placed = await call("/orders", { ...order, reference: secret }, ["idempotency-key", "k1"]);
  expect(placed.status).toBe(200);
  await call("/orders", order);
  await admin(folder, "order", "complete", "1", "--note", `for ${secret}`);
  const typed = "--id talk --name T --price 1 --min 1 --max 9 --type custom_comments --refill";
  await admin(folder, "service", "create", ...typed.split(" "));
  const comments = `${secret} was here\nhello`;
  await call("/orders", { service: "talk", link: secret, comments });
  await admin(folder, "order", "complete", "3");
  await call("/orders/3/refill", {});
  const erase = ["admin", "user", "erase", secret, "--reason", "asked for on 2026-11-22"];
  expect((await binary(folder, ...erase, "--yes")).stderr).toContain("the user is active");
  await admin(folder, "user", "deactivate", secret);
  expect((await binary(folder, ...erase, "--yes")).stderr).toContain("1 open order");
  await admin(folder, "order", "cancel", "2", "--note", `from ${secret}`, ...told);
  expect((await binary(folder, ...erase, "--yes")).stderr).toContain("1 open request");
  await admin(folder, "request", "decline", "1", "--note", `not for ${secret}`);
  expect(await binary(folder, ...erase)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("repeat with --yes"),
  });
  const balance = (await admin(folder, "user", "show", secret)).balance;
  const erased = await binaryJson(folder, ...erase, "--yes");
  const { username } = erased;
  expect(erased.erased).toBe(true);
  expect(username).toMatch(/^erased-[a-z0-9]{24}$/);
  expect(await admin(folder, "user", "show", username)).toMatchObject({
    name: "erased",
    active: false,
    balance,
  });
  const again = ["user", "erase", username, "--reason", "again", "--yes"];
  expect(await admin(folder, ...again)).toMatchObject({ username });
  for (const [argv, says] of [
    [["user", "activate", username], "was erased"],
    [["user", "update", username, "--name", "x"], "was erased"],
    [["key", "update", id, "--label", "x"], "was erased"],
    [["key", "create", "--user", username, "--type", "order"], "inactive"],
  ] as const) {
    expect((await binary(folder, "admin", ...argv)).stderr).toContain(says);
  }
  const audit: Body[] = await admin(folder, "audit", "list", "--action", "user.erase");
  expect(audit).toMatchObject([
    { subject: username, after: { reason: "asked for on 2026-11-22", keys: 1, webhooks: 1 } },
  ]);
  const orders: Body[] = await admin(folder, "order", "list");
  expect(orders.map(({ link, charge }) => [link, charge])).toEqual([
    ["erased", 0.002],
    ["erased", 0.001],
    ["erased", 0.001],
  ]);
  expect(await admin(folder, "order", "show", "3")).toMatchObject({
    quantity: 2,
    comments: "erased\nerased",
  });
  expect((await binary(folder, "verify")).code).toBe(0);
  await stop(server);
  // Nowhere, whatever the column.
  const database = new Database(`${folder}/data/reseller.db`, { readonly: true });
  const tables = database
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .all();
  for (const { name } of tables) {
    const rows = JSON.stringify(database.query(`SELECT * FROM ${name}`).all(), (_, value) =>
      typeof value === "bigint" ? String(value) : (value as unknown),
    );
    const hasIt = rows.toLowerCase().includes(secret.toLowerCase());
    expect([name, hasIt]).toEqual([name, false]);
  }
  database.close();
});
