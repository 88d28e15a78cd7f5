// docs/specification/smm-api.md#v2-errors: the words to the letter, their statuses, and which of several is told.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { users } from "../../../src/db/tables/users.ts";
import { freshDatabase } from "../../support/databases/test-database.ts";
import { openService, type TestService } from "../../support/worlds/service.ts";
import { askSmmApi, readAnswer } from "../../support/http/smm-client.ts";
import { sendRaw } from "../../support/http/raw.ts";
import { spawnServe } from "../../support/process.ts";
import { optionsOf } from "../../support/worlds/shop.ts";
import { freePort } from "../../support/ports.ts";

const LIMIT = 64 * 1024;
const INVALID_KEY = "Invalid API key";
const INCORRECT = "Incorrect request";
const SERVICE = "error.incorrect_service_id";
const FUNDS = "neworder.error.not_enough_funds";
const LINK = "neworder.error.link";
const MINIMUM = "neworder.error.min_quantity";
const MAXIMUM = "neworder.error.max_quantity";
const ORDER = "Incorrect order ID";

let service: TestService;
let keys: Record<"order" | "full" | "recharge" | "inactive" | "elsewhere" | "expired", string>;

beforeAll(async () => {
  service = await openService();
  service.user("anna", "1");
  service.user("bert", "1");
  service.service({ id: "followers", price: "1", min: 50, max: 100_000 });
  service.service({ id: "closed", price: "1" });
  service.run("setServiceActive", { id: "closed", active: false });
  service.service({ id: "private", price: "1", private: true });
  service.service({ id: "unsaid", price: "1", per: "order", min: 1, max: 2 });
  const inactive = service.key("anna", "full");
  service.run("setKeyActive", { id: inactive.id, active: false });
  const [elsewhere, expired] = [service.key("anna", "full"), service.key("anna", "full")];
  service.query("UPDATE keys SET allow = '192.0.2.0/24' WHERE id = ?", elsewhere.id);
  service.query("UPDATE keys SET created_at = 1, expires_at = 2 WHERE id = ?", expired.id);
  keys = {
    order: service.key("anna", "order").text,
    full: service.key("anna", "full").text,
    recharge: service.key("anna", "recharge").text,
    inactive: inactive.text,
    elsewhere: elsewhere.text,
    expired: expired.text,
  };
});

afterAll(() => service.stop());

const ask = (fields: Record<string, string>) => askSmmApi(service.url, fields);

async function expectWords(fields: Record<string, string>, error: string, status = 200) {
  const answer = await ask(fields);
  expect([answer.status, answer.text]).toEqual([status, JSON.stringify({ error })]);
  expect(answer.headers.get("content-type")).toBe("application/json");
  expect(answer.headers.get("x-request-id")).not.toBeNull();
}

const ADD = { action: "add", service: "1", link: "https://x.y", quantity: "100" };

describe("the key:", () => {
  test.each([["order"], ["full"]] as const)("an %s key may use it", async (name) => {
    expect((await ask({ key: keys[name], action: "balance" })).body.currency).toBe("USD");
  });

  test.each([["recharge"], ["inactive"], ["elsewhere"], ["expired"]] as const)(
    "a key that is %s gets the error of an unknown key",
    (name) => expectWords({ key: keys[name], ...ADD }, INVALID_KEY),
  );

  test.each([[{}], [{ key: "" }], [{ key: "rk_none" }]])("%j", (given) =>
    expectWords({ ...given, ...ADD }, INVALID_KEY),
  );

  test("is checked before the action", () => expectWords({ key: "x", action: "y" }, INVALID_KEY));

  test("is not taken from the header of /api/v1", async () => {
    const response = await fetch(`${service.url}/api/v2`, {
      method: "POST",
      headers: { "x-api-key": keys.full },
      body: new URLSearchParams({ action: "balance" }),
    });
    expect((await readAnswer(response)).body).toEqual({ error: INVALID_KEY });
  });
});

describe("the action:", () => {
  test.each([
    [""], ["Add"], ["__proto__"], ["Cancel"], ["refills"], ["refill-status"], ["toString"],
  ])("%j is an incorrect request", (action) => expectWords({ key: keys.order, action }, INCORRECT)); // prettier-ignore

  test("an absent one is an incorrect request", () => expectWords({ key: keys.order }, INCORRECT));
});

describe("add:", () => {
  const add = (changes: Record<string, string>, error: string) =>
    expectWords({ key: keys.order, ...ADD, ...changes }, error);

  test.each([
    [""],
    ["0"],
    ["-1"],
    ["1.5"],
    ["followers"],
    ["99"],
    ["2"],
    ["3"],
    ["4"],
    ["9".repeat(30)],
  ])("service %j is unknown, inactive, private to others or invalid", (id) =>
    add({ service: id }, SERVICE),
  );

  test.each([[""], ["a\u0007b"]])("link %j", (link) => add({ link }, LINK));

  test("a link that is not UTF-8 is refused, not changed", async () => {
    const body = `key=${keys.order}&action=add&service=1&quantity=100&link=caf%E9`;
    const response = await fetch(`${service.url}/api/v2`, {
      method: "POST",
      body,
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    expect((await readAnswer(response)).body).toEqual({ error: LINK });
  });

  test.each([[""], ["0"], ["49"], ["-100"], ["100.5"], ["1e3"], ["1,000"], ["many"]])(
    "quantity %j",
    (quantity) => add({ quantity }, MINIMUM),
  );

  test.each([["100001"], ["1000000001"], ["9".repeat(40)]])("quantity %j", (quantity) =>
    add({ quantity }, MAXIMUM),
  );

  test("too little balance", () => add({ quantity: "100000" }, FUNDS));

  test("an invalid reference", () => add({ reference: "x".repeat(65) }, INCORRECT));

  test("a reference that is not UTF-8 is refused: decoded, it would be that of another order", async () => {
    for (const reference of ["caf%E9", "caf%E8"]) {
      const body = `key=${keys.order}&action=add&service=1&quantity=100&link=x&reference=${reference}`;
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      const response = await fetch(`${service.url}/api/v2`, { method: "POST", body, headers });
      expect((await readAnswer(response)).body).toEqual({ error: INCORRECT });
    }
  });

  test("a reference that is a list is refused, not ignored", async () => {
    await expectWords({ key: keys.order, ...ADD, "reference[]": "mine" }, INCORRECT);
    for (const reference of [["mine"], { of: "mine" }, []]) {
      const response = await fetch(`${service.url}/api/v2`, {
        method: "POST",
        body: JSON.stringify({ key: keys.order, ...ADD, reference }),
      });
      expect((await readAnswer(response)).body).toEqual({ error: INCORRECT });
    }
  });

  test("only the first of several errors is reported: service, link, quantity, balance", async () => {
    await add({ service: "", link: "", quantity: "" }, SERVICE);
    await add({ link: "", quantity: "" }, LINK);
    await add({ quantity: "1000000" }, MAXIMUM);
  });

  test("nothing that was refused has changed anything", async () => {
    expect(service.query("SELECT order_id FROM orders")).toEqual([]);
    expect(service.balance("anna")).toBe(1_000_000);
  });
});

describe("status:", () => {
  test.each([
    [{}],
    [{ order: "" }],
    [{ order: "99" }],
    [{ order: "x" }],
    [{ orders: "" }],
    [{ orders: "," }],
  ])("%j", (given) => expectWords({ key: keys.order, action: "status", ...given }, ORDER));

  test("another reseller's order is as unknown as one that does not exist", async () => {
    const bert = service.key("bert", "order").text;
    const { order } = (await ask({ key: bert, ...ADD })).body;
    await expectWords({ key: keys.order, action: "status", order: String(order) }, ORDER);
    const { body } = await ask({
      key: keys.order,
      action: "status",
      orders: `${order},x,__proto__`,
    });
    const wrong = { error: ORDER };
    expect(Object.entries(body)).toEqual([
      [String(order), wrong],
      ["x", wrong],
      ["__proto__", wrong],
    ]);
  });

  test("at most 100 orders", async () => {
    const orders = (count: number) =>
      Array.from({ length: count }, (_, index) => 900 + index).join();
    const fields = { key: keys.order, action: "status" };
    expect(Object.keys((await ask({ ...fields, orders: orders(100) })).body)).toHaveLength(100);
    await expectWords({ ...fields, orders: orders(101) }, INCORRECT);
  });
});

describe("the request:", () => {
  test.each([
    ["JSON that ends early", "application/json", '{"key":"'],
    ["JSON that is a list", "application/json", "[]"],
    ["a form as JSON", "application/json", "key=x"],
    ["bytes that are not UTF-8", "application/x-www-form-urlencoded", new Uint8Array([0x6b, 0x3d, 0xff])],
    ["a multipart body without its boundary", "multipart/form-data; boundary=x", "key=x"],
    ["a file among the fields", "multipart/form-data; boundary=x",
      '--x\r\ncontent-disposition: form-data; name="key"; filename="k"\r\n\r\nabc\r\n--x--\r\n'],
  ])("%s cannot be read", async (_, type, body) => {
    const response = await fetch(`${service.url}/api/v2`, {
      method: "POST",
      body,
      headers: { "content-type": type },
    });
    expect(await readAnswer(response)).toMatchObject({ status: 200, body: { error: INCORRECT } });
  }); // prettier-ignore

  test.each(["/api/v2", "/api/v2/"])("%s: only POST, and never a redirect", async (path) => {
    for (const method of ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
      const query = `?key=${keys.full}&action=balance`;
      const answer = await readAnswer(
        await fetch(service.url + path + query, { method, redirect: "error" }),
      );
      expect([answer.status, answer.body]).toEqual([405, { error: INCORRECT }]);
      expect(answer.headers.get("allow")).toBe("POST");
    }
    const body = new URLSearchParams({ key: keys.full, action: "balance" });
    const answer = await fetch(service.url + path, { method: "POST", body, redirect: "error" });
    expect(answer.status).toBe(200);
  });

  test("64 KiB are read, one byte more is a 413, announced or not", async () => {
    const start = `key=${keys.full}&action=balance&pad=`;
    const body = start + "x".repeat(LIMIT - start.length);
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const send = async (text: string) =>
      readAnswer(await fetch(`${service.url}/api/v2`, { method: "POST", body: text, headers }));
    expect((await send(body)).body.currency).toBe("USD");
    expect(await send(`${body}x`)).toMatchObject({ status: 413, body: { error: INCORRECT } });
    const size = LIMIT.toString(16);
    const chunked = await sendRaw(
      service.url,
      `POST /api/v2 HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n` +
        `${size}\r\n${body}\r\n1\r\nx\r\n0\r\n\r\n`,
    );
    expect([chunked.status, chunked.body]).toEqual([413, { error: INCORRECT }]);
  });
});

test("whatever is sent, the response is one that the document foresees, and never a 500", async () => {
  const value = fc.oneof(
    fc.constantFrom(
      "1",
      "2",
      "",
      "0",
      "-1",
      "100",
      "services",
      "add",
      "status",
      "balance",
      "[1,2]",
      "[",
      "{}",
    ),
    fc.string({ unit: "binary" }),
    fc.integer(),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.array(fc.oneof(fc.integer(), fc.string(), fc.constant(null), fc.constant({}))),
    fc.constant({ a: 1 }),
  );
  const name = fc.constantFrom(
    "key", "action", "service", "link", "quantity", "reference", "order", "orders", "orders[]", "orders[0]", "__proto__",
  ); // prettier-ignore
  const request = fc.record({
    fields: fc.dictionary(name, value),
    how: fc.constantFrom("json", "form", "multipart", "query", "raw"),
    action: fc.constantFrom("services", "add", "status", "balance", undefined),
    raw: fc.uint8Array(),
  });
  await fc.assert(
    fc.asyncProperty(request, async ({ fields, how, action, raw }) => {
      const all = { ...fields, key: keys.order, ...(action && { action }) };
      const texts = Object.entries(all).map(([field, given]): [string, string] => [
        field,
        String(given),
      ]);
      const url = `${service.url}/api/v2`;
      const post = (
        body: string | Uint8Array<ArrayBuffer> | URLSearchParams | FormData,
        at = url,
        type?: string,
      ) => fetch(at, { method: "POST", body, ...(type && { headers: { "content-type": type } }) });
      const form = new FormData();
      for (const [field, given] of texts) form.append(field, given);
      const query = new URLSearchParams(texts).toString();
      const response = await {
        json: () => post(JSON.stringify(all), url, "application/json"),
        form: () => post(query, url, "application/x-www-form-urlencoded"),
        multipart: () => post(form),
        query: () => post("", `${url}?${query.slice(0, 8000)}`),
        raw: () => post(raw, `${url}?${query.slice(0, 8000)}`),
      }[how]();
      const answer = await readAnswer(response);
      expect(answer.status).toBe(200);
    }),
    { numRuns: 400 },
  );
});

describe("an error that keeps its HTTP status:", () => {
  test("429 over the key's rate, 429 for an address that tries keys, and nothing was changed", async () => {
    const limited = await openService({
      settings: { rateLimit: { requests: 1, milliseconds: 3_600_000 } },
    });
    limited.user("anna", "1");
    limited.service({ price: "1" });
    const key = limited.key("anna", "order").text;
    const answers = [];
    for (let time = 0; time < 3; time += 1)
      answers.push(await askSmmApi(limited.url, { key, ...ADD }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers[2]!.body).toEqual({ error: "Too many requests" });
    expect(Number(answers[2]!.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(limited.query("SELECT order_id FROM orders")).toHaveLength(2);
    let last = answers[0]!;
    for (let time = 0; time < 21; time += 1)
      last = await askSmmApi(limited.url, { key: "x", ...ADD });
    expect([last.status, last.body]).toEqual([429, { error: "Too many requests" }]);
    await limited.stop();
  });

  test("500 for an internal error", async () => {
    const broken = freshDatabase();
    broken.user("anna", "1");
    broken.service({ price: "1" });
    const key = broken.key("anna", "order").text;
    broken.breakUpdates(users, "1 = 1");
    const server = await openService({ database: broken });
    const answer = await askSmmApi(server.url, { key, ...ADD });
    expect([answer.status, answer.body]).toEqual([500, { error: "Internal server error" }]);
    await server.stop();
  });
});

test("the key is in no line of the log and no metric, wherever it was sent; the action and a refusal's code are", async () => {
  const database = freshDatabase();
  database.user("anna", "100");
  database.service({ price: "1" });
  const key = database.key("anna", "full").text;
  const mistyped = `${key.slice(0, -1)}${key.endsWith("a") ? "b" : "a"}`;
  const listen = `127.0.0.1:${freePort()}`;
  const options = [...optionsOf(database), "--log-level", "debug", "--metrics-listen", listen];
  const serve = await spawnServe(database.folder, ...options);
  const at = (path: string, init: RequestInit = {}) =>
    fetch(serve.url + path, { method: "POST", ...init }).then((response) => response.text());
  for (const each of [key, mistyped]) {
    const query = `key=${each}&action=balance`;
    await at(`/api/v2?${query}`);
    await at(`/api/v2/?${query}`);
    await at(`/api/v2?${query}`, { method: "GET" });
    await at(`/api/v2/${each}?${query}`);
    await at("/api/v2", { body: `{"key":"${each}"` });
    await at("/api/v2", { body: new URLSearchParams({ key: each, action: each }) });
    await at("/api/v2", {
      body: new URLSearchParams({ key: each, ...ADD, link: "", reference: each }),
    });
    await at(`/api/v2?${query}`, { headers: { "x-request-id": each } });
    await sendRaw(
      serve.url,
      `POST /api/v2?${query} HTTP/1.1\r\nhost: x\r\nbad header\r\nconnection: close\r\n\r\n`,
    ).catch(() => {});
  }
  await at("/api/v2", { body: new URLSearchParams({ key, ...ADD }) });
  const metrics = await (await fetch(`http://${listen}/metrics`)).text();
  const { stderr } = await serve.stop();
  const count = (name: string, labels: string) =>
    Number(new RegExp(`^${name}\\{[^}]*${labels}[^}]*\\} (\\d+)$`, "m").exec(metrics)?.[1]);
  const requestsOf = (route: string) =>
    count("reseller_http_request_duration_seconds_count", `route="${route}",status="200"`);
  expect([requestsOf("/api/v2 add"), requestsOf("/api/v2 balance")]).toEqual([3, 6]);
  expect(count("reseller_refusals_total", `code="field_missing"`)).toBe(1);
  expect(metrics).not.toContain(key);
  database.close();
  expect(stderr).not.toContain(key);
  expect(stderr).not.toContain(mistyped);
  const lines = stderr
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const requests = lines.filter(({ msg }) => msg === "request");
  const routes = new Set(requests.map(({ route }) => String(route)));
  const wanted = ["/api/v2", "/api/v2 add", "/api/v2 balance", "null"];
  expect([...routes].toSorted()).toEqual(wanted);
  expect(requests).toContainEqual(
    expect.objectContaining({ route: "/api/v2 add", status: 200, code: "field_missing" }),
  );
  expect(requests).toContainEqual(
    expect.objectContaining({ route: "/api/v2 balance", status: 200, code: "api_key_invalid" }),
  );
  const placed = requests.filter(
    ({ route, code }) => route === "/api/v2 add" && code === undefined,
  );
  expect(placed).toHaveLength(1);
});
