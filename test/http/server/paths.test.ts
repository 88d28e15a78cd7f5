// Paths and ids: decoded once and parsed strictly, whatever bytes a client sends.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Market, MARKER, seedMarket } from "../../support/seeds/market.ts";
import { exchangeRaw, rawRequest, sendRaw } from "../../support/http/raw.ts";
import { expectEnvelope, expectError } from "../../support/http/refusal.ts";
import type { Answer, Body } from "../../support/http/api.ts";
import { openService } from "../../support/worlds/service.ts";

let market: Market;
let order: Body;

beforeAll(async () => {
  market = seedMarket(await openService());
  const fields = { service: market.serviceId, link: "x", quantity: 10 };
  order = (await market.call("POST", "/orders", market.keyOf("full"), fields)).body.order;
});
afterAll(() => market.stop());

const get = (target: string, ...headers: string[]): Promise<Answer> =>
  sendRaw(
    market.url,
    rawRequest("GET", target, [`x-api-key: ${market.keyOf("full")}`, ...headers]),
  );

/** Every byte of the text as %xx. */
const escape = (text: string) => Buffer.from(text).toString("hex").replace(/../g, "%$&");

describe("an order is found by", () => {
  test.each([
    ["its number", () => `orders/${order.orderId}`],
    ["its cuid", () => `orders/${order.id}`],
    ["its number, escaped", () => `orders/${escape(String(order.orderId))}`],
    ["its cuid, escaped", () => `orders/${escape(order.id)}`],
    ["its number under an escaped path", () => `%6frders/${order.orderId}`],
    ["its number, whatever the query", () => `orders/${order.orderId}?id=999&${MARKER}`],
  ])("%s", async (_title, path) => {
    const answer = await get(`/api/v1/${path()}`);
    expect([answer.status, answer.body.order?.id]).toEqual([200, order.id]);
  });
});

describe("is Order not found:", () => {
  test.each([
    ["a number with a leading zero", "01"],
    ["a number with a space", "1%20"],
    ["a space", "%20"],
    ["a NUL", "1%00"],
    ["digits of another script", "%D9%A1"],
    ["an escape inside an escape", "%2531"],
    ["an escape that is cut off", "%"],
    ["an escape that is not hexadecimal", `%zz${MARKER}`],
    ["an escape that is not UTF-8", "%E0%A4"],
    ["a cuid nobody has", "a".repeat(24)],
    ["SQL", "1%27%20OR%201=1"],
    ["ten thousand characters", MARKER.repeat(1000)],
  ])("%s", async (_title, id) => {
    const answer = await get(`/api/v1/orders/${id}`);
    expectError(answer, 404, "Order not found");
    expectEnvelope(answer);
  });
});

describe("is Not found, with a key or without:", () => {
  test.each([
    ["an empty order id", "/api/v1/orders/"],
    ["something below an order", "/api/v1/orders/1/x"],
    ["a slash at the end", "/api/v1/services/"],
    ["an escaped slash at the end", "/api/v1/services%2F"],
    ["a doubled slash", "/api/v1//services"],
    ["another version", "/api/v2/services"],
    ["another case", "/api/v1/Services"],
    ["no version", "/services"],
    ["an escape that is not UTF-8 in front of an id", `/api/v1/%FFrders/${MARKER}`],
  ])("%s", async (_title, target) => {
    for (const headers of [[], [`x-api-key: ${market.keyOf("full")}`]]) {
      const answer = await sendRaw(market.url, rawRequest("GET", target, headers));
      expectError(answer, 404, "Not found");
      expectEnvelope(answer);
    }
  });
});

describe("a Host header of any form changes no response:", () => {
  const HOSTS = ["a", "", "a b", "[::1]", "x:99999", "ü", "a/b", "a#b", `${MARKER}`];
  const TARGETS: [target: string, status: number][] = [
    ["/api/v1/user?username=anna", 200],
    ["/api/v1/services", 200],
    ["/api/v1/nowhere", 404],
    ["/api/v1/%zz", 404],
  ];
  test.each(HOSTS)("%j", async (host) => {
    for (const [target, status] of TARGETS) {
      const request = rawRequest("GET", target, [`x-api-key: ${market.keyOf("full")}`]);
      const answer = await sendRaw(market.url, request.replace("host: localhost", `host: ${host}`));
      expect([target, answer.status]).toEqual([target, status]);
      expectEnvelope(answer);
    }
  });
});

test.each(["a", "api", "db:1", "localhost"])(
  "Host: %s finds every method and every escaped path",
  async (host) => {
    for (const [method, target, status] of [
      ["PUT", "/api/v1/balance", 405],
      ["GET", "/api/v1/%62alance", 200],
      ["GET", "/api/v1/orders/%62atch", 404],
      ["POST", "/api/v1/orders/%62atch", 415],
    ] as const) {
      const request = rawRequest(method, target, [`x-api-key: ${market.keyOf("full")}`]);
      const answer = await sendRaw(market.url, request.replace("host: localhost", `host: ${host}`));
      expect([target, answer.status]).toEqual([target, status]);
    }
  },
);

describe("GET /user reads its query strictly:", () => {
  test.each([
    ["username=anna", 200, "anna"],
    ["username=ANNA", 200, "anna"],
    ["username=%61nna", 200, "anna"],
    ["x=?&username=anna", 200, "anna"],
    ["username=%2561nna", 400, "username must be"],
    ["username=anna%00", 400, "username must be"],
    ["username=%FF", 400, "username must be"],
    ["username=", 400, "username must be"],
    ["username", 400, "username must be"],
    ["username=.-_%40%2B", 404, "User not found"],
    ["Username=anna", 400, "username is required"],
    ["", 400, "username is required"],
  ])("?%s: %d %s", async (query, status, text) => {
    const answer = await get(`/api/v1/user?${query}`);
    expect(answer.status).toBe(status);
    expect(answer.body.user?.username ?? answer.body.message).toStartWith(text);
  });
});

test("pipelined reads all get their responses, in order", async () => {
  const key = `x-api-key: ${market.keyOf("full")}`;
  const requests = Array.from({ length: 20 }, (_, id) => {
    const head = rawRequest("GET", "/api/v1/balance", [key, `x-request-id: ${id}`]);
    return id < 19 ? head.replace("connection: close\r\n", "") : head;
  });
  const text = await exchangeRaw(market.url, requests.join(""));
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
  expect(statuses).toEqual(requests.map(() => "200"));
  const ids = [...text.matchAll(/^x-request-id: (.*)\r$/gim)].map(([, id]) => id);
  expect(ids).toEqual(requests.map((_, id) => String(id)));
});

describe("x-request-id is", () => {
  const OURS = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
  test.each([
    ["the caller's", "a"],
    ["the caller's", "A.b_c-9"],
    ["the caller's", "9".repeat(128)],
  ])("%s: %j", async (_title, id) => {
    for (const target of ["/api/v1/services", "/api/v1/nowhere"]) {
      const answer = await get(target, `x-request-id: ${id}`);
      expect(answer.headers.get("x-request-id")).toBe(id);
    }
  });
  test("each caller's own, with 200 of them at once", async () => {
    const targets = ["balance", `orders/${order.id}`, "services", "nowhere"];
    const ids = Array.from({ length: 200 }, (_, id) => `at-once-${id}`);
    const answers = await Promise.all(
      ids.map((id, n) => get(`/api/v1/${targets[n % 4]}`, `x-request-id: ${id}`)),
    );
    expect(answers.map(({ headers }) => headers.get("x-request-id"))).toEqual(ids);
    expect(answers.map(({ status }) => status)).toEqual(ids.map((_, n) => (n % 4 < 3 ? 200 : 404)));
    expect(answers[0]!.body).toHaveProperty("balance");
    expect(answers[1]!.body.order.id).toBe(order.id);
    expect(answers[2]!.body).toHaveProperty("services");
  });
  test.each([
    ["ours when the caller's is", ["x-request-id:"]],
    ["ours when the caller's is", [`x-request-id: ${"9".repeat(129)}`]],
    ["ours when the caller's is", ["x-request-id: a b"]],
    ["ours when the caller's is", ["x-request-id: a/b"]],
    ["ours when the caller's is", ["x-request-id: é"]],
    ["ours when the caller's is", ['x-request-id: "a"']],
    ["ours when there are two,", ["x-request-id: a", "x-request-id: b"]],
    ["ours when there is none", []],
  ])("%s %j", async (_title, headers) => {
    const first = (await get("/api/v1/services", ...headers)).headers.get("x-request-id")!;
    const second = (await get("/api/v1/nowhere", ...headers)).headers.get("x-request-id")!;
    expect(first).toMatch(OURS);
    expect(second).toMatch(OURS);
    expect(first).not.toBe(second);
  });
});
