// Keys over the compiled binary: expiry, networks, rotation and last use.

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import { binary, binaryJson, stall, stop } from "../../support/binary.ts";
import { rawRequest, sendRaw, sendRawInTwo } from "../../support/http/raw.ts";
import { type Body, callApi } from "../../support/http/api.ts";
import { freshFolder } from "../../support/folders.ts";
import { until } from "../../support/until.ts";

const CREATE = "admin key create --user alice --type order".split(" ");
const DAY = 24 * 3_600_000;

const list = (folder: string): Promise<Body[]> => binaryJson(folder, "admin", "key", "list");

test("an expired key is refused in its own words from that moment on", async () => {
  const folder = freshFolder();
  const { server } = await stall(folder);
  const status = async (key: string) => (await callApi(server.url, "GET", "/balance", key)).status;
  // On a slow machine the first ones may have expired before they are used.
  let key: string;
  let expiresAt: string;
  let seconds = 1;
  do {
    ({ key, expiresAt } = await binaryJson(folder, ...CREATE, "--expires", `${seconds}s`));
    seconds *= 2;
  } while ((await status(key)) !== 200);
  const end = Date.parse(expiresAt);
  await until(() => Date.now() >= end);
  const refused = await callApi(server.url, "GET", "/balance", key);
  expect([refused.status, refused.body.status, refused.body.message]).toEqual([
    403,
    "error",
    "API key has expired",
  ]);
  await stop(server);
});

test("a key is refused outside its networks, v4 and v6, by the address that the trusted proxy reports", async () => {
  const folder = freshFolder();
  const { server } = await stall(folder, "--trusted-proxy", "127.0.0.0/8");
  const created = await binaryJson(
    folder,
    ...CREATE,
    "--allow",
    "10.0.0.0/8",
    "--allow",
    "2001:db8::/32",
  );
  expect(created.allow).toBe("10.0.0.0/8,2001:db8::/32");
  const ask = (address: string) =>
    callApi(server.url, "GET", "/balance", created.key, undefined, { "x-forwarded-for": address });
  for (const address of ["10.1.2.3", "2001:db8::1", "::ffff:10.0.0.1"]) {
    expect([address, (await ask(address)).status]).toEqual([address, 200]);
  }
  for (const address of ["11.0.0.1", "2001:db9::1", "10.1.2.3, 11.0.0.1", "nonsense"]) {
    const { status, body } = await ask(address);
    expect([address, status, body.message]).toEqual([
      address,
      403,
      "This API key may not be used from this address",
    ]);
  }
  // The path is decoded by a second request within the server; the address is still the first one's.
  const encoded = await fetch(`${server.url}/api/v1/b%61lance`, {
    headers: { "x-api-key": created.key, "x-forwarded-for": "10.1.2.3" },
  });
  expect(encoded.status).toBe(200);
  await stop(server);
});

test("behind a trusted proxy an address that cannot be read is in no network, the proxy's included", async () => {
  const folder = freshFolder();
  const { server } = await stall(folder, "--trusted-proxy", "127.0.0.0/8");
  const { key } = await binaryJson(folder, ...CREATE, "--allow", "127.0.0.0/8,10.1.1.1");
  const ask = async (...forwarded: string[]) => {
    const headers = [`x-api-key: ${key}`, ...forwarded.map((line) => `X-Forwarded-For: ${line}`)];
    return (await sendRaw(server.url, rawRequest("GET", "/api/v1/balance", headers))).status;
  };
  const allowed = [
    ["10.1.1.1"],
    ["10.1.1.1:1234"],
    ["[::ffff:10.1.1.1]:1234"],
    ["8.8.8.8", "10.1.1.1"],
    [],
  ];
  for (const lines of allowed) expect([lines, await ask(...lines)]).toEqual([lines, 200]);
  const refused = [
    ["8.8.8.8:1234"],
    ["[2001:db8::1]:1234"],
    ["unknown"],
    ["garbage"],
    [""],
    ["10.1.1.1", ""],
    ["10.1.1.1", "8.8.8.8:1234"],
    ["10.1.1.1,"],
    ["::10.1.1.1"],
    ["012.1.1.1"],
    ["127.0.0.1%lo"],
  ];
  for (const lines of refused) expect([lines, await ask(...lines)]).toEqual([lines, 403]);
  await stop(server);
});

test("a key that is deactivated while a request's body is arriving pays for nothing any more", async () => {
  const folder = freshFolder();
  const { server, key } = await stall(folder);
  const [{ id }] = await list(folder);
  await binaryJson(folder, ..."admin user create bob --parent alice".split(" "));
  const toggle = (state: string) => binaryJson(folder, "admin", "key", state, id);
  const balances = () => binaryJson(folder, "admin", "user", "list");
  const order = { service: "s", link: "x", quantity: 1 };
  const requests: [path: string, body: object][] = [
    ["/orders", order],
    ["/orders/batch", { orders: [order, order] }],
    ["/recharge", { username: "bob", amount: 1 }],
  ];
  /** Half of the body is sent, and another request is answered, before `meanwhile`. */
  const send = (
    path: string,
    body: object,
    headers: string[],
    meanwhile: () => Promise<unknown>,
  ) => {
    const text = JSON.stringify(body);
    const sent = [`x-api-key: ${key}`, "content-type: application/json", ...headers];
    const head = rawRequest("POST", `/api/v1${path}`, [...sent, `content-length: ${text.length}`]);
    return sendRawInTwo(server.url, head + text.slice(0, 5), text.slice(5), async () => {
      await callApi(server.url, "GET", "/balance", key);
      await meanwhile();
    });
  };
  for (const [path, body] of requests) {
    for (const headers of [[], [`idempotency-key: of${path}`]]) {
      const before = await balances();
      const refused = await send(path, body, headers, () => toggle("deactivate"));
      expect([path, refused.status, refused.body.message]).toEqual([
        path,
        403,
        "API key is inactive",
      ]);
      expect(await balances()).toEqual(before);
      await toggle("activate");
      const done = await send(path, body, headers, () => Promise.resolve());
      expect([path, done.status]).toEqual([path, 200]);
      expect(await balances()).not.toEqual(before);
    }
    // Nor is it told again what it once did.
    const replay = await send(path, body, [`idempotency-key: of${path}`], () =>
      toggle("deactivate"),
    );
    expect([path, replay.status]).toEqual([path, 403]);
    await toggle("activate");
  }
  expect((await binaryJson(folder, "admin", "order", "list")).length).toBe(2 * (1 + 2));
  await stop(server);
});

describe("rotate", () => {
  test("makes a key like the old one, which works on for the grace and no longer", async () => {
    const folder = freshFolder();
    const { server } = await stall(folder);
    const flags = ["--label", "bot", "--allow", "127.0.0.0/8", "--expires", "90d"];
    const ask = async (key: string) => (await callApi(server.url, "GET", "/balance", key)).status;
    const rotated = async (seconds: number): Promise<{ old: Body; fresh: Body }> => {
      const old = await binaryJson(folder, ...CREATE, ...flags);
      const rotate = ["rotate", old.id, "--grace", `${seconds}s`];
      const fresh = await binaryJson(folder, "admin", "key", ...rotate);
      // On a slow machine the grace may be over before the old key is used.
      return (await ask(old.key)) === 200 ? { old, fresh } : rotated(2 * seconds);
    };
    const { old, fresh } = await rotated(1);
    expect(fresh).toMatchObject({
      label: "bot",
      allow: "127.0.0.0/8",
      type: "order",
      active: true,
    });
    expect(fresh.id).not.toBe(old.id);
    const lifetime = Date.parse(fresh.expiresAt) - Date.now();
    expect(Math.abs(lifetime - 90 * DAY)).toBeLessThan(60_000);
    const listed = (await list(folder)).find(({ id }) => id === old.id)!;
    expect(listed.replacedBy).toBe(fresh.id);
    expect(await ask(fresh.key)).toBe(200);
    const end = Date.parse(listed.expiresAt);
    await until(() => Date.now() >= end);
    expect([await ask(old.key), await ask(fresh.key)]).toEqual([403, 200]);
    await stop(server);
  });

  test("works only for active keys that were not rotated yet", async () => {
    const folder = freshFolder();
    const { server } = await stall(folder);
    const [{ id }] = await list(folder);
    const rotate = (key: string, ...flags: string[]) =>
      binary(folder, "admin", "key", "rotate", key, ...flags);
    expect((await rotate(id, "--grace", "soon")).code).toBe(2);
    expect((await rotate("nobody")).stderr).toContain("key not found");
    await binaryJson(folder, "admin", "key", "deactivate", id);
    expect((await rotate(id)).stderr).toContain("API key is inactive");
    await binaryJson(folder, "admin", "key", "activate", id);
    expect((await rotate(id, "--grace", "0")).code).toBe(0);
    expect((await rotate(id)).stderr).toContain("was rotated already");
    await stop(server);
  });
});

test("wrong lifetimes and networks are wrong usage, and make no key", async () => {
  const folder = freshFolder();
  const { server } = await stall(folder);
  const before = (await list(folder)).length;
  const wrong = [
    ["--expires", "0"],
    ["--expires", "90"],
    ["--expires", "99999d"],
    ["--allow", "10.0.0.1/8"],
    ["--allow", "example.com"],
    ["--allow", ""],
  ];
  for (const flags of wrong) {
    const { code } = await binary(folder, ...CREATE, ...flags);
    expect([flags, code]).toEqual([flags, 2]);
  }
  expect((await list(folder)).length).toBe(before);
  await stop(server);
});

test("the last use of a key is recorded within seconds, and once a minute however often it is used", async () => {
  const folder = freshFolder();
  const { server, key } = await stall(folder);
  const [made] = await list(folder);
  expect([made.lastUsedAt, made.start]).toEqual([null, key.slice(0, 8)]);
  const started = Date.now();
  const database = new Database(join(folder, "data", "reseller.db"), { readonly: true });
  const used = database.query<{ at: number | null }, []>("SELECT last_used_at AS at FROM keys");
  await until(async () => {
    await callApi(server.url, "GET", "/balance", key);
    return used.get()!.at !== null;
  });
  database.close();
  const [{ lastUsedAt: first }] = await list(folder);
  await stop(server);
  // The stop writes what was gathered, where a minute has passed.
  const [{ lastUsedAt }] = await list(folder);
  const isMinuteLater = Date.parse(lastUsedAt) >= Date.parse(first) + 60_000;
  expect(lastUsedAt === first || isMinuteLater).toBe(true);
  expect(Date.parse(lastUsedAt)).toBeWithin(started, Date.now());
});
