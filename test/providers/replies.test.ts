// Replies to `status`, `services` and `balance`, with every deviation seen in the field; and what is masked.

import { describe, expect, test } from "bun:test";
import type { Reply } from "../../src/providers/call.ts";
import { smmApi } from "../../src/providers/smm-api.ts";

const KEY = "s3cret/key+value=";
const never = new AbortController().signal;
const sent: Record<string, string>[] = [];

function api(json: unknown, status = 200) {
  return smmApi((form): Promise<Reply> => {
    sent.push(form);
    return Promise.resolve({ kind: "json", status, json });
  }, KEY);
}

/** The message of a rejection; fails when there is none. */
async function failureOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => {
      throw new Error("it did not fail");
    },
    (error: Error) => error.message,
  );
}

async function reportOf(entry: unknown) {
  const answer = await api({ "1": entry, "2": { status: "Completed" } }).status(["1", "2"], never);
  if (!("reports" in answer)) throw new Error(answer.failed);
  // Whatever the one entry is, the other is read.
  expect(answer.reports.get("2")).toMatchObject({ word: "Completed" });
  return answer.reports.get("1");
}

describe("an entry", () => {
  test.each([
    [{ status: "Partial", start_count: "3572", remains: "157" }, "Partial", 3572, 157],
    [{ status: "In-progress", start_count: 3572, remains: 157 }, "In-progress", 3572, 157],
    [
      { status: "Canceled", start_count: " 12 ", remains: "0", charge: "0.27819" },
      "Canceled",
      12,
      0,
    ],
    [{ status: "Pending", remains: "Unknown" }, "Pending", null, null],
    [{ status: "Pending", remains: -3, start_count: "-1" }, "Pending", null, null],
    [{ status: "Pending", remains: 1.5, start_count: "1e3" }, "Pending", null, null],
    [{ status: "Pending", remains: null, start_count: {} }, "Pending", null, null],
    [{ status: 3, remains: 5 }, null, null, null],
    [{ status: null }, null, null, null],
    [{ error: "Incorrect order ID" }, null, null, null],
    [{ status: "error", error: "Incorrect order ID" }, null, null, null],
    [{ status: "fail", message: "Too many requests" }, null, null, null],
    [{ status: "Completed", error: "Invalid API key" }, null, null, null],
    [{ status: "Completed", message: "thank you", remains: 0 }, "Completed", null, 0],
    [{ status: "Error", error: null }, "Error", null, null],
    [{ status: `Completed${" ".repeat(60)}not really` }, null, null, null],
    ["Completed", null, null, null],
    [null, null, null, null],
    [[], null, null, null],
  ])("%j", async (entry, word, startCount, remains) => {
    expect(await reportOf(entry)).toMatchObject({ word, startCount, remains });
  });

  test("that is missing is reported as missing", async () => {
    const answer = await api({ "2": { status: "Completed" } }).status(["1", "2"], never);
    expect("reports" in answer && answer.reports.get("1")).toMatchObject({ word: null });
  });
});

describe("an order is denied", () => {
  const isDenied = async (entry: unknown) => {
    const report = await reportOf(entry);
    return [report!.word, report!.isDenied ?? false];
  };

  test.each([
    "Incorrect order ID",
    "Invalid order id.",
    "Wrong order",
    "Order not found",
    "The order 17 was not found",
    "order does not exist",
    "No such order",
    "orders.error.incorrect_order_id",
    "order.not_found",
  ])("by the error %j", async (error) => {
    expect(await isDenied({ error })).toEqual([null, true]);
    expect(await isDenied(error)).toEqual([null, true]);
    expect(await isDenied({ status: "fail", message: error })).toEqual([null, true]);
  });

  test.each([
    { error: "Too many order requests, try again later" },
    { error: "Order status is temporarily unavailable" },
    { error: "Incorrect order ID: access limit reached" },
    { error: "Invalid API key" },
    { error: "Incorrect request" },
    { error: "order" },
    { error: 5 },
    { status: 3 },
    { status: "Completed" },
    { order: "not found" },
    null,
    [],
  ])("not by %j", async (entry) => {
    const report = await reportOf(entry);
    expect(report!.isDenied).toBeUndefined();
  });

  test("not by a reply that omits it", async () => {
    const answer = await api({ "2": { status: "Completed" } }).status(["1", "2"], never);
    const report = "reports" in answer ? answer.reports.get("1")! : null;
    expect(report).toMatchObject({ isUnrecognized: true });
    expect(report!.isDenied).toBeUndefined();
  });
});

test("one order is polled by `order`, many by `orders`", async () => {
  const one = await api({ status: "Pending" }).status(["9"], never);
  expect(sent.at(-1)).toEqual({ key: KEY, action: "status", order: "9" });
  expect("reports" in one && one.reports.get("9")).toMatchObject({ word: "Pending" });
  const keyed = await api({ "9": { status: "Pending" } }).status(["9"], never);
  expect("reports" in keyed && keyed.reports.get("9")).toMatchObject({ word: "Pending" });
  await api({}).status(["9", "10"], never);
  expect(sent.at(-1)).toEqual({ key: KEY, action: "status", orders: "9,10" });
});

test.each([
  [[]],
  ["Invalid"],
  [null],
  [{ error: "Invalid API key" }],
  [{}],
  [{ "77": { status: "Completed" } }],
])("a bulk reply of %j says nothing about any order", async (json) => {
  expect(await api(json).status(["1", "2"], never)).toMatchObject({ answered: true });
});

test.each([400, 401, 500, 503])("HTTP %d gives no order a status", async (status) => {
  const answer = await api({ status: "Error" }, status).status(["1"], never);
  expect(answer).toEqual({ failed: `HTTP ${status}`, answered: true });
});

test.each(["not_sent", "unanswered", "unreadable"] as const)(
  "a call that is %s fails",
  async (failure) => {
    const failing = smmApi(() => Promise.resolve({ kind: "failure", failure, cause: "why" }), KEY);
    const answered = failure === "unreadable";
    expect(await failing.status(["1", "2"], never)).toEqual({ failed: "why", answered });
    expect(await failureOf(failing.balance(never))).toContain("why");
    expect(await failureOf(failing.services(never))).toContain("why");
  },
);

describe("balance", () => {
  test.each([
    [
      { balance: "100.84292", currency: "USD" },
      { balance: 100.84292, currency: "USD" },
    ],
    [
      { balance: 5, currency: "EUR" },
      { balance: 5, currency: "EUR" },
    ],
    [{ balance: "-0.5" }, { balance: -0.5, currency: "" }],
  ])("%j", async (json, funds) => {
    expect(await api(json).balance(never)).toEqual(funds);
  });

  test.each([
    [{ balance: "contact support" }],
    [{ balance: null }],
    [{}],
    ["5"],
    [{ error: "Invalid API key" }],
  ])("%j is refused", async (json) => {
    expect(await failureOf(api(json).balance(never))).toContain("");
  });
});

describe("services", () => {
  const LISTED = {
    service: 1,
    name: "Likes",
    type: "Default",
    rate: "0.90",
    min: "50",
    max: "10000",
  };

  test("numbers are accepted as numbers and as text", async () => {
    const wanted = {
      service: "1",
      name: "Likes",
      category: "Services",
      type: "Default",
      dripfeed: false,
      rate: "0.90",
      min: 50,
      max: 10_000,
      cancel: false,
      refill: false,
    };
    expect(await api([LISTED]).services(never)).toEqual([wanted]);
    const asNumbers = { ...LISTED, service: "1", rate: 0.9, min: 50, max: 10_000 };
    expect(await api([asNumbers]).services(never)).toEqual([{ ...wanted, rate: "0.9" }]);
  });

  test.each([
    ["Instagram Likes", "Instagram Likes"],
    ["  Instagram\u0007 ", "Instagram"],
    ["", "Services"],
    [null, "Services"],
    [7, "Services"],
  ])("in category %j are listed in %j", async (category, wanted) => {
    const [listed] = await api([{ ...LISTED, category }]).services(never);
    expect(listed).toMatchObject({ category: wanted });
  });

  test("of unknown types only the name is read", async () => {
    const [listed] = await api([
      { service: 2, name: "Posts", type: "Subscriptions", rate: null },
    ]).services(never);
    expect(listed).toMatchObject({ service: "2", type: "Subscriptions" });
  });

  test.each<[unknown, boolean]>([
    [true, true],
    [1, true],
    ["1", true],
    ["true", true],
    [false, false],
    [0, false],
    ["0", false],
    ["yes", false],
    [null, false],
    [{}, false],
    [undefined, false],
  ])("dripfeed %p is %p", async (dripfeed, read) => {
    const [listed] = await api([{ ...LISTED, dripfeed }]).services(never);
    expect(listed).toMatchObject({ dripfeed: read });
  });

  test.each([[{ error: "Invalid API key" }], [{}], ["<html>"], [null]])(
    "%j is not a list",
    async (json) => {
      expect(await failureOf(api(json).services(never))).toContain("");
    },
  );

  test.each<[entry: unknown, service: string | null]>([
    [null, null],
    ["<html>", null],
    [[LISTED], null],
    [{ ...LISTED, service: "" }, null],
    [{ ...LISTED, service: null }, null],
    [{ ...LISTED, service: {} }, null],
    [{ ...LISTED, service: "4 5" }, "4 5"],
    [{ ...LISTED, rate: "free" }, "1"],
    [{ ...LISTED, rate: -1 }, "1"],
    [{ ...LISTED, rate: undefined }, "1"],
    [{ ...LISTED, name: "" }, "1"],
    [{ ...LISTED, name: 5 }, "1"],
    [{ ...LISTED, min: "ten" }, "1"],
    [{ ...LISTED, max: null }, "1"],
    [{ ...LISTED, type: undefined }, "1"],
  ])("entry %j cannot be read, and the others are", async (entry, service) => {
    const listed = await api([{ ...LISTED, service: 8 }, entry]).services(never);
    expect(listed).toEqual([
      expect.objectContaining({ service: "8", rate: "0.90" }),
      { service, unreadable: expect.any(String) },
    ]);
  });
});

test("the key is masked in replies about an order, a balance or services", async () => {
  const refused = await api({ error: `bad key ${KEY}` }).submit(
    { service: "1", link: "x", fields: {}, orderId: 1, createdAt: 0 },
    never,
  );
  expect(JSON.stringify(refused)).not.toContain("s3cret");
  expect(JSON.stringify(await reportOf({ error: KEY }))).not.toContain("s3cret");
  expect(await failureOf(api({ error: KEY }).balance(never))).toContain("it says: ***");
});

describe("a list with the key in it", () => {
  const entry = { service: "1", name: "Likes", type: "Default", rate: "1", min: "1", max: "10" };

  test("has it masked in names and types", async () => {
    const name = `Likes ${encodeURIComponent(KEY).toLowerCase()}`;
    const [service] = await api([{ ...entry, name, type: `other ${KEY}` }]).services(never);
    expect(service).toMatchObject({ name: "Likes ***", type: "other ***" });
  });

  test("is refused where it is a service's id, and left out where it is a currency", async () => {
    const plain = "Abcdefgh";
    const provider = (json: unknown) =>
      smmApi(() => Promise.resolve({ kind: "json", status: 200, json }), plain);
    const listed = [entry, { ...entry, service: `x-${plain}` }];
    const [, unreadable] = await provider(listed).services(never);
    expect(unreadable).toEqual({ service: "x-***", unreadable: expect.any(String) });
    expect(JSON.stringify(unreadable).toLowerCase()).not.toContain(plain.toLowerCase());
    const funds = await provider({ balance: 1, currency: plain.toUpperCase() }).balance(never);
    expect(funds).toEqual({ balance: 1, currency: "" });
  });
});
