// Pages that place orders for resellers, send failed ones again and correct links.
// The rules are in test/operations/orders/operator-orders.test.ts.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type PanelMarket, seedPanelMarket } from "../../support/seeds/panel-market.ts";
import { hiddenFields, openPanel } from "../../support/worlds/panel.ts";

let market: PanelMarket;
let onCommand = (_name: string) => {};

beforeAll(async () => {
  market = seedPanelMarket(await openPanel({ onCommand: (name) => onCommand(name) }));
});
afterAll(() => market.stop());

const numberOf = (location: string | null) => Number(/\d+$/.exec(location ?? "")?.[0]);

test("an order is placed for a reseller after its service was chosen and its charge confirmed", async () => {
  const { text } = await market.get("/users/alice/order");
  expect(text).toContain("<option");
  expect(text).not.toContain('name="quantity"');
  const chosen = await market.get("/users/alice/order?service=likes");
  expect(chosen.text).toContain('name="quantity"');
  const before = market.balance("alice");
  const fields = { link: "https://example.com/me", quantity: "100" };
  const { status, asked } = await market.confirm("/users/alice/order/likes", fields);
  expect(status).toBe(303);
  const charge = before - market.balance("alice");
  expect(charge).toBeGreaterThan(0);
  expect(asked).toContain("100 × ");
});

test("a price that changes after the confirmation was checked is refused, and nothing is charged", async () => {
  const failed = market.order();
  await market.confirm(`/orders/${failed}/change`, { to: "FAILED" });
  const forms = [
    ["placeOrderFor", "/users/alice/order/followers", { link: "x", quantity: "100" }],
    ["resendOrder", `/orders/${failed}/resend`, { price: "now" }],
  ] as const;
  let priceMicros = 2_000_000;
  for (const [command, path, fields] of forms) {
    const asked = await market.post(path, fields);
    let before = "";
    onCommand = (name) => {
      if (name !== command) return;
      market.run("updateService", {
        id: "followers",
        changes: { priceMicros: (priceMicros += 1_000_000) },
      });
      before = market.fingerprint();
    };
    const { status, text } = await market.post(path, { ...fields, ...hiddenFields(asked.text) });
    onCommand = () => {};
    expect([status, text]).toEqual([422, expect.stringContaining("The catalogue changed")]);
    expect(market.fingerprint()).toBe(before);
    expect((await market.confirm(path, fields)).status).toBe(303);
  }
});

test("a wrong quantity is refused beside its field, with what was typed, and nothing changes", async () => {
  const before = market.fingerprint();
  const fields = { link: "https://example.com/typed", quantity: "999999999" };
  const { status, text } = await market.post("/users/alice/order/likes", fields);
  expect([status, text]).toEqual([422, expect.stringContaining("Maximum order is")]);
  expect(text).toContain("https://example.com/typed");
  expect(market.fingerprint()).toBe(before);
});

test("a failed order is sent again by its page, and both pages lead to each other", async () => {
  const id = market.order();
  await market.confirm(`/orders/${id}/change`, { to: "FAILED" });
  expect(market.status(id)).toBe("FAILED");
  const page = await market.get(`/orders/${id}`);
  expect(page.text).toContain(`action="/orders/${id}/resend"`);
  const { status, asked } = await market.confirm(`/orders/${id}/resend`, { price: "then" });
  expect([status, asked]).toEqual([303, expect.stringContaining(`Send order ${id} again`)]);
  const old = await market.get(`/orders/${id}`);
  const [, path] = /Sent again as <a href="([^"]*)"/.exec(old.text) ?? [];
  expect(old.text).not.toContain(`action="/orders/${id}/resend"`);
  const fresh = await market.get(path!);
  expect(fresh.text).toContain(`<a href="/orders/${id}">order ${id}</a>`);
  expect(fresh.text).toContain(`placed again for order ${id}`);
  expect(numberOf(path!)).toBeGreaterThan(id);
});

test("a link is corrected on the page of an order that is not sent, and on no other", async () => {
  const [open, placed] = [market.order(), market.delivered({ placed: "777" })];
  expect((await market.get(`/orders/${placed}`)).text).not.toContain(`/orders/${placed}/link`);
  expect((await market.post(`/orders/${placed}/link`, { link: "x" })).status).toBe(422);
  const corrected = await market.post(`/orders/${open}/link`, {
    link: "https://example.com/right",
  });
  expect(corrected.status).toBe(303);
  expect((await market.get(`/orders/${open}`)).text).toContain("https://example.com/right");
});
