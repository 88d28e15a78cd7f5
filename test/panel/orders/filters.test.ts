// Filters and files of the panel that the command line has, too: price lists, child users, test orders, webhooks of all
// users, and CSV that can be imported again.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { findKey } from "../../../src/db/users/keys.ts";
import { readCatalogue } from "../../../src/imports/catalogue.ts";
import { readGrants } from "../../../src/imports/grants.ts";
import { seedPanelMarket, type PanelMarket } from "../../support/seeds/panel-market.ts";
import { openPanel } from "../../support/worlds/panel.ts";

let market: PanelMarket;

beforeAll(async () => {
  market = seedPanelMarket(await openPanel());
});
afterAll(() => market.stop());

const cells = (html: string, heading: string) =>
  [...html.matchAll(new RegExp(`data-label="${heading}"[^>]*>(.*?)</td>`, "g"))].map(([, cell]) =>
    cell!.replace(/<[^>]*>/g, ""),
  );
const column = async (path: string, heading: string) =>
  cells((await market.get(path)).text, heading);

test("a reseller's price list has what it may order at its prices, without forms to change them", async () => {
  market.run("updateService", { id: "likes", changes: { private: true } });
  market.run("setDiscount", { username: "bob", discountPpm: 100_000 });
  market.run("grantService", { id: "likes", username: "alice", priceMicros: 700_000 });
  const alice = await market.get("/services?user=alice");
  const listed = alice.text.matchAll(/<a href="\/services\/([^"?]+)"><bdi/g);
  expect([...listed].map(([, id]) => id!)).toEqual(["followers", "likes"]);
  expect(cells(alice.text, "Its price USD")).toEqual(["2.32 per 1000", "0.70 per 1000"]);
  expect(cells(alice.text, "Catalogue USD")).toEqual(["2.32 per 1000", "1.00 per 1000"]);
  expect(alice.text).not.toContain("Change prices by percent");
  expect(await column("/services?user=bob", "Its price USD")).toEqual(["2.088 per 1000"]);
  expect((await market.get("/services?user=nobody")).text).toContain("User not found");
  expect((await market.get("/users/alice")).text).toContain('href="/services?user=alice"');
});

test("exported services and resellers' prices can be imported again", async () => {
  market.run("grantService", { id: "followers", username: "bob", priceMicros: null });
  const services = await market.get("/services.csv?search=likes");
  expect(services.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  const read = readCatalogue("services.csv", services.text, { isUpdate: true });
  expect([read.wrong, read.services.map(({ id }) => id)]).toEqual([[], ["likes"]]);
  const { grants, wrong } = readGrants("grants.csv", (await market.get("/grants.csv")).text);
  expect(wrong).toEqual([]);
  expect(grants).toEqual([
    { id: "followers", username: "bob", priceMicros: null },
    { id: "likes", username: "alice", priceMicros: 700_000 },
  ]);
  const own = readGrants("grants.csv", (await market.get("/grants.csv?user=bob")).text);
  expect(own.grants.map(({ username }) => username)).toEqual(["bob"]);
  expect((await market.get("/grants.csv?user=nobody")).status).toBe(404);
  expect((await market.get("/services.csv?user=nobody")).text).toContain("User not found");
});

test("child users can be filtered by reseller", async () => {
  expect(await column("/users?parent=alice", "User")).toEqual(["kid"]);
  expect(await column("/users?parent=bob", "User")).toEqual([]);
  expect((await market.get("/users?parent=nobody")).text).toContain("User not found");
  expect((await market.get("/users/alice")).text).toContain('href="/users?parent=alice"');
});

test("webhooks of all users are listed by their state, those of test accounts with their users", async () => {
  const create = (username: string, at: string) =>
    market.run("createWebhook", {
      username,
      url: `https://${at}.example/`,
      events: "*",
      secret: "s",
      balanceLowBelow: null,
    }).id;
  const first = create("alice", "first");
  create("bob", "second");
  market.key("bob", "full", "all", true);
  market.query(
    `INSERT INTO webhooks (webhook_id, id, reseller_account, url, events, secret, active, failures, created_at)
     SELECT 3, ?, test.account, 'https://third.example/', '*', 's', 1, 0, 1
     FROM users AS test JOIN users AS own ON own.account = test.test_of WHERE own.username = 'bob'`,
    "hook".repeat(6),
  );
  market.run("disableWebhook", { id: first });
  expect(await column("/webhooks", "Address")).toEqual([
    "https://third.example/",
    "https://second.example/",
    "https://first.example/",
  ]);
  expect(await column("/webhooks", "User")).toEqual(["bob", "bob", "alice"]);
  expect((await column("/webhooks", "State"))[0]).toBe("active test");
  expect(await column("/webhooks?state=disabled", "User")).toEqual(["alice"]);
  expect(await column("/webhooks?state=active", "User")).toEqual(["bob", "bob"]);
  expect(await column("/webhooks?below=2", "User")).toEqual(["alice"]);
});

test("test orders are shown only by their filter", async () => {
  const live = market.order();
  const { id: keyId } = market.key("alice", "full", "all", true);
  const { resellerAccount } = market.read((reader) => findKey(reader, keyId)!);
  const order = { keyId, service: "followers", link: "https://example.com/t", quantity: 100 };
  const { orderId } = market.run("placeOrder", { resellerAccount, ...order });
  expect(await column("/orders", "Order")).toEqual([String(live)]);
  expect(await column("/orders?test=yes", "Order")).toEqual([String(orderId)]);
  expect(await column("/orders?test=yes&user=alice", "Order")).toEqual([String(orderId)]);
  expect(await column("/orders?test=yes&user=kid", "Order")).toEqual([]);
  expect((await market.get(`/orders/${orderId}`)).text).not.toContain('href="/providers/');
});

test("the page of an order shows its reseller's request, and links to the decision", async () => {
  const id = market.order();
  expect((await market.get(`/orders/${id}`)).text).not.toContain("Its reseller asks");
  market.run("updateService", { id: "followers", changes: { cancel: true } });
  const { id: keyId } = market.key("alice", "full");
  const { resellerAccount } = market.read((reader) => findKey(reader, keyId)!);
  market.run("makeRequest", { resellerAccount, keyId, kind: "cancel", id: String(id) });
  const { text } = await market.get(`/orders/${id}`);
  expect(text).toContain("Its reseller asks to cancel it");
  const [, path] = /href="(\/requests\?[^"]+)">Decide the request/.exec(text)!;
  const { text: requests } = await market.get(path!.replaceAll("&amp;", "&"));
  expect(cells(requests, "Order").map((cell) => cell.split(" ")[0])).toEqual([String(id)]);
  expect((await market.get("/requests?order=999999")).text).toContain("Order not found");
});

test("the audit log links to what was changed", async () => {
  market.run("creditUser", { username: "alice", amountMicros: 1_000_000, note: "" });
  const { text } = await market.get("/audit");
  for (const path of ["/services/likes", "/users/alice", "/providers/acme"]) {
    expect(text).toContain(`<a href="${path}">`);
  }
  // Nobody's page is that of a test account.
  expect(text).not.toContain("/users/test");
});
