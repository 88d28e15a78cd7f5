// The error table, docs/specification/http.md#error-table, row by row.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Market, MARKER, seedMarket } from "../../support/seeds/market.ts";
import { expectRefusal, type Sent } from "../../support/http/refusal.ts";
import { openService } from "../../support/worlds/service.ts";

let market: Market;
let unordered: string;
let closed: string;
let secret: string;

beforeAll(async () => {
  market = seedMarket(await openService());
  closed = market.service({ name: "Closed" });
  market.run("setServiceActive", { id: closed, active: false });
  secret = market.service({ name: "Private", private: true });
  market.run("grantService", { id: secret, username: "bert", priceMicros: null });
  const sent = { service: market.serviceId, link: "x", quantity: 10 };
  const { body } = await market.call("POST", "/orders", market.keyOf("full", "all", "bert"), sent);
  unordered = body.order.id;
});

afterAll(() => market.stop());

/** The request of a row, made once the market is open. */
type Row = [title: string, status: number, message: string, sent: () => Sent];

const good = () => ({ service: market.serviceId, link: MARKER, quantity: 100 });
const order = (changes: object = {}): Sent => ({
  method: "POST",
  path: "/orders",
  key: market.keyOf("order"),
  body: { ...good(), ...changes },
});
const recharge = (changes: object = {}): Sent => ({
  method: "POST",
  path: "/recharge",
  key: market.keyOf("recharge"),
  body: { username: "cleo", amount: 1, ...changes },
});
const get = (path: string, key: string | null = market.keyOf("full")): Sent => ({
  method: "GET",
  path,
  key,
});

const ORDER_PERMISSION = "This API key does not have order permission";
const LOOKUP_PERMISSION = "This API key does not have user lookup permission";
const USERNAME_FORM = "username must be 1 to 64 of letters, digits and . _ - @ +";

const ROWS: Row[] = [
  ["header missing", 401, "X-API-Key header is required", () => get("/services", null)],
  [
    "header empty",
    401,
    "X-API-Key header is required",
    () => ({ ...get("/services", null), headers: { "x-api-key": "" } }),
  ],
  [
    "header blank",
    401,
    "X-API-Key header is required",
    () => ({ ...get("/services", null), headers: { "x-api-key": "  " } }),
  ],
  ["key unknown", 401, "Invalid API key", () => get("/balance", `rk_${MARKER}`)],
  [
    "key of another case",
    401,
    "Invalid API key",
    () => get("/balance", market.keyOf("full").toUpperCase()),
  ],
  ["key inactive", 403, "API key is inactive", () => get("/balance", market.inactiveKey)],
  [
    "no recharge permission",
    403,
    "This API key does not have recharge permission",
    () => ({ ...recharge(), key: market.keyOf("order") }),
  ],
  ["no order permission: services", 403, ORDER_PERMISSION, () => get("/services", rechargeKey())],
  ["no order permission: balance", 403, ORDER_PERMISSION, () => get("/balance", rechargeKey())],
  ["no order permission: order", 403, ORDER_PERMISSION, () => get("/orders/1", rechargeKey())],
  ["no order permission: POST", 403, ORDER_PERMISSION, () => ({ ...order(), key: rechargeKey() })],
  [
    "no look-up permission",
    403,
    LOOKUP_PERMISSION,
    () => get("/user?username=anna", market.keyOf("order")),
  ],
  [
    "look-up out of reach",
    403,
    "This API key may not access this user",
    () => get("/user?username=dora", market.keyOf("full", "children")),
  ],
  [
    "recharge out of reach",
    403,
    "This API key may not access this user",
    () => ({ ...recharge({ username: "dora" }), key: market.keyOf("full", "children") }),
  ],
  [
    "body not JSON",
    400,
    "Request body must be valid JSON",
    () => ({ ...order(), body: `{${MARKER}` }),
  ],
  ["body empty", 400, "Request body must be valid JSON", () => ({ ...order(), body: "" })],
  [
    "body an array",
    400,
    "Request body must be a JSON object",
    () => ({ ...order(), body: [MARKER] }),
  ],
  ["body null", 400, "Request body must be a JSON object", () => ({ ...order(), body: "null" })],
  ["service missing", 400, "service is required", () => order({ service: undefined })],
  ["link missing", 400, "link is required", () => order({ link: undefined })],
  ["quantity missing", 400, "quantity is required", () => order({ quantity: undefined })],
  ["username missing", 400, "username is required", () => recharge({ username: undefined })],
  ["amount missing", 400, "amount is required", () => recharge({ amount: undefined })],
  ["username missing: look-up", 400, "username is required", () => get("/user")],
  ["service empty", 400, "service must be a non-empty string", () => order({ service: "" })],
  ["service a number", 400, "service must be a non-empty string", () => order({ service: 5 })],
  [
    "link empty",
    400,
    "link must be 1 to 2048 characters without control characters",
    () => order({ link: "" }),
  ],
  [
    "quantity a text",
    400,
    "quantity must be a whole number",
    () => order({ quantity: `100${MARKER}` }),
  ],
  [
    "quantity 0",
    400,
    "quantity must be a whole number from 1 to 1000000000",
    () => order({ quantity: 0 }),
  ],
  ["username malformed", 400, USERNAME_FORM, () => recharge({ username: `${MARKER}!` })],
  ["username malformed: look-up", 400, USERNAME_FORM, () => get(`/user?username=${MARKER}!`)],
  ["amount 0", 400, "amount must be a positive number", () => recharge({ amount: 0 })],
  ["amount negative", 400, "amount must be a positive number", () => recharge({ amount: -1 })],
  ["amount a text", 400, "amount must be a positive number", () => recharge({ amount: "1" })],
  [
    "amount above the limit",
    400,
    "amount must be at most 1000000000",
    () => recharge({ amount: 1_000_000_000.000001 }),
  ],
  [
    "amount with seven decimals",
    400,
    "amount must be a number with at most six decimals",
    () => recharge({ amount: 1.0000001 }),
  ],
  [
    "amount past the balance's limit",
    400,
    "amount must be small enough to keep the balance at or below 9000000000",
    () => recharge({ username: "rich", amount: 0.000001 }),
  ],
  ["service unknown", 400, "Service not found", () => order({ service: MARKER })],
  ["service inactive", 400, "Service not found", () => order({ service: closed })],
  ["service another reseller's", 400, "Service not found", () => order({ service: secret })],
  ["quantity below min", 400, "Minimum order is 10", () => order({ quantity: 9 })],
  ["quantity above max", 400, "Maximum order is 10000", () => order({ quantity: 10_001 })],
  [
    "balance too low",
    400,
    "Insufficient balance",
    () => order({ service: costly(), quantity: 101 }),
  ],
  ["order unknown", 404, "Order not found", () => get("/orders/999")],
  ["order id malformed", 404, "Order not found", () => get(`/orders/${MARKER}`)],
  ["order another reseller's", 404, "Order not found", () => get(`/orders/${unordered}`)],
  ["order another reseller's number", 404, "Order not found", () => get("/orders/1")],
  ["username unknown", 404, "User not found", () => recharge({ username: MARKER })],
  ["path unknown", 404, "Not found", () => get(`/${MARKER}`)],
  ["path above the API", 404, "Not found", () => get("/../../x")],
  [
    "body over 64 KiB",
    413,
    "Request body too large",
    () => order({ link: MARKER.repeat(65_536 / MARKER.length) }),
  ],
  [
    "body not sent as JSON",
    415,
    "Content-Type must be application/json",
    () => ({ ...order(), headers: { "content-type": `text/${MARKER}` } }),
  ],
];

const rechargeKey = () => market.keyOf("recharge");
const costly = () => market.service({ name: "Costly", price: "1", per: "1" });

describe("a refusal returns its row, echoes nothing and changes nothing", () => {
  test.each(ROWS)("%s: %d %s", async (_title, status, message, sent) => {
    await expectRefusal(market, sent(), status, message);
  });

  test("an unknown username is 404 with `exists: false` when it is looked up", async () => {
    const sent = get(`/user?username=${MARKER}`);
    await expectRefusal(market, sent, 404, "User not found", { exists: false });
  });
});

describe("a known path returns 405 for another method, with the methods it has", () => {
  const METHODS = {
    GET: ["/services", "/orders/1", "/balance", "/transactions", "/user"],
    POST: ["/orders/batch", "/recharge"],
    "POST, GET": ["/orders"],
  };
  const OTHERS = ["PUT", "PATCH", "DELETE", "OPTIONS"];
  const rows = Object.entries(METHODS).flatMap(([allowed, paths]) =>
    paths.flatMap((path) => OTHERS.map((method) => [method, path, allowed] as const)),
  );
  const both = [
    ["POST", "/services", "GET"],
    ["POST", "/orders/1", "GET"],
    ["GET", "/recharge", "POST"],
  ] as const;

  test.each([...rows, ...both])("%s %s: Allow: %s", async (method, path, allowed) => {
    for (const key of [market.keyOf("full"), null]) {
      const answer = await expectRefusal(market, { method, path, key }, 405, "Method not allowed");
      expect(answer.headers.get("allow")).toBe(allowed);
    }
  });

  test("HEAD is a 405 too, without a body", async () => {
    const answer = await market.call("HEAD", "/services", market.keyOf("full"));
    expect([answer.status, answer.headers.get("allow"), answer.text]).toEqual([405, "GET", ""]);
  });
});
