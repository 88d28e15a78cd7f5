// The search of the panel: each kind of thing by what people have at hand.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type PanelMarket, seedPanelMarket } from "../../support/seeds/panel-market.ts";
import { openPanel } from "../../support/worlds/panel.ts";

let market: PanelMarket;
let placed: number;
beforeAll(async () => {
  market = seedPanelMarket(await openPanel());
  placed = market.delivered({ placed: "987001" });
  market.order({ link: "https://example.com/<b>bold" });
  market.order({ link: "https://example.com/second" });
  const [key] = market.query<{ id: string; account: number }>(
    "SELECT id, reseller_account AS account FROM keys LIMIT 1",
  );
  const order = { resellerAccount: Number(key!.account), keyId: key!.id, service: "followers" };
  const link = "https://example.com/third";
  market.run("placeOrder", { ...order, link, quantity: 100, reference: "invoice-7" });
  const member = { username: "bob", email: "ann@bob.example", name: "Ann", role: "owner" } as const;
  market.run("inviteMember", { ...member, language: "en", invitationHash: "0".repeat(64) });
});
afterAll(() => market.stop());

const search = (text: string) => market.get(`/search?${new URLSearchParams({ q: text })}`);
const idOf = (orderId: number) =>
  String(market.query("SELECT id FROM orders WHERE order_id = ?", orderId)[0]!["id"]);

test("one match is opened at once, whatever it is found by", async () => {
  const start = market.query<{ start: string }>(
    "SELECT start FROM keys JOIN users ON account = reseller_account WHERE username = 'bob'",
  )[0]!.start;
  for (const [text, path] of [
    [String(placed), `/orders/${placed}`],
    [` ${placed} `, `/orders/${placed}`],
    [idOf(placed), `/orders/${placed}`],
    ["987001", `/orders/${placed}`],
    ["invoice-7", "/orders/4"],
    ["SECOND", "/orders/3"],
    ["bo", "/users/bob"],
    ["kid", "/users/kid"],
    ["ANN@bob.example", "/users/bob/members"],
    ["Follow", "/services/followers"],
    ["127.0.0.1", "/providers/acme"],
    [start, "/users/bob"],
    [`${start}${"x".repeat(27)}`, "/users/bob"],
  ] as const) {
    const found = await search(text);
    expect([text, found.status, found.headers.get("location")]).toEqual([text, 303, path]);
  }
});

test("a service is found by its number, beside the order with this number, which is opened", async () => {
  for (const id of ["ann", "bea", "cleo", "dan"]) market.service({ id, name: `Extra ${id}` });
  const services = market.query<{ number: number; id: string }>("SELECT number, id FROM services");
  const [{ last }] = market.query<{ last: number }>("SELECT max(order_id) AS last FROM orders") as [
    { last: number },
  ];
  const alone = services.filter(({ number }) => Number(number) > Number(last));
  expect(alone.length).toBeGreaterThan(0);
  for (const { number, id } of services) {
    const isAlone = alone.some((each) => each.id === id);
    const found = await search(String(number));
    const path = isAlone ? `/services/${id}` : `/orders/${number}`;
    expect([number, found.headers.get("location")]).toEqual([number, path]);
    const { text } = await market.get(`/search/list?q=${number}`);
    expect(text).toContain(`/services/${id}"`);
    expect(text.includes(`/orders/${number}"`)).toBe(!isAlone);
  }
});

test("several matches are listed by kind, with what callers typed as text", async () => {
  const { text } = await search("example.com");
  expect(text).toContain("<h2>Orders</h2>");
  expect(text).not.toContain("<h2>Resellers</h2>");
  expect(text).toContain("&lt;b>bold");
  expect(text).not.toContain("<b>bold");
});

test.each([
  "",
  "   ",
  "nothing-of-the-kind",
  "rk_",
  "%",
  "_",
  "'",
  "\u0000",
  "9".repeat(60),
  "x".repeat(5000),
])("%j finds nothing and fails nowhere", async (text) => {
  const { status, text: page } = await search(text);
  expect(status).toBe(200);
  expect(page).toContain('class="empty"');
});
