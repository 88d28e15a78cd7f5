// Rate limits over the compiled binary: of a key, of an address that sends unknown keys, behind a proxy or not.

import { expect, test } from "bun:test";
import { binaryJson, type Serving, serving, stall, stop } from "../../support/binary.ts";
import { type Answer, callApi } from "../../support/http/api.ts";
import { cluster } from "../../support/databases/postgres.ts";
import { freshFolder } from "../../support/folders.ts";
import { freePort } from "../../support/ports.ts";
import { until } from "../../support/until.ts";

const CONNECTIONS = 32;
/** A reseller's rate with a burst of 16. It lets one more request through after a longer time than a test may take. */
const RATE = "8/h";
const BURST = 16;

/** Sends an order on each of 32 connections at once, to each server with each key in turn. Returns how many succeed. */
async function ordersThrough(
  servers: readonly Serving[],
  keys: readonly string[],
): Promise<number> {
  const order = { service: "s", link: "x", quantity: 1 };
  const answers = await Promise.all(
    Array.from({ length: CONNECTIONS }, (_, place) => {
      const { url } = servers[place % servers.length]!;
      const key = keys[Math.floor(place / servers.length) % keys.length]!;
      return callApi(url, "POST", "/orders", key, order, { connection: "close" });
    }),
  );
  const refused = answers.filter(({ status }) => status !== 200);
  for (const { status, body, headers } of refused) {
    expect([status, body.code, body.limit]).toEqual([429, "too_many_requests", "requests"]);
    expect(headers.get("ratelimit")).toStartWith('"requests";r=0;t=');
  }
  return answers.length - refused.length;
}

/** How many unknown keys are a 401 before one is a 429. */
async function untilLimited(guess: () => Promise<number>): Promise<number> {
  for (let guesses = 0; ; guesses += 1) {
    const status = await guess();
    if (status === 429) return guesses;
    expect(status).toBe(401);
  }
}

/** The 429 of a request behind the guesses that are allowed. One more is every three seconds: then the guesses again. */
async function refusedAfter(guess: () => Promise<number>, ask: () => Promise<Answer>) {
  for (;;) {
    await untilLimited(guess);
    const answer = await ask();
    if (answer.status === 429) return answer;
  }
}

test("a key has twice its rate at once, then 429 with Retry-After; other keys are served; nothing is changed", async () => {
  const folder = freshFolder();
  const { server, key } = await stall(folder, "--rate-limit", "5/h");
  const { key: other } = await binaryJson(
    folder,
    ..."admin key create --user alice --type order".split(" "),
  );
  const order = { service: "s", link: "x", quantity: 1 };
  const statuses = [];
  const started = performance.now();
  for (let asked = 0; asked < 10; asked++) {
    statuses.push((await callApi(server.url, "POST", "/orders", key, order)).status);
  }
  expect(statuses).toEqual(Array<number>(10).fill(200));
  const limited = await callApi(server.url, "POST", "/orders", key, order);
  expect([limited.status, limited.body.message]).toEqual([429, "Too many requests"]);
  const elapsed = (performance.now() - started) / 1000;
  // 5 an hour: the next one is welcome 12 minutes after the first was.
  const rate = limited.headers.get("ratelimit")!;
  expect(rate).toMatch(/^"requests";r=0;t=\d+$/);
  for (const text of [limited.headers.get("retry-after"), /t=(\d+)$/.exec(rate)![1]]) {
    const seconds = Number(text);
    expect(seconds).toBeGreaterThanOrEqual(Math.floor(720 - elapsed));
    expect(seconds).toBeLessThanOrEqual(720);
  }
  expect(limited.body.limit).toBe("requests");
  expect(limited.headers.get("ratelimit-policy")).toBe('"requests";q=10;w=7200');
  expect((await binaryJson(folder, "admin", "order", "list")).length).toBe(10);
  expect((await callApi(server.url, "GET", "/balance", other)).status).toBe(200);
  await stop(server);
});

test("a limit that was reached lets requests through again at its rate", async () => {
  const { server, key } = await stall(freshFolder(), "--rate-limit", "20/s");
  const started = performance.now();
  let answered = 0;
  const isAnswered = async () => {
    const { status } = await callApi(server.url, "GET", "/balance", key);
    if (status === 200) answered++;
    return status === 200;
  };
  while (answered < 80) await isAnswered();
  const seconds = (performance.now() - started) / 1000;
  expect(answered).toBeLessThanOrEqual(40 + 20 * seconds + 1);
  await stop(server);
});

test("refusals of the key come before its limit: a deactivated key is a 403 however often it calls", async () => {
  const folder = freshFolder();
  const { server, key } = await stall(folder, "--rate-limit", "1/h");
  for (let asked = 0; asked < 3; asked++) await callApi(server.url, "GET", "/balance", key);
  expect((await callApi(server.url, "GET", "/balance", key)).status).toBe(429);
  const [{ id }] = await binaryJson(folder, "admin", "key", "list");
  await binaryJson(folder, "admin", "key", "deactivate", id);
  expect((await callApi(server.url, "GET", "/balance", key)).status).toBe(403);
  await stop(server);
});

test("an address may send 20 unknown keys a minute, then gets 429; behind a trusted proxy the caller counts, not the proxy", async () => {
  const { server, key } = await stall(
    freshFolder(),
    "--rate-limit",
    "100/s",
    "--trusted-proxy",
    "127.0.0.1",
  );
  const ask = (address: string, text: string) =>
    callApi(server.url, "GET", "/balance", text, undefined, { "x-forwarded-for": address });
  const started = performance.now();
  const guess = async () => (await ask("203.0.113.7", "rk_no")).status;
  const guesses = await untilLimited(guess);
  const refilled = (performance.now() - started) / 3000;
  expect(guesses).toBeWithin(20, 20 + Math.ceil(refilled) + 1);
  // Before the key is looked at, so that a right guess tells nothing either.
  const right = await refusedAfter(guess, () => ask("203.0.113.7", key));
  expect(Number(right.headers.get("retry-after"))).toBeWithin(1, 4);
  expect((await ask("203.0.113.8", key)).status).toBe(200);
  // What the caller wrote itself stands to the left of what the proxy wrote, and counts for nothing.
  await refusedAfter(guess, () => ask("203.0.113.8, 203.0.113.7", key));
  await stop(server);
});

test("callers whose address a trusted proxy does not report count as one", async () => {
  const { server, key } = await stall(
    freshFolder(),
    "--rate-limit",
    "100/s",
    "--trusted-proxy",
    "127.0.0.1",
  );
  const ask = (address: string, text: string) =>
    callApi(server.url, "GET", "/balance", text, undefined, { "x-forwarded-for": address });
  let asked = 0;
  const guess = async () => (await ask(`unknown${asked++}`, "rk_no")).status;
  await refusedAfter(guess, () => ask("_hidden", key));
  // The proxy itself, and callers with an address, are somebody else.
  for (const address of ["127.0.0.1", "203.0.113.8:4711"]) {
    expect((await ask(address, key)).status).toBe(200);
  }
  await stop(server);
});

test("without a trusted proxy X-Forwarded-For is ignored, and the log says so once", async () => {
  const { server, key } = await stall(freshFolder(), "--rate-limit", "100/s");
  const ask = (address: string, text: string) =>
    callApi(server.url, "GET", "/balance", text, undefined, { "x-forwarded-for": address });
  let asked = 0;
  const guess = async () => (await ask(`203.0.113.${asked++ % 90}`, "rk_no")).status;
  await refusedAfter(guess, () => ask("203.0.113.99", key));
  await stop(server);
  expect(server.stderr().split("no proxy is trusted").length).toBe(2);
});

test("0 turns every limit off", async () => {
  const { server, key } = await stall(freshFolder(), "--rate-limit", "0");
  const ask = (text: string) => callApi(server.url, "GET", "/balance", text);
  for (let asked = 0; asked < 300; asked++) {
    expect([(await ask(key)).status, (await ask("rk_no")).status]).toEqual([200, 401]);
  }
  await stop(server);
});

test("32 orders at once get exactly the number that a reseller's limit allows, by the operator's command and by the default", async () => {
  const folder = freshFolder();
  const { server, key } = await stall(folder, "--open-orders", "5");
  const order = { service: "s", link: "x", quantity: 1 };
  const placed = async () => {
    const answers = await Promise.all(
      Array.from({ length: 32 }, () =>
        callApi(server.url, "POST", "/orders", key, order, { connection: "close" }),
      ),
    );
    const codes = answers.map(({ body }) => body.code ?? "placed");
    expect(codes.every((code) => code === "placed" || code === "open_orders_exceeded")).toBe(true);
    return codes.filter((code) => code === "placed").length;
  };
  expect(await placed()).toBe(5);
  const limits = (...flags: string[]) =>
    binaryJson(folder, "admin", "user", "limits", "alice", ...flags);
  const { used } = await limits("--open-orders", "12");
  expect(used.openOrders).toBe(5);
  expect(await placed()).toBe(7);
  // The operator may exceed the limit.
  const place = "admin order place alice s --link x --quantity 1 --yes".split(" ");
  expect((await binaryJson(folder, ...place)).status).toBe("PROCESSING");
  expect(await placed()).toBe(0);
  expect((await limits("--open-orders", "0")).limits).toMatchObject({ openOrders: 0 });
  expect(await placed()).toBe(32);
  expect((await limits("--open-orders", "default")).limits).toMatchObject({ openOrders: null });
  expect(await placed()).toBe(0);
  await stop(server);
});

test("a reseller's rate lets exactly its burst through, of 32 orders at once with several keys of the reseller", async () => {
  const folder = freshFolder();
  const { server, key } = await stall(folder, "--rate-limit", "5/h");
  const admin = (...argv: string[]) => binaryJson(folder, "admin", ...argv);
  const { key: second } = await admin("key", "create", "--user", "alice", "--type", "order");
  const keys = [key, String(second)];
  const through = () => ordersThrough([server], keys);
  await admin("user", "limits", "alice", "--rate-limit", RATE);
  expect(await through()).toBe(BURST);
  expect(await through()).toBe(0);
  await admin("user", "limits", "alice", "--rate-limit", "0");
  expect(await through()).toBe(CONNECTIONS);
  // The server's own limit is one of each key.
  await admin("user", "limits", "alice", "--rate-limit", "default");
  expect(await through()).toBe(20);
  const orders = await admin("order", "list", "--limit", "1000");
  expect(orders).toHaveLength(BURST + CONNECTIONS + 20);
  await stop(server);
});

test("two servers let half of a reseller's burst through each, of 32 orders at once; when one stops, the other lets all of it through", async () => {
  const postgres = await cluster();
  const name = await postgres.createDatabase();
  const folder = freshFolder();
  const database = ["--database", `postgres://postgres@127.0.0.1:${postgres.port}/${name}`];
  const admin = (...argv: string[]) => binaryJson(folder, "admin", ...argv, ...database);
  await admin(..."service create --id s --name S --price 1 --min 1 --max 1000".split(" "));
  const keyOf = async (username: string): Promise<string> => {
    await admin("user", "create", username);
    await admin("user", "credit", username, "100");
    await admin("user", "limits", username, "--rate-limit", RATE);
    return (await admin("key", "create", "--user", username, "--type", "order")).key;
  };
  const keys = {
    even: await keyOf("even"),
    uneven: await keyOf("uneven"),
    late: await keyOf("late"),
  };
  const start = async (server: string) => {
    const metrics = `127.0.0.1:${freePort()}`;
    const flags = [...database, "--server", server, "--metrics-listen", metrics];
    const running = await serving(freshFolder(), "serve", ...flags);
    const knows = async (servers: number) =>
      (await (await fetch(`http://${metrics}/metrics`)).text()).includes(
        `\nreseller_servers ${servers}\n`,
      );
    return { running, knows };
  };
  const one = await start("one");
  const two = await start("two");
  // The first one learns of the second when it renews its lease.
  await until(async () => (await one.knows(2)) && (await two.knows(2)));
  const both = [one.running, two.running];
  expect(await ordersThrough(both, [keys.even])).toBe(BURST);
  expect(await ordersThrough(both, [keys.even])).toBe(0);
  // A balancer that sends everything to one server leaves the other's share unused.
  expect(await ordersThrough([one.running], [keys.uneven])).toBe(BURST / 2);
  expect(await ordersThrough([two.running], [keys.uneven])).toBe(BURST / 2);
  expect(await ordersThrough(both, [keys.uneven])).toBe(0);
  await stop(two.running);
  await until(() => one.knows(1));
  expect(await ordersThrough([one.running], [keys.late])).toBe(BURST);
  expect(await ordersThrough([one.running], [keys.even])).toBe(0);
  expect(await admin("order", "list", "--limit", "1000")).toHaveLength(3 * BURST);
  await stop(one.running);
});
