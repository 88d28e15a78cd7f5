// The log over the compiled binary: members of a line, what is left out, what never appears, and the format on a terminal.

import { expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { binaryJson, serving, stall, stop } from "../../support/binary.ts";
import { type Body, callApi } from "../../support/http/api.ts";
import { freshDatabase } from "../../support/databases/test-database.ts";
import { freshFolder } from "../../support/folders.ts";
import { PROVIDER_KEY, startUpstream } from "../../support/peers/upstream.ts";
import { until } from "../../support/until.ts";

const CONTROL_C = "\x03";

const linesOf = (stderr: string): Body[] =>
  stderr
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

test("a request is one JSON line with its id, key id, route, status and milliseconds", async () => {
  const began = Date.now();
  const { server, key } = await stall(freshFolder());
  const order = { service: "s", link: "x", quantity: 1 };
  await callApi(server.url, "POST", "/orders", key, order, { "x-request-id": "mine-1" });
  await callApi(server.url, "GET", "/orders/1", key);
  await callApi(server.url, "GET", "/nothing/here", key);
  await stop(server);
  const requests = linesOf(server.stderr()).filter(({ msg }) => msg === "request");
  expect(requests).toMatchObject([
    { level: "info", requestId: "mine-1", method: "POST", route: "/api/v1/orders", status: 200 },
    { level: "info", method: "GET", route: "/api/v1/orders/:id", status: 200 },
    { level: "info", method: "GET", route: null, status: 404, keyId: null },
  ]);
  expect(requests[0].keyId).toMatch(/^[a-z0-9]{24}$/);
  for (const { milliseconds, time } of requests) {
    expect(milliseconds).toBeGreaterThan(0);
    expect(Date.parse(time)).toBeWithin(began, Date.now() + 1);
  }
});

test("a refusal's line says why and to whom: code, username, and the address where no key tells it", async () => {
  const folder = freshFolder();
  const { server, key } = await stall(folder, "--trusted-proxy", "127.0.0.1");
  const from = (address: string) => ({ "x-forwarded-for": address });
  const order = { service: "s", link: "https://example.com/zqx7secret", quantity: 5000 };
  await callApi(server.url, "POST", "/orders", key, order);
  await callApi(server.url, "GET", "/balance", "rk_zqx7guess", undefined, from("203.0.113.9"));
  await callApi(server.url, "GET", "/nothing", "", undefined, from("203.0.113.10"));
  const allowed = ["--user", "alice", "--type", "order", "--allow", "198.51.100.0/24"];
  const { key: near } = await binaryJson(folder, "admin", "key", "create", ...allowed);
  await callApi(server.url, "GET", "/balance", String(near), undefined, from("203.0.113.11"));
  const form = `key=${key}&action=add&service=1&link=zqx7secret&quantity=5000`;
  await (
    await fetch(`${server.url}/api/v2`, { method: "POST", body: new URLSearchParams(form) })
  ).text();
  await callApi(server.url, "GET", "/balance", key);
  await stop(server);
  const lines = linesOf(server.stderr());
  expect(
    lines
      .filter(({ msg }) => msg === "request")
      .map(({ status, code, username, address }) => [status, code, username, address]),
  ).toEqual([
    [400, "quantity_above_maximum", "alice", undefined],
    [401, "api_key_invalid", undefined, "203.0.113.9"],
    [404, "not_found", undefined, "203.0.113.10"],
    [403, "api_key_address_refused", "alice", "203.0.113.11"],
    [200, "quantity_above_maximum", "alice", undefined],
    [200, undefined, "alice", undefined],
  ]);
  expect(lines.filter(({ msg }) => msg === "unknown key")).toMatchObject([
    { address: "203.0.113.9", mistyped: true },
  ]);
  for (const secret of [key, String(near), "zqx7"]) expect(server.stderr()).not.toContain(secret);
});

test("fail2ban reads who offers unknown keys or fails to sign in, and is not misled by what callers send", async () => {
  const folder = freshFolder();
  const flags = ["--trusted-proxy", "127.0.0.1", "--panel-listen", "127.0.0.1:0", "--portal"];
  const { server, key } = await stall(folder, ...flags);
  const claim = '","address":"192.0.2.1","msg":"unknown key"}';
  const headers = (address: string) => ({ "x-forwarded-for": address, "user-agent": claim });
  await callApi(server.url, "GET", "/balance", "rk_unknown", undefined, headers("203.0.113.9"));
  await callApi(server.url, "GET", "/balance", "rk_unknown", undefined, headers("2001:db8::7"));
  await callApi(server.url, "GET", "/balance", "rk_unknown", undefined, headers("unknown"));
  await callApi(server.url, "POST", "/orders", key, {}, headers("203.0.113.12"));
  await callApi(
    server.url,
    "GET",
    `/nothing/${encodeURIComponent(claim)}`,
    "",
    undefined,
    headers("203.0.113.13"),
  );
  const panel = await readFile(join(folder, "data", "panel.address"), "utf8");
  const signIn = async (site: string, origin: string, address: string, field: string) => {
    const body = new URLSearchParams({ [field]: claim, password: "wrong wrong wrong" });
    const form = { method: "POST", body, headers: { ...headers(address), origin } };
    const response = await fetch(`${site}/sign-in`, { ...form, redirect: "manual" });
    expect(response.status).toBe(422);
  };
  await signIn(panel, panel, "198.51.100.4", "name");
  await signIn(`${server.url}/portal`, server.url, "198.51.100.5", "email");
  await stop(server);
  const log = join(folder, "log");
  const filter = new URL("../../../deploy/fail2ban/filter.conf", import.meta.url).pathname;
  const matched = (prefix: string) => {
    const lines = server.stderr().trim().split("\n");
    writeFileSync(log, lines.map((line) => `${prefix}${line}\n`).join(""));
    const { stdout, stderr } = Bun.spawnSync(["fail2ban-regex", "--out", "ip", log, filter]);
    return [...stdout.toString().trim().split("\n"), stderr.toString()].filter(
      (text) => text !== "",
    );
  };
  const expected = ["203.0.113.9", "2001:db8::7", "198.51.100.4", "198.51.100.5"];
  expect(matched("")).toEqual(expected);
  // As the journal's lines reach it.
  expect(matched("host reseller[12]: ")).toEqual(expected);
});

test("--log-reads leaves out successful reads, or all but a share of them, and nothing else", async () => {
  const statusesWith = async (share: string) => {
    const { server, key } = await stall(freshFolder(), "--log-reads", share);
    for (let read = 0; read < 200; read++) await callApi(server.url, "GET", "/balance", key);
    await callApi(server.url, "GET", "/balance", "rk_no");
    await callApi(server.url, "POST", "/orders", key, { service: "s", link: "x", quantity: 1 });
    await stop(server);
    const requests = linesOf(server.stderr()).filter(({ msg }) => msg === "request");
    return {
      reads: requests.filter(({ method, status }) => method === "GET" && status === 200).length,
      others: requests.map(({ status }) => status).slice(-2),
    };
  };
  expect(await statusesWith("none")).toEqual({ reads: 0, others: [401, 200] });
  expect(await statusesWith("all")).toEqual({ reads: 200, others: [401, 200] });
  const { reads } = await statusesWith("50%");
  expect(reads).toBeGreaterThan(50);
  expect(reads).toBeLessThan(150);
});

test("a key in an x-request-id is returned unchanged and masked in the log", async () => {
  const { server, key } = await stall(freshFolder(), "--log-level", "debug");
  const headers = { "x-request-id": `trace-${key}` };
  const answer = await callApi(server.url, "GET", "/balance", key, undefined, headers);
  expect(answer.headers.get("x-request-id")).toBe(`trace-${key}`);
  await callApi(server.url, "GET", "/balance", `${key}x`, undefined, headers);
  await stop(server);
  expect(server.stderr()).toContain('"requestId":"trace-rk_***"');
  expect(server.stdout() + server.stderr()).not.toContain(key);
});

test("an internal error is logged with its cause, without key, body or hash, and its response has none of it", async () => {
  const folder = freshFolder();
  const { server, key } = await stall(folder, "--log-level", "debug");
  const database = new Database(join(folder, "data", "reseller.db"));
  const { hash } = database.query("SELECT hash FROM keys").get() as { hash: string };
  database.run(
    "CREATE TRIGGER broken BEFORE INSERT ON orders BEGIN SELECT RAISE(ABORT, 'broken'); END",
  );
  database.close();
  const order = { service: "s", link: "https://example.com/zqx7secret", quantity: 1 };
  const answer = await callApi(server.url, "POST", "/orders", key, order);
  expect([answer.status, answer.body.message]).toEqual([500, "Internal server error"]);
  await until(() => server.stderr().includes('"internal error"'));
  await stop(server);
  expect(server.stderr()).toContain("broken");
  for (const secret of [key, hash, "zqx7secret"]) expect(server.stderr()).not.toContain(secret);
});

test("a provider's reply that is not the gzip it says: every line is JSON, and one of them says why", async () => {
  const upstream = await startUpstream();
  const folder = freshFolder();
  const database = freshDatabase(join(folder, "data"));
  const { url } = upstream;
  database.run("createProvider", { name: "acme", protocol: "smm-api", url, key: PROVIDER_KEY });
  database.user("anna", "1000");
  const { text: key } = database.key("anna", "full");
  const service = database.service({ provider: { name: "acme", service: "7" }, min: 1 });
  database.connection.sqlite.close();
  const server = await serving(folder, "serve");
  upstream.next("add", { body: "no gzip", headers: { "content-encoding": "gzip" } });
  const order = { service, link: "x", quantity: 1 };
  expect((await callApi(server.url, "POST", "/orders", key, order)).status).toBe(200);
  await stop(server);
  await upstream.stop();
  const lines = linesOf(server.stderr());
  expect(lines.filter(({ cause }) => cause?.includes("not gzip"))).toHaveLength(1);
});

test("a CSV that breaks off: the caller sees that, and every line is JSON", async () => {
  const folder = freshFolder();
  const { server, key } = await stall(folder);
  const database = new Database(join(folder, "data", "reseller.db"));
  database.run("PRAGMA legacy_alter_table = ON");
  database.run("ALTER TABLE transfers RENAME TO elsewhere");
  database.close();
  const headers = { "x-api-key": key, accept: "text/csv" };
  const statement = fetch(`${server.url}/api/v1/transactions`, { headers }).then((response) =>
    response.text(),
  );
  expect(await statement.catch(() => "broken off")).toBe("broken off");
  await stop(server);
  const faults = linesOf(server.stderr()).filter(({ msg }) => msg === "internal error");
  expect(faults).toMatchObject([{ error: expect.stringContaining("no such table") }]);
});

test("a request on a terminal reads `POST /orders 400 quantity_above_maximum alice 2 ms`", async () => {
  const { server, key } = await stall(freshFolder(), "--log-format", "pretty");
  await callApi(server.url, "POST", "/orders", key, { service: "s", link: "x", quantity: 5000 });
  await callApi(server.url, "GET", "/orders/1", key);
  await callApi(server.url, "GET", "/balance", "rk_unknown");
  await callApi(server.url, "GET", "/balance", key);
  await stop(server);
  const texts = server
    .stderr()
    .split("\n")
    .flatMap((line) => /^\[[\d:.]+\] INFO: ((?:GET|POST) .*)$/.exec(line)?.[1] ?? []);
  expect(texts.map((text) => text.replace(/[\d.]+ ms$/, "N ms"))).toEqual([
    "POST /orders 400 quantity_above_maximum alice N ms",
    "GET /orders/:id 404 order_not_found alice N ms",
    "GET /balance 401 api_key_invalid 127.0.0.1 N ms",
    "GET /balance 200 alice N ms",
  ]);
});

test("on a terminal the lines are for people, elsewhere for programs", async () => {
  const folder = freshFolder();
  const binary = new URL("../../../dist/reseller", import.meta.url).pathname;
  // script(1) makes a terminal; what it shows goes to stdout, what it reads is typed.
  const terminal = Bun.spawn(["script", "-qec", `${binary} serve --port 0`, "/dev/null"], {
    cwd: folder,
    stdin: "pipe",
    stdout: "pipe",
  });
  let shown = "";
  for await (const text of terminal.stdout.pipeThrough(new TextDecoderStream())) {
    const hadStarted = shown.includes("started");
    shown += text;
    if (hadStarted || !shown.includes("started")) continue;
    await terminal.stdin.write(CONTROL_C);
    await terminal.stdin.flush();
  }
  await terminal.exited;
  expect(shown).toContain("INFO");
  expect(shown).toContain("started");
  expect(shown).not.toContain('"level"');
});
