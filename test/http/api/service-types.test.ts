// docs/specification/catalogue.md#service-types: what an order of each type must have, what it costs, and what its provider is sent.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SERVICE_TYPES, type ServiceType } from "../../../src/domain/catalogue/service-types.ts";
import { smmClientOf } from "../../support/http/smm-client.ts";
import { expectError } from "../../support/http/refusal.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import type { Body } from "../../support/http/api.ts";
import { openService, type TestService } from "../../support/worlds/service.ts";
import { OPERATOR } from "../../support/databases/test-database.ts";
import { PROVIDER_KEY, startUpstream, type Upstream } from "../../support/peers/upstream.ts";

/** An order of each type: its fields, the units that it is charged for, and the words that list it. */
const TYPES: Record<ServiceType, { words: string; fields: Body; units: number | "package" }> = {
  default: { words: "Default", fields: { quantity: 30 }, units: 30 },
  package: { words: "Package", fields: {}, units: "package" },
  custom_comments: { words: "Custom Comments", fields: { comments: "a\nb\nc" }, units: 3 },
  custom_comments_package: {
    words: "Custom Comments Package",
    fields: { comments: "a\nb" },
    units: "package",
  },
  seo: { words: "SEO", fields: { quantity: 30, keywords: "x\ny" }, units: 30 },
  mentions_with_hashtags: {
    words: "Mentions with Hashtags",
    fields: { quantity: 30, usernames: "u\nv", hashtags: "#h\n#i" },
    units: 30,
  },
  mentions_custom_list: {
    words: "Mentions Custom List",
    fields: { usernames: "u\nv\nw\nx" },
    units: 4,
  },
  mentions_hashtag: {
    words: "Mentions Hashtag",
    fields: { quantity: 30, hashtag: "#h" },
    units: 30,
  },
  mentions_user_followers: {
    words: "Mentions User Followers",
    fields: { quantity: 30, username: "u" },
    units: 30,
  },
  mentions_media_likers: {
    words: "Mentions Media Likers",
    fields: { quantity: 30, media: "https://example.com/m" },
    units: 30,
  },
  comment_likes: { words: "Comment Likes", fields: { quantity: 30, username: "u" }, units: 30 },
  comment_replies: {
    words: "Comment Replies",
    fields: { username: "u", comments: "a\nb\nc" },
    units: 3,
  },
  poll: { words: "Poll", fields: { quantity: 30, answer_number: 2 }, units: 30 },
  invites_from_groups: {
    words: "Invites from Groups",
    fields: { quantity: 30, groups: "g\nh" },
    units: 30,
  },
  web_traffic: {
    words: "Web Traffic",
    fields: {
      quantity: 30,
      country: "US",
      device: "5",
      type_of_traffic: "1",
      google_keyword: "shoes",
      referring_url: "https://example.com/from",
    },
    units: 30,
  },
};
const ALL = SERVICE_TYPES.map((type) => [type, TYPES[type]] as const);

const PRICE = "1.234567";
const PRICE_MICROS = 1_234_567;
const chargeOf = (units: number | "package") =>
  units === "package" ? PRICE_MICROS : Math.ceil((PRICE_MICROS * units) / 1000);

let upstream: Upstream;
let service: TestService;
let key: string;
let panel: ReturnType<typeof smmClientOf>;
let links = 0;

beforeAll(async () => {
  upstream = await startUpstream();
  service = await openService({ settings: { placeWait: 600_000, pollInterval: 60_000 } });
  service.user("anna", "1000");
  key = service.key("anna", "full").text;
  panel = smmClientOf(service.url, key);
  const { url } = upstream;
  service.run("createProvider", { name: "acme", protocol: "smm-api", url, key: PROVIDER_KEY });
  for (const type of SERVICE_TYPES) {
    const provider = { name: "acme", service: "7" };
    service.service({ id: type, name: type, type, price: PRICE, min: 1, max: 100, provider });
  }
  service.service({ id: "fed", dripfeed: true, price: PRICE, min: 10, max: 100,
    provider: { name: "acme", service: "8" } }); // prettier-ignore
  service.service({ id: "sized", type: "package", price: "9", min: 40, max: 40 });
});

afterAll(async () => {
  await service.stop();
  await upstream.stop();
});

function orderOf(type: string, fields: Body): Body {
  links += 1;
  return { service: type, link: `https://example.com/${links}`, ...fields };
}

const place = (body: Body, headers?: Record<string, string>) =>
  service.call("POST", "/orders", key, body, headers);

const sentFor = (link: string) => upstream.adds().find((form) => form["link"] === link);

/** How many orders there are, and the balance: what polls go on writing does not count. */
const stateOf = () => [
  service.query("SELECT order_id FROM orders").length,
  service.balance("anna"),
];

async function refusalOf(body: Body, status: number, message: string): Promise<void> {
  const before = stateOf();
  expectError(await place(body), status, message);
  expect(stateOf()).toEqual(before);
}

describe.each(ALL)("an order of type %s", (type, { words, fields, units }) => {
  test("is charged to the micro, sent with its fields, and shows them", async () => {
    const body = orderOf(type, fields);
    const before = service.balance("anna");
    const placed = await place(body);
    expect([placed.status, placed.body.message]).toEqual([200, undefined]);
    const { order } = placed.body;
    expect(Object.keys(order)).toEqual(
      ["id", "orderId", "service", "link", "quantity", "charge", "status", "createdAt"], // prettier-ignore
    );
    expect(before - service.balance("anna")).toBe(chargeOf(units));
    expect(Math.round(order.charge * 1e6)).toBe(chargeOf(units));
    expect(order.quantity).toBe(units === "package" ? 1 : units);
    const strings = Object.entries(fields).map(([name, value]) => [name, String(value)]);
    expect(sentFor(body.link)).toEqual({
      key: PROVIDER_KEY,
      action: "add",
      service: "7",
      link: body.link,
      ...Object.fromEntries(strings),
    });
    const read = await service.call("GET", `/orders/${order.orderId}`, key);
    const { quantity: _, ...extra } = fields;
    expect(read.body.order).toEqual({ ...order, startCount: 0, remains: order.quantity, ...extra });
  });

  test("is refused without any of its fields, in their order, and changes nothing", async () => {
    const names = Object.keys(fields);
    for (const name of names) {
      const { [name]: _, ...others } = orderOf(type, fields);
      await refusalOf(others, 400, `${name} is required`);
      await refusalOf({ ...others, [name]: null }, 400, `${name} is required`);
    }
    const [first] = names;
    if (first) await refusalOf(orderOf(type, {}), 400, `${first} is required`);
  });

  test("is the same order by /api/v2, where it is listed in the words of panels", async () => {
    const { body: listed } = await panel("services", {});
    const found = (listed as Body[]).find(({ name }) => name === type)!;
    expect([found["type"], found["dripfeed"]]).toEqual([words, false]);
    expect(found["rate"]).toBe(PRICE);
    const link = `https://example.com/v2/${type}`;
    const texts = Object.entries(fields).map(([name, value]) => [name, String(value)]);
    const before = service.balance("anna");
    const add = { service: String(found["service"]), link, ...Object.fromEntries(texts) };
    const added = await panel("add", add);
    expect(added.body).toEqual({ order: expect.any(Number) });
    expect(before - service.balance("anna")).toBe(chargeOf(units));
    const stored = await service.call("GET", `/orders/${(added.body as Body)["order"]}`, key);
    const { quantity: _, ...extra } = fields;
    expect(stored.body.order).toMatchObject(extra);
    for (const name of Object.keys(fields)) {
      const { [name]: _, ...others } = add as Record<string, string>;
      const answer = await panel("add", others);
      const isLeftOut = name === "referring_url";
      if (isLeftOut) expect(answer.body).toHaveProperty("order");
      else {
        const words = name === "quantity" ? "neworder.error.min_quantity" : "Incorrect request";
        expect([name, answer.body]).toEqual([name, { error: words }]);
      }
    }
  });
});

describe("lines", () => {
  test("are trimmed, empty ones do not count, and all ends of lines are the same", async () => {
    const comments = "\r\n  first \r\n\n\n\tsecond\rthird  \n";
    const placed = await place(orderOf("custom_comments", { comments }));
    expect(placed.body.order.quantity).toBe(3);
    const read = await service.call("GET", `/orders/${placed.body.order.orderId}`, key);
    expect(read.body.order.comments).toBe("first\nsecond\nthird");
  });

  test.each([
    ["a control character", "a\u0007b"],
    ["a number", 5],
    ["a list", ["a"]],
  ])("%s is refused", async (_, comments) => {
    const form = "1 to 10000 lines of 1 to 2048 characters without control characters";
    await refusalOf(orderOf("custom_comments", { comments }), 400, `comments must be ${form}`);
  });

  test("are bounded by min and max", async () => {
    service.service({ id: "few", type: "custom_comments", price: PRICE, min: 2, max: 3 });
    await refusalOf(orderOf("few", { comments: "a" }), 400, "Minimum order is 2");
    await refusalOf(orderOf("few", { comments: "a\nb\nc\nd" }), 400, "Maximum order is 3");
    expect((await place(orderOf("few", { comments: "a\nb" }))).status).toBe(200);
  });
});

describe("a drip-feed", () => {
  test("is charged for all runs and is one order of the provider", async () => {
    const body = orderOf("fed", { quantity: 30, runs: 7, interval: 90 });
    const { order } = (await place(body)).body;
    expect([order.quantity, Math.round(order.charge * 1e6)]).toEqual([30, chargeOf(210)]);
    expect(sentFor(body.link)).toMatchObject({ quantity: "30", runs: "7", interval: "90" });
    expect(upstream.adds().filter((form) => form["link"] === body.link)).toHaveLength(1);
    const read = await service.call("GET", `/orders/${order.orderId}`, key);
    expect(read.body.order).toMatchObject({ quantity: 30, remains: 210, runs: 7, interval: 90 });
  });

  test("that ends early refunds what remains of all runs", async () => {
    const { order } = (await place(orderOf("fed", { quantity: 30, runs: 7, interval: 9 }))).body;
    const before = service.balance("anna");
    const change = { id: String(order.orderId), to: "PARTIAL", remains: 100, note: null } as const;
    service.run("transitionOrder", { ...change, actor: OPERATOR });
    expect(service.balance("anna") - before).toBe(Math.floor((chargeOf(210) * 100) / 210));
  });

  test("needs both fields, well formed, and a service that has it", async () => {
    const fed = (fields: Body) => orderOf("fed", { quantity: 30, ...fields });
    await refusalOf(fed({ runs: 2 }), 400, "interval is required");
    await refusalOf(fed({ interval: 2 }), 400, "runs is required");
    await refusalOf(fed({ runs: "2", interval: 5 }), 400, "runs must be a whole number");
    await refusalOf(fed({ runs: 0, interval: 5 }), 400, "runs must be a whole number from 1 to 10000"); // prettier-ignore
    await refusalOf(fed({ runs: 2, interval: 1.5 }), 400, "interval must be a whole number");
    await refusalOf(fed({ quantity: 9, runs: 2, interval: 5 }), 400, "Minimum order is 10");
    const plain = orderOf("default", { quantity: 30, runs: 2, interval: 5 });
    await refusalOf(plain, 400, "runs must be absent: the service has no drip-feed");
  });

  test("is not requested by fields that are empty or 0, as panels send them", async () => {
    const { body: listed } = await panel("services", {});
    const { service: number, dripfeed } = (listed as Body[]).find(({ type, max, min }) => [type, max, min].join() === "Default,100,10")!; // prettier-ignore
    expect(dripfeed).toBe(true);
    const add = { service: String(number), link: "https://example.com/none", quantity: "30" };
    for (const feed of [
      { runs: "", interval: "" },
      { runs: "0", interval: "30" },
    ]) {
      const before = service.balance("anna");
      expect((await panel("add", { ...add, ...feed })).body).toHaveProperty("order");
      expect(before - service.balance("anna")).toBe(chargeOf(30));
    }
    const before = service.balance("anna");
    expect((await panel("add", { ...add, runs: "2", interval: "30" })).body).toHaveProperty("order"); // prettier-ignore
    expect(before - service.balance("anna")).toBe(chargeOf(60));
    expect((await panel("add", { ...add, runs: "x", interval: "3" })).body).toEqual({ error: "Incorrect request" }); // prettier-ignore
  });
});

describe("a package", () => {
  test("has its service's quantity, and a partial end refunds the remaining part", async () => {
    const { order } = (await place(orderOf("sized", {}))).body;
    expect([order.quantity, order.charge]).toEqual([40, 9]);
    const before = service.balance("anna");
    const change = { id: String(order.orderId), to: "PARTIAL", remains: 10, note: null } as const;
    service.run("transitionOrder", { ...change, actor: OPERATOR });
    expect(service.balance("anna") - before).toBe(2_250_000);
  });

  test("ignores a quantity, and fields of other types", async () => {
    const body = orderOf("sized", { quantity: 7, comments: 5, runs: null });
    const { order } = (await place(body)).body;
    expect([order.quantity, order.charge]).toEqual([40, 9]);
  });
});

describe("web traffic", () => {
  const { fields } = TYPES.web_traffic;
  test.each([
    ["3", { google_keyword: "", referring_url: "" }, null],
    ["1", { google_keyword: "shoes", referring_url: "" }, null],
    ["2", { google_keyword: "", referring_url: "https://example.com" }, null],
    ["1", { google_keyword: "" }, "google_keyword"],
    ["2", { referring_url: "" }, "referring_url"],
  ])("of type %s with %p", async (kind, given, refused) => {
    const body = orderOf("web_traffic", { ...fields, type_of_traffic: Number(kind), ...given });
    const answer = await place(body);
    if (refused !== null) {
      const form = "1 to 2048 characters without control characters";
      return expectError(answer, 400, `${refused} must be ${form}`);
    }
    expect(answer.status).toBe(200);
    const sent = sentFor(body.link)!;
    for (const [name, value] of Object.entries(given)) {
      expect([name, sent[name]]).toEqual([name, value === "" ? undefined : value]);
    }
  });
});

describe("an Idempotency-Key", () => {
  test("covers all fields: another comment is another request", async () => {
    const body = orderOf("custom_comments", { comments: "a\nb" });
    const headers = { "idempotency-key": "comments" };
    const first = await place(body, headers);
    const again = await place(body, headers);
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    const other = await place({ ...body, comments: "a\nc" }, headers);
    expectError(other, 422, "Idempotency-Key was already used for a different request");
    const malformed = await place({ ...body, comments: "" }, headers);
    expect(malformed.status).toBe(400);
  });

  test("of an existing order returns it, even if its service's type has changed", async () => {
    service.service({ id: "changing", type: "package", price: "1", min: 1, max: 1 });
    const headers = { "idempotency-key": "changing" };
    const body = orderOf("changing", {});
    const first = await place(body, headers);
    const changes = { type: "seo" } as const;
    service.run("updateService", { id: "changing", changes, actor: OPERATOR });
    expect((await place(body, headers)).body).toEqual(first.body);
    await refusalOf(orderOf("changing", {}), 400, "quantity is required");
  });
});

test("a batch places orders of all types, each accepted or refused as in a single request", async () => {
  const orders = ALL.flatMap(([type, { fields }]) => [
    orderOf(type, fields),
    orderOf(type, { comments: 1 }),
  ]);
  const { body } = await service.call("POST", "/orders/batch", key, { orders });
  for (const [at, [type, { fields, units }]] of ALL.entries()) {
    const [placed, bare] = [body.results[at * 2], body.results[at * 2 + 1]];
    expect([type, Math.round(placed.order.charge * 1e6)]).toEqual([type, chargeOf(units)]);
    const [first] = Object.keys(fields);
    const isBare = first === undefined;
    expect([type, bare.status]).toEqual([type, isBare ? "success" : "error"]);
    if (first !== undefined && first !== "comments") {
      expect(bare.message).toBe(`${first} is required`);
    }
  }
});

test("GET /services shows types on request, and five members otherwise", async () => {
  const all = await service.call("GET", "/services?fields=all", key);
  const plain = await service.call("GET", "/services", key);
  for (const [at, each] of (all.body.services as Body[]).entries()) {
    const { per, type, dripfeed, cancel, refill, refillDays, ...others } = each;
    expect([each.id, per]).toEqual([
      each.id,
      service.query<{ per: string }>("SELECT per FROM services WHERE id = ?", each.id)[0]!.per,
    ]);
    expect([cancel, refill, refillDays]).toEqual([false, false, 30]);
    expect(others).toEqual(plain.body.services[at]);
    expect(Object.keys(plain.body.services[at])).toEqual(["id", "name", "price", "min", "max"]);
    const id = String(each["id"]);
    expect([id, dripfeed]).toEqual([id, id === "fed"]);
    if (id in TYPES) expect([id, type]).toEqual([id, id]);
  }
  expectError(await service.call("GET", "/services?fields=some", key), 400, "fields must be all");
  service.run("updateService", { id: "default", changes: { type: "poll" }, actor: OPERATOR });
  const changed = await service.call("GET", "/services?fields=all", key);
  const found = (changed.body.services as Body[]).find(({ id }) => id === "default");
  expect(found!["type"]).toBe("poll");
  service.run("updateService", { id: "default", changes: { type: "default" }, actor: OPERATOR });
});

test("a missing service reveals nothing about types", async () => {
  await refusalOf(orderOf("nowhere", {}), 400, "quantity is required");
  await refusalOf(orderOf("nowhere", { quantity: 5 }), 400, "Service not found");
  await refusalOf(orderOf("nowhere", { comments: "a" }), 400, "Service not found");
});

test("the ledger and every quantity are consistent afterwards", async () => {
  expect(await verifyStore(service)).toEqual([]);
});
