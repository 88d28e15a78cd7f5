// How known clients of the protocol call it and read its replies, each told in our own words: a change that breaks one of
// them fails here.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { freshService, OPERATOR, type Body, type TestService } from "../support/service.ts";
import { readAnswer } from "../support/panels.ts";

/** What these clients say they are; some providers turn it away. */
const OLD_BROWSER = "Mozilla/4.0 (compatible; MSIE 5.01; Windows NT 5.0)";

let service: TestService;
let key: string;
let url: string;

beforeAll(async () => {
  service = await freshService();
  service.user("panel", "100");
  key = service.key("panel", "order").text;
  url = `${service.url}/api/v2`;
  service.service({ id: "followers", name: "Followers", price: "0.9", min: 50, max: 10_000 });
  service.service({ id: "pack", name: "Start pack", price: "4", per: "order", min: 500, max: 500 });
});

afterAll(() => service.stop());

const move = (
  order: number,
  to: "COMPLETED" | "PARTIAL" | "CANCELLED" | "FAILED",
  remains?: number,
) =>
  service.run("transitionOrder", {
    id: String(order),
    to,
    ...(remains === undefined ? {} : { remains }),
    note: null,
    actor: OPERATOR,
  });

async function post(
  body: string | URLSearchParams | FormData,
  headers: Record<string, string> = {},
  at = url,
): Promise<Body> {
  const response = await fetch(at, { method: "POST", body, headers, redirect: "error" });
  const answer = await readAnswer(response);
  // They read the body alone, and some treat any other status as no reply.
  expect(answer.status).toBe(200);
  return answer.body;
}

/** PHP's curl with its fields as one text. */
const form = (fields: Record<string, string>, headers = {}) =>
  post(new URLSearchParams(fields).toString(), {
    "content-type": "application/x-www-form-urlencoded",
    "user-agent": OLD_BROWSER,
    ...headers,
  });

/** PHP's curl with its fields as an array. */
function multipart(fields: Record<string, string>): Promise<Body> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  return post(body, { "user-agent": OLD_BROWSER });
}

const json = (fields: object, headers = {}) =>
  post(JSON.stringify(fields), { "content-type": "application/json", ...headers });

describe("SmartPanel", () => {
  test("adds the provider by its balance, and lists services as rows with a numeric id", async () => {
    const funds = await form({ key, action: "balance" });
    expect(Number.parseFloat(funds.balance)).toBeGreaterThan(0);
    expect(funds.currency).toBe("USD");
    const services = await form({ key, action: "services" });
    expect(Array.isArray(services)).toBe(true);
    for (const row of services) {
      expect(Number.isInteger(row.service)).toBe(true);
      expect([typeof row.rate, typeof row.min, typeof row.max]).toEqual([
        "string",
        "string",
        "string",
      ]);
      expect(row.type).toBeOneOf(["Default", "Package"]);
      expect(row.dripfeed).toBe(false);
      expect(row.name + row.category).not.toBe("");
    }
  });

  test("sends orders with fields that it has for every type, and takes the number where there is no error", async () => {
    const reply = await form({
      key,
      action: "add",
      service: "1",
      link: "https://example.com/a",
      quantity: "100",
      runs: "",
      interval: "",
      comments: "",
    });
    expect(reply.error).toBeUndefined();
    expect(Number.isInteger(reply.order)).toBe(true);
  });

  test("asks for many orders at once and finds each under its number", async () => {
    const orders: number[] = [];
    for (const link of ["a", "b", "c"]) {
      const { order } = await form({ key, action: "add", service: "1", link, quantity: "100" });
      orders.push(order);
    }
    const replies = await form({ key, action: "status", orders: orders.join(",") });
    for (const order of orders) {
      expect(replies[order].status).toBe("In progress");
      expect(Number(replies[order].remains)).toBe(100);
    }
  });
});

describe("CMSNT's SMMPANELV1 and SHOPCLONE6", () => {
  test("send the fields as an array, which makes multipart of them", async () => {
    const { order } = await multipart({
      key,
      action: "add",
      service: "1",
      link: "https://example.com/ü?a=1&b=2",
      quantity: "50",
    });
    const read = await service.call("GET", `/orders/${order}`, key);
    expect(read.body.order).toMatchObject({ link: "https://example.com/ü?a=1&b=2", quantity: 50 });
  });

  test("match the status word by case, and refund by remains", async () => {
    const { order } = await multipart({
      key,
      action: "add",
      service: "1",
      link: "x",
      quantity: "100",
    });
    const known = ["Pending", "In progress", "Completed", "Partial", "Canceled"];
    const statusNow = async () => {
      const reply = await multipart({ key, action: "status", order: String(order) });
      expect(known).toContain(reply.status);
      return reply;
    };
    expect((await statusNow()).status).toBe("In progress");
    move(order, "CANCELLED");
    const ended = await statusNow();
    // It gives back price ÷ quantity × remains: all of it.
    expect([ended.status, (9 / 100) * Number(ended.remains), ended.charge]).toEqual([
      "Canceled",
      9,
      "0",
    ]);
  });

  test("keep the order queued where the words for no funds come, and give it up on all others", async () => {
    const isKept = (reply: Body) => reply.error === "neworder.error.not_enough_funds";
    service.user("poor", "0.001");
    const poor = service.key("poor", "order").text;
    const fields = { action: "add", service: "1", link: "x", quantity: "100" };
    expect(isKept(await multipart({ ...fields, key: poor }))).toBe(true);
    expect(isKept(await multipart({ ...fields, key, quantity: "1" }))).toBe(false);
  });
});

describe("EGF", () => {
  test("takes a reply with any other member than `order` for a failure", async () => {
    const reply = await form({ key, action: "add", service: "1", link: "x", quantity: "100" });
    expect(Object.keys(reply)).toEqual(["order"]);
  });

  test("never looks again at an order that is unknown: one that exists never is", async () => {
    const { order } = await form({ key, action: "add", service: "1", link: "x", quantity: "100" });
    for (const to of ["COMPLETED", undefined] as const) {
      if (to) move(order, to);
      expect(await form({ key, action: "status", order: String(order) })).not.toHaveProperty(
        "error",
      );
    }
  });
});

describe("smmdoc", () => {
  test("sends JSON with numbers, and the key in the body", async () => {
    const { order } = await json({
      key,
      action: "add",
      service: 1,
      link: "https://x.y",
      quantity: 100,
    });
    expect(order).toBeInteger();
    const reply = await json({ key, action: "status", orders: [order, 999_999] });
    expect(reply).toEqual({
      [order]: {
        charge: "0.09",
        start_count: "0",
        status: "In progress",
        remains: "100",
        currency: "USD",
      },
      999999: { error: "Incorrect order ID" },
    });
  });

  test("and as strings", async () => {
    const fields = { key, action: "add", service: "1", link: "https://x.y", quantity: "100" };
    expect((await json(fields)).order).toBeInteger();
  });
});

describe("BerkanYesilyurt's SMM-Panel", () => {
  test("has the key and the action in the query and the rest in the body", async () => {
    const query = new URLSearchParams({ key, action: "add", quantity: "7" }).toString();
    const body = new URLSearchParams({ service: "1", link: "x", quantity: "120" });
    const { order } = await post(body, {}, `${url}?${query}`);
    expect((await service.call("GET", `/orders/${order}`, key)).body.order.quantity).toBe(120);
  });

  test("has everything in the query, and no body", async () => {
    const query = new URLSearchParams({ key, action: "balance" }).toString();
    expect((await post("", {}, `${url}/?${query}`)).currency).toBe("USD");
  });

  test("reads charge, start count and remains as decimals, none of them empty", async () => {
    const { order } = await form({ key, action: "add", service: "1", link: "x", quantity: "333" });
    move(order, "PARTIAL", 111);
    const reply = await form({ key, action: "status", order: String(order) });
    expect(reply).toEqual({
      charge: "0.1998",
      start_count: "0",
      status: "Partial",
      remains: "111",
      currency: "USD",
    });
    for (const name of ["charge", "start_count", "remains"])
      expect(reply[name]).toMatch(/^\d+(\.\d+)?$/);
  });

  test("takes Partial with nothing left for a cancellation, so that it is told Completed", async () => {
    const { order } = await form({ key, action: "add", service: "1", link: "x", quantity: "100" });
    move(order, "PARTIAL", 0);
    const reply = await form({ key, action: "status", order: String(order) });
    expect(reply).toMatchObject({ status: "Completed", remains: "0", charge: "0.09" });
  });
});

describe("smm-panel-qa-bot", () => {
  test("orders a package without a quantity", async () => {
    const listed = (await json({ key, action: "services" })).find(
      (row: Body) => row.type === "Package",
    );
    expect(listed).toMatchObject({ rate: "4", min: "500", max: "500" });
    const before = service.balance("panel");
    const { order } = await json({
      key,
      action: "add",
      service: listed.service,
      link: "https://x.y",
    });
    expect(before - service.balance("panel")).toBe(4_000_000);
    expect(await json({ key, action: "status", order })).toMatchObject({
      charge: "4",
      remains: "500",
    });
  });

  test("sends JSON without saying so", async () => {
    const text = JSON.stringify({ key, action: "balance" });
    expect((await post(text, { "content-type": "text/plain" })).currency).toBe("USD");
    const type = { "content-type": "application/x-www-form-urlencoded" };
    expect((await post(text, type)).currency).toBe("USD");
  });
});

describe("others", () => {
  test("send a list as PHP writes it in a form", async () => {
    const { order } = await form({ key, action: "add", service: "1", link: "x", quantity: "100" });
    for (const name of ["orders[]", "orders[0]"]) {
      const replies = await form({ key, action: "status", [name]: String(order) });
      expect(replies[order].status).toBe("In progress");
    }
    const asJson = await form({ key, action: "status", orders: JSON.stringify([order]) });
    expect(asJson[order].status).toBe("In progress");
  });

  test("place one order for a reference, whatever else they send with it again", async () => {
    const fields = { key, action: "add", service: "1", link: "x", quantity: "100" };
    const first = await form({ ...fields, reference: "mine-1" });
    const before = service.balance("panel");
    for (const changes of [
      {},
      { quantity: "200" },
      { service: "99" },
      { link: "", quantity: "" },
    ]) {
      expect(await form({ ...fields, reference: "mine-1", ...changes })).toEqual(first);
    }
    const many = await Promise.all(
      Array.from({ length: 8 }, () => form({ ...fields, reference: "mine-2" })),
    );
    expect(new Set(many.map(({ order }) => order)).size).toBe(1);
    expect(before - service.balance("panel")).toBe(90_000);
  });
});
