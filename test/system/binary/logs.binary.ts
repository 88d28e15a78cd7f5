// The log over the compiled binary: members of a line, what is left out, what never appears, and the format on a terminal.

import { expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { serving, stall, stop, until } from "../../support/binary.ts";
import { type Body, callApi, freshDatabase, freshFolder } from "../../support/service.ts";
import { PROVIDER_KEY, startUpstream } from "../../support/upstream.ts";

const linesOf = (stderr: string): Body[] =>
  stderr
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

test("a request is one JSON line with its id, key id, route, status and milliseconds", async () => {
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
    expect(Math.abs(Date.parse(time) - Date.now())).toBeLessThan(60_000);
  }
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

test("on a terminal the lines are for people, elsewhere for programs", async () => {
  const folder = freshFolder();
  const binary = new URL("../../../dist/reseller", import.meta.url).pathname;
  const serve = `timeout -s INT 2 ${binary} serve --port 0`;
  // script(1) makes a terminal; what it shows goes to stdout.
  const { stdout } = Bun.spawnSync(["script", "-qec", serve, "/dev/null"], { cwd: folder });
  const shown = stdout.toString();
  expect(shown).toContain("INFO");
  expect(shown).toContain("started");
  expect(shown).not.toContain('"level"');
});
