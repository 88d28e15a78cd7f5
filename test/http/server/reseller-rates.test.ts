// The rate of a reseller's requests over HTTP, and the fields of responses that say what applies.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { callApi } from "../../support/http/api.ts";
import { openService, type TestService } from "../../support/worlds/service.ts";

/** By the hour, so that nothing is refilled while a test runs. */
const DEFAULT = { requests: 10, milliseconds: 3_600_000 };
const CONNECTIONS = 32;

let shop: TestService;
beforeAll(async () => {
  shop = await openService({ settings: { rateLimit: DEFAULT, openOrders: 7 } });
});
afterAll(() => shop.stop());

let resellers = 0;
function reseller(rateLimit: string | null): { name: string; keys: string[] } {
  const name = `reseller${++resellers}`;
  shop.user(name, "10");
  shop.run("setLimits", { username: name, changes: { rateLimit } });
  return { name, keys: [shop.key(name, "order").text, shop.key(name, "full", "all").text] };
}

const statuses = (keys: readonly string[]) =>
  Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, place) => {
      const key = keys[place % keys.length]!;
      const headers = { connection: "close" };
      return (await callApi(shop.url, "GET", "/balance", key, undefined, headers)).status;
    }),
  );
const served = (found: readonly number[]) => found.filter((status) => status === 200).length;

test("a reseller's own rate lets exactly its burst through, of 32 requests at once with several of its keys", async () => {
  const { keys } = reseller("4/h");
  const found = await statuses(keys);
  expect([served(found), found.filter((status) => status === 429).length]).toEqual([8, 24]);
});

test("the default lets exactly the burst of each key through", async () => {
  const { keys } = reseller(null);
  expect(served(await statuses(keys.slice(0, 1)))).toBe(20);
  expect(served(await statuses(keys.slice(1)))).toBe(20);
});

test("a rate of 0 lets everything through, and each reseller has a rate of its own", async () => {
  const { keys } = reseller("0");
  expect(served(await statuses(keys))).toBe(CONNECTIONS);
  expect(served(await statuses(reseller("4/h").keys))).toBe(8);
});

test("responses say what applies and what is left; a refusal says 0 and when there is more", async () => {
  const { keys } = reseller("2/h");
  const ask = () => shop.call("GET", "/balance", keys[0]);
  const policy = '"requests";q=4;w=7200, "open-orders";q=7;qu="orders"';
  for (const left of [3, 2, 1, 0]) {
    const { status, headers } = await ask();
    const seconds = (4 - left) * 1800;
    expect([status, headers.get("ratelimit-policy")]).toEqual([200, policy]);
    expect(headers.get("ratelimit")).toMatch(new RegExp(`^"requests";r=${left};t=\\d+$`));
    const told = Number(/t=(\d+)/.exec(headers.get("ratelimit")!)![1]);
    expect(told).toBeLessThanOrEqual(seconds);
    expect(told).toBeGreaterThan(seconds - 1800);
  }
  const refused = await ask();
  const { status, headers, body } = refused;
  expect([status, body.message, body.limit]).toEqual([429, "Too many requests", "requests"]);
  expect(headers.get("ratelimit-policy")).toBe(policy);
  expect(headers.get("ratelimit")).toBe(`"requests";r=0;t=${headers.get("retry-after")}`);
});

test("a CSV file and /api/v2 have the fields too; a response to no key has none", async () => {
  const { keys } = reseller("9/h");
  const headersOfCsv = { "x-api-key": keys[0]!, accept: "text/csv" };
  const csv = await fetch(`${shop.url}/api/v1/orders`, { headers: headersOfCsv });
  await csv.text();
  const body = new URLSearchParams({ key: keys[0]!, action: "balance" });
  const panel = await fetch(`${shop.url}/api/v2`, { method: "POST", body });
  for (const [place, { headers }] of [csv, panel].entries()) {
    expect(headers.get("ratelimit-policy")).toContain('"requests";q=18;w=7200');
    expect(headers.get("ratelimit")).toStartWith(`"requests";r=${17 - place};t=`);
  }
  const { headers } = await shop.call("GET", "/balance");
  expect([headers.get("ratelimit-policy"), headers.get("ratelimit")]).toEqual([null, null]);
});

test("test keys have the default rate, and no limits for orders", async () => {
  const { name } = reseller("1/h");
  const { text } = shop.key(name, "order", "all", true);
  const { headers } = await shop.call("GET", "/balance", text);
  expect(headers.get("ratelimit-policy")).toBe('"requests";q=20;w=7200');
});
