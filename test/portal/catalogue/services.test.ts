// The price list in the portal: what the reseller pays for what it may order.

import { afterAll, beforeAll, expect, test } from "bun:test";
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

test("only members who may order get links to order", async () => {
  expect((await portal.get("/services", buyer)).text).toContain('href="/new-order/1"');
  expect((await portal.get("/services", viewer)).text).not.toContain("/new-order/");
});
