// The list of orders: tabs, days, and the search by number, reference and link.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { findUser } from "../../../src/db/users/users.ts";
import { LANGUAGES } from "../../../src/domain/members/languages.ts";
import { createCallerRate } from "../../../src/http/server/rate-limits.ts";
import { openPortal, type TestPortal } from "../../support/worlds/portal.ts";

let portal: TestPortal;
let [viewer, bob] = ["", ""];
const ids: number[] = [];

const LINKS = [
  "https://instagram.example/Nova.Shop",
  "https://tiktok.example/@nova?x=100%",
  "https://youtube.example/watch?v=1_2",
];

beforeAll(async () => {
  portal = await openPortal();
  for (const name of ["alice", "bob"]) portal.user(name, "100");
  portal.service({ id: "likes" });
  viewer = portal.session(portal.member("alice", "viewer@alice.example", "viewer"));
  bob = portal.session(portal.member("bob", "owner@bob.example"));
  const { account } = portal.read((reader) => findUser(reader, "alice")!);
  const { id: keyId } = portal.key("alice", "order");
  for (const [index, link] of LINKS.entries()) {
    const order = { resellerAccount: account, keyId, service: "likes", link, quantity: 100 };
    const { orderId } = portal.run("placeOrder", { ...order, reference: `shop-${index}` });
    ids.push(orderId);
  }
  portal.run("transitionOrder", { id: String(ids[0]), to: "COMPLETED", note: null });
});
afterAll(() => portal.stop());

const search = (query: Record<string, string>, cookie = viewer) =>
  portal.get(`/orders?${new URLSearchParams(query)}`, cookie);
/** The links that a page lists. */
const listed = (text: string) =>
  LINKS.filter((_, index) => text.includes(`/orders/${ids[index]}"`));

test.each([
  ["the number", () => String(ids[1])],
  ["the id", () => portal.query("SELECT id FROM orders WHERE order_id = ?", ids[1]!)[0]!["id"]],
  ["the reference", () => "shop-1"],
])("%s leads to the order, for its reseller only", async (_, wanted) => {
  const q = String(wanted());
  const { status, headers } = await search({ q });
  expect([status, headers.get("location")]).toEqual([303, `/orders/${ids[1]}`]);
  const foreign = await search({ q }, bob);
  expect([foreign.status, foreign.text.includes("No order has this")]).toEqual([200, true]);
  expect(foreign.text).not.toContain("tiktok");
});

test.each([
  ["nova", [0, 1]],
  ["NOVA.shop", [0]],
  ["100%", [1]],
  ["v=1_2", [2]],
  ["_", [2]],
  ["%", [1]],
  ["  nova  ", [0, 1]],
  ["nowhere", []],
] as const)("a part of the link finds its orders, whatever the case: %p", async (q, found) => {
  const { status, text } = await search({ q: q.trim() });
  expect([status, listed(text)]).toEqual([200, found.map((index) => LINKS[index]!)]);
  expect(text.includes("No order has this")).toBe(found.length === 0);
  const csv = await portal.get(`/orders.csv?${new URLSearchParams({ q: q.trim() })}`, viewer);
  expect(csv.text.trimEnd().split("\r\n").slice(1)).toHaveLength(found.length);
});

test("an order of another panel is found by its number, and has a page, for its reseller only", async () => {
  portal.query(`INSERT INTO past_orders
    SELECT 900001, account, 12, 'Old likes', 'https://old.example/a', 1000, 2320000, 'PARTIAL', 10, 5,
      1690000000000, '3', '88' FROM users WHERE username = 'alice'`);
  const { status, headers } = await search({ q: "900001" });
  expect([status, headers.get("location")]).toEqual([303, "/orders/900001"]);
  const { status: shown, text } = await portal.get("/orders/900001", viewer);
  expect(shown).toBe(200);
  for (const part of ["Old likes", "old.example/a", "$2.32", "Partly done", "moved here"]) {
    expect([part, text.includes(part)]).toEqual([part, true]);
  }
  expect((await portal.get("/orders/900001", bob)).status).toBe(404);
  expect((await search({ q: "900001" }, bob)).status).toBe(200);
});

test("the tabs keep a search, and narrow it down", async () => {
  const { text } = await search({ q: "nova", status: "COMPLETED" });
  expect(listed(text)).toEqual([LINKS[0]!]);
  expect(text).toContain('href="/orders?q=nova"');
  expect(text).toContain('href="/orders?q=nova&amp;status=PROCESSING"');
});

test("days are UTC days, both included, and wrong ones are refused beside their field in every language", async () => {
  const today = new Date(portal.clock.now).toISOString().slice(0, 10);
  const before = new Date(portal.clock.now - 86_400_000).toISOString().slice(0, 10);
  expect(listed((await search({ from: today, to: today })).text)).toEqual(LINKS);
  expect(listed((await search({ to: before })).text)).toEqual([]);
  for (const language of LANGUAGES) {
    const email = `${language.toLowerCase()}@alice.example`;
    const cookie = portal.session(portal.member("alice", email, "viewer", language));
    const texts = ["/orders", "/balance"].map(async (path) => {
      const { text } = await portal.get(`${path}?from=${today}&to=${before}`, cookie);
      return /id="filter-from-error"[^>]*>([^<]+)</.exec(text)?.[1];
    });
    const [one, other] = await Promise.all(texts);
    expect(one).toBe(other!);
    expect([language, one!.includes("must be")]).toEqual([language, false]);
  }
  const wrong = await search({ from: "yesterday" });
  expect([wrong.status, wrong.text.includes('id="filter-from-error"')]).toEqual([200, true]);
});

test("a search examines so many orders, says so, and goes on with the next page", async () => {
  const many = await openPortal({ settings: { searchOrders: 1000 } });
  many.user("carol", "100");
  many.service({ id: "likes" });
  const { account } = many.read((reader) => findUser(reader, "carol")!);
  const { id: keyId } = many.key("carol", "order");
  const terms = { resellerAccount: account, keyId, service: "likes", quantity: 10 };
  for (let made = 1; made <= 1100; made++) {
    many.run("placeOrder", { ...terms, link: `https://example.com/${made}.`, reference: null });
  }
  const cookie = many.session(many.member("carol", "ann@carol.example"));
  const { text } = await many.get("/orders?q=/7.", cookie);
  expect(text).toContain("1,000 orders were searched");
  const [, next] = /<a href="([^"]*)" rel="next"/.exec(text)!;
  const last = await many.get(next!.replaceAll("&amp;", "&"), cookie);
  expect(last.text).toContain("example.com/7.");
  expect(last.text).not.toMatch(/orders were searched|rel="next"/);
  await many.stop();
});

test("a member who searches too often is told when to try again, and nothing is searched", async () => {
  const search = createCallerRate({ requests: 1, milliseconds: 3_600_000 });
  const limited = await openPortal({ limits: { search } });
  limited.user("alice");
  const [one, other] = ["a", "b"].map((name) =>
    limited.session(limited.member("alice", `${name}@alice.example`)),
  );
  const ask = async (cookie: string) => (await limited.get("/orders?q=x", cookie)).text;
  const texts = [await ask(one!), await ask(one!), await ask(one!), await ask(other!)];
  expect(texts.map((text) => text.includes("Too many at once"))).toEqual([
    false,
    false,
    true,
    false,
  ]);
  expect((await limited.get("/orders", one!)).text).not.toContain("Too many at once");
  await limited.stop();
});
