// The price list in the portal: what the reseller pays for what it may order.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { SERVICE_TYPES } from "../../../src/domain/catalogue/service-types.ts";
import { createTexts } from "../../../src/portal/texts/texts.ts";
import { findUser } from "../../../src/db/users/users.ts";
import { HOUR_MS } from "../../../src/domain/values/spans.ts";
import { OPERATOR } from "../../support/databases/test-database.ts";
import { openPortal, type TestPortal } from "../../support/worlds/portal.ts";

let portal: TestPortal;
let [viewer, buyer] = ["", ""];

beforeAll(async () => {
  portal = await openPortal();
  portal.user("alice", "100");
  viewer = portal.session(portal.member("alice", "viewer@alice.example", "viewer"));
  buyer = portal.session(portal.member("alice", "buyer@alice.example", "buyer"));
  portal.service({
    id: "likes",
    name: "Likes, fast",
    price: "1.5",
    refill: true,
  });
  portal.service({ id: "views", name: "Views", price: "0.2" });
  portal.service({ id: "hidden", name: "Hidden", private: true });
  portal.run("updateService", { id: "likes", changes: { category: "Instagram" } });
  portal.run("updateService", { id: "views", changes: { category: "TikTok" } });
  portal.run("grantService", { id: "likes", username: "alice", priceMicros: 1_250_000 });
});
afterAll(() => portal.stop());

test("shows the reseller's own price, and no service that it may not order", async () => {
  const { text } = await portal.get("/services", viewer);
  expect(text).toContain("$1.25 per 1,000");
  expect(text).not.toContain("$1.50");
  expect(text).not.toContain("Hidden");
});

test.each([
  ["q=fast", ["Likes, fast"]],
  ["q=INSTAGRAM+likes", ["Likes, fast"]],
  ["category=TikTok", ["Views"]],
  ["q=2", ["Views"]],
  ["q=nothing", []],
])("finds services by %s", async (query, names) => {
  const { text } = await portal.get(`/services.csv?${query}`, viewer);
  const lines = text.trimEnd().split("\r\n").slice(1);
  expect(lines.map((line) => /^\d+,(?:"([^"]*)"|([^,]*))/.exec(line)!.slice(1).join(""))).toEqual(
    names,
  );
});

test("the usual time is of all resellers' orders, in the lists, on the page of the order and in the CSV", async () => {
  const pages = ["/services", "/new-order", "/new-order/1"];
  const texts = (cookie = buyer) =>
    Promise.all(pages.map(async (path) => (await portal.get(path, cookie)).text));
  expect((await texts()).map((text) => text.includes("too few orders"))).toEqual(
    pages.map(() => true),
  );
  portal.user("bob", "100");
  const { id: keyId } = portal.key("bob", "order");
  const { account } = portal.read((reader) => findUser(reader, "bob")!);
  const { now } = portal.clock;
  for (const hours of [1, 2, 3, 30, 40]) {
    const order = { resellerAccount: account, keyId, service: "likes", quantity: 100 };
    const placed = { ...order, link: "https://example.com/a", reference: null };
    const { orderId } = portal.execute("placeOrder", placed, now - hours * HOUR_MS);
    const done = { to: "COMPLETED", note: null, actor: OPERATOR } as const;
    portal.execute("transitionOrder", { id: String(orderId), ...done }, now);
  }
  await portal.completionTimes.read();
  expect((await texts()).map((text) => text.includes("3 hr"))).toEqual(pages.map(() => true));
  expect((await texts())[0]).toContain("too few orders");
  const { text: csv } = await portal.get("/services.csv", viewer);
  const [header, ...lines] = csv.trimEnd().split("\r\n");
  expect(header).toEndWith(",median_completion_seconds");
  expect(lines.map((line) => line.split(",").at(-1)!)).toEqual(["10800", ""]);
  const russian = portal.session(portal.member("alice", "ru@alice.example", "buyer", "ru"));
  expect((await texts(russian)).map((text) => text.includes("3 ч"))).toEqual(pages.map(() => true));
});

test("every type of service has a name in the list and on the page of the order", async () => {
  for (const type of SERVICE_TYPES) portal.service({ id: type, name: `Of ${type}`, type });
  const { text } = await portal.get("/services", buyer);
  for (const type of SERVICE_TYPES) {
    const name = createTexts().en(`type.${type}`);
    expect([type, text.includes(`>${name}</td>`)]).toEqual([type, true]);
    const [row] = portal.query("SELECT number FROM services WHERE id = ?", type);
    const page = await portal.get(`/new-order/${String(row!["number"])}`, buyer);
    const isNamed = page.text.includes(`${name} · `);
    expect([type, isNamed]).toEqual([type, type !== "default"]);
  }
});

test("only members who may order get links to order", async () => {
  expect((await portal.get("/services", buyer)).text).toContain('href="/new-order/1"');
  expect((await portal.get("/services", viewer)).text).not.toContain("/new-order/");
});
