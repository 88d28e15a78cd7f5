// How known clients of the protocol call it and read its replies, each told in our own words: a change that breaks one of
// them fails here.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openService, type TestService } from "../../support/worlds/service.ts";
import { OPERATOR } from "../../support/databases/test-database.ts";
import type { Body } from "../../support/http/api.ts";
import { readAnswer } from "../../support/http/smm-client.ts";

/** What these clients say they are; some providers turn it away. */
const OLD_BROWSER = "Mozilla/4.0 (compatible; MSIE 5.01; Windows NT 5.0)";

let service: TestService;
let key: string;
let url: string;

beforeAll(async () => {
  service = await openService();
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
  // They read only the body, and some treat any other status as no reply.
  expect(answer.status).toBe(200);
  return answer.body;
}

/** PHP's curl with its fields as one text: SmartPanel and its descendants, SHOPCLONE6 among them. */
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

/** Laravel's HTTP client, which sends JSON unless it is told otherwise. */
const json = (fields: object, headers = {}) =>
  post(JSON.stringify(fields), { "content-type": "application/json", ...headers });

const place = async (quantity = "100"): Promise<number> =>
  (await form({ key, action: "add", service: "1", link: "https://x.y", quantity })).order;

describe("SmartPanel", () => {
  test("adds the provider by its balance, and lists services as rows with a numeric id", async () => {
    const funds = await form({ key, action: "balance" });
    expect(Number.parseFloat(funds.balance)).toBeGreaterThan(0);
    expect(funds.currency).toBe("USD");
    const services = await form({ key, action: "services" });
    expect(Array.isArray(services)).toBe(true);
    for (const row of services) {
      expect(Number.isInteger(row.service)).toBe(true);
      expect(row.type).toBeOneOf(["Default", "Package"]);
      expect(row.dripfeed).toBe(false);
      expect(row.name + row.category).not.toBe("");
    }
  });

  test("sends the fields of every type, and reads the order number when there is no error", async () => {
    const fields = { service: "1", link: "https://example.com/a", quantity: "100" };
    const reply = await form({
      key,
      action: "add",
      ...fields,
      runs: "",
      interval: "",
      comments: "",
    });
    expect(reply.error).toBeUndefined();
    expect(Number.isInteger(reply.order)).toBe(true);
  });

  test("is never redirected, because it would follow as a GET: the URL answers with and without a trailing slash", async () => {
    for (const at of [url, `${url}/`]) {
      const body = new URLSearchParams({ key, action: "balance" });
      expect((await post(body, {}, at)).currency).toBe("USD");
    }
  });

  test("knows these status words and no other spelling", async () => {
    const known = ["Completed", "In progress", "Partial", "Canceled", "Refunded", "Pending"];
    for (const to of [undefined, "COMPLETED", "PARTIAL", "CANCELLED", "FAILED"] as const) {
      const order = await place();
      if (to) move(order, to, to === "PARTIAL" ? 10 : undefined);
      expect(known).toContain((await form({ key, action: "status", order: String(order) })).status);
    }
  });
});

describe("CMSNT's SMMPANELV1", () => {
  test("asks for many orders at once, finds each by its number, and fails one whose row has an error or no status", async () => {
    const orders = [await place(), await place(), await place()];
    move(orders[1]!, "COMPLETED");
    const replies = await form({ key, action: "status", orders: orders.join(",") });
    expect(Object.keys(replies)).toEqual(orders.map(String));
    for (const row of Object.values<Body>(replies)) {
      expect(row.error).toBeUndefined();
      expect(row.status.toLowerCase()).toBeOneOf(["in progress", "completed"]);
      // It shows quantity less remains as delivered.
      expect(Number.isInteger(Number.parseInt(row.remains, 10))).toBe(true);
    }
  });

  test("refunds what remains of a cancelled order: all of it", async () => {
    const order = await place();
    move(order, "CANCELLED");
    const { [order]: row } = await form({ key, action: "status", orders: String(order) });
    expect([row.status, (9 / 100) * Number.parseInt(row.remains, 10), row.charge]).toEqual([
      "Canceled",
      9,
      "0",
    ]);
  });

  test("treats Partial with no remains as Completed", async () => {
    const order = await place();
    move(order, "PARTIAL", 0);
    const { [order]: row } = await form({ key, action: "status", orders: String(order) });
    expect(row).toMatchObject({ status: "Completed", remains: "0", charge: "0.09" });
  });
});

describe("SHOPCLONE6", () => {
  test("keeps the order queued on the text for no funds, and gives up on any other error", async () => {
    const isKept = (reply: Body) => reply.error === "neworder.error.not_enough_funds";
    service.user("poor", "0.001");
    const poor = service.key("poor", "order").text;
    const fields = { action: "add", service: "1", link: "x", quantity: "100" };
    expect(isKept(await form({ ...fields, key: poor }))).toBe(true);
    expect(isKept(await form({ ...fields, key, quantity: "1" }))).toBe(false);
  });
});

describe("EGF", () => {
  /** It compares the members of a reply with those of one that its operator pasted. */
  const isSuccess = (reply: Body, wanted: object) =>
    Object.keys(reply).every((name) => name in wanted);

  test("treats a reply with any member besides `order` as a failure, and sends the order again", async () => {
    const reply = await form({ key, action: "add", service: "1", link: "x", quantity: "100" });
    expect(isSuccess(reply, { order: 1 })).toBe(true);
  });

  test("compares the members of a status too, and reads the words without regard to case", async () => {
    const pasted = { charge: "", start_count: "", status: "", remains: "", currency: "" };
    for (const to of [undefined, "PARTIAL"] as const) {
      const order = await place();
      if (to) move(order, to, 40);
      const reply = await form({ key, action: "status", order: String(order) });
      expect(isSuccess(reply, pasted)).toBe(true);
      expect(reply.status.toUpperCase()).toBe(to ?? "IN PROGRESS");
      if (to) expect(Number(reply.remains)).toBeGreaterThan(0);
    }
  });
});

describe("smmdoc", () => {
  const headers = { "content-type": "application/x-www-form-urlencoded" };

  test("leaves out the quantity of a package, and expects a status of 2xx, no error and an order", async () => {
    const listed = (await form({ key, action: "services" })).find(
      (row: Body) => row.type === "Package",
    );
    expect(listed).toMatchObject({ rate: "4", min: "500", max: "500" });
    const before = service.balance("panel");
    const fields = { key, action: "add", service: String(listed.service), link: "https://x.y" };
    const reply = await post(new URLSearchParams(fields).toString(), headers);
    expect(reply.error).toBeUndefined();
    expect(reply.order).toBeTruthy();
    expect(before - service.balance("panel")).toBe(4_000_000);
  });

  test("stores charge, start count and remains as numbers: none of them is empty", async () => {
    const order = await place("333");
    move(order, "PARTIAL", 111);
    const reply = await form({ key, action: "status", order: String(order) });
    expect(reply).toEqual({
      charge: "0.1998",
      start_count: "0",
      status: "Partial",
      remains: "111",
      currency: "USD",
    });
  });

  test("may be set to JSON with strings", async () => {
    const fields = { key, action: "add", service: "1", link: "https://x.y", quantity: "100" };
    expect((await json(fields)).order).toBeInteger();
  });
});

describe("BerkanYesilyurt's SMM-Panel", () => {
  test("sends JSON with numbers, and expects a status of 2xx with `order`, `status` or `balance`", async () => {
    const accept = { accept: "application/json" };
    const fields = { key, action: "add", service: 1, link: "https://x.y", quantity: 100 };
    const { order } = await json(fields, accept);
    expect(order).toBeInteger();
    expect((await json({ key, action: "status", order }, accept)).status).toBe("In progress");
    expect((await json({ key, action: "balance" }, accept)).balance).toMatch(/^\d+(\.\d+)?$/);
  });
});

describe("smm-panel-qa-bot", () => {
  test("checks the type of every member", async () => {
    for (const row of await form({ key, action: "services" })) {
      const { service: id, name, type, category, rate, min, max, refill, cancel } = row;
      expect(id).toBeInteger();
      for (const text of [name, type, category, rate, min, max]) expect(text).toBeString();
      expect([refill, cancel]).toEqual([false, false]);
    }
    const order = await place();
    expect(order).toBeInteger();
    const replies = await form({ key, action: "status", orders: `${order},999999` });
    expect(replies[999999]).toEqual({ error: "Incorrect order ID" });
    for (const name of ["charge", "start_count", "status", "remains", "currency"]) {
      expect(replies[order][name]).toBeString();
    }
    const funds = await form({ key, action: "balance" });
    expect([funds.balance, funds.currency]).toEqual([expect.any(String), "USD"]);
  });
});

describe("others", () => {
  test("give PHP's curl the fields as an array, which makes multipart of them", async () => {
    const fields = { service: "1", link: "https://example.com/ü?a=1&b=2", quantity: "50" };
    const { order } = await multipart({ key, action: "add", ...fields });
    const read = await service.call("GET", `/orders/${order}`, key);
    expect(read.body.order).toMatchObject({ link: "https://example.com/ü?a=1&b=2", quantity: 50 });
    expect((await multipart({ key, action: "status", order: String(order) })).status).toBe(
      "In progress",
    );
  });

  test("have the key and the action in the query and the rest in the body, which wins", async () => {
    const query = new URLSearchParams({ key, action: "add", quantity: "7" }).toString();
    const body = new URLSearchParams({ service: "1", link: "x", quantity: "120" });
    const { order } = await post(body, {}, `${url}?${query}`);
    expect((await service.call("GET", `/orders/${order}`, key)).body.order.quantity).toBe(120);
    const inJson = await post(
      JSON.stringify({ service: 1, link: "x", quantity: 60 }),
      {},
      `${url}?${query}`,
    );
    expect(inJson.order).toBeInteger();
  });

  test("have everything in the query, and no body", async () => {
    const query = new URLSearchParams({ key, action: "balance" }).toString();
    expect((await post("", {}, `${url}/?${query}`)).currency).toBe("USD");
  });

  test("send JSON without its content type", async () => {
    const text = JSON.stringify({ key, action: "balance" });
    for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
      expect((await post(text, { "content-type": type })).currency).toBe("USD");
    }
  });

  test("send a list as PHP writes it in a form, or as JSON", async () => {
    const order = await place();
    for (const name of ["orders[]", "orders[0]"]) {
      const replies = await form({ key, action: "status", [name]: String(order) });
      expect(replies[order].status).toBe("In progress");
    }
    const asText = await form({ key, action: "status", orders: JSON.stringify([order]) });
    expect(asText[order].status).toBe("In progress");
    const asList = await json({ key, action: "status", orders: [order, 999_999] });
    expect(Object.keys(asList)).toEqual([String(order), "999999"]);
  });

  test("get an order for each reference that is a number, however long", async () => {
    const place = async (reference: string) => {
      const fields = `"key":"${key}","action":"add","service":1,"link":"x","quantity":50`;
      return (await post(`{${fields},"reference":${reference}}`)).order;
    };
    const first = await place("1890123456789012345");
    expect(await place("1890123456789012346")).not.toBe(first);
    expect(await place("1890123456789012345")).toBe(first);
    expect(await place('"1890123456789012345"')).toBe(first);
  });

  test("get the statuses of a list that PHP wrote as an object", async () => {
    const [first, second] = [await place(), await place()];
    const orders = { 1: first, 4: String(second) };
    const asked = { key, action: "status" };
    const statuses = await json({ ...asked, orders });
    expect(Object.keys(statuses)).toEqual([String(first), String(second)]);
    expect(Object.values<Body>(statuses).map(({ status }) => status)).toEqual([
      "In progress",
      "In progress",
    ]);
    expect(await form({ ...asked, orders: JSON.stringify(orders) })).toEqual(statuses);
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
