// What the panel shows and changes of a reseller besides its money: e-mail, notes, errors; and credits at once.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { seedPanelMarket, type PanelMarket } from "../../support/seeds/panel-market.ts";
import { openPanel } from "../../support/worlds/panel.ts";

let market: PanelMarket;
beforeAll(async () => {
  market = seedPanelMarket(await openPanel());
});
afterAll(() => market.stop());

test("e-mail and notes are saved, shown as text, searched for and removed", async () => {
  const note = "line one\r\n<b>line two</b>";
  const saved = await market.post("/users/alice/contact", { email: "Ann@Shop.example", note });
  expect([saved.status, saved.headers.get("location")]).toEqual([303, "/users/alice"]);
  const { text } = await market.get("/users/alice");
  expect(text).toContain("&lt;b>line two&lt;/b>");
  expect(text).toContain("mailto:Ann@Shop.example");
  expect((await market.get("/users?search=ann%40shop")).text).toContain("/users/alice");
  const found = await market.get("/search?q=ANN%40shop.example");
  expect([found.status, found.headers.get("location")]).toEqual([303, "/users/alice"]);
  const wrong = await market.post("/users/alice/contact", { email: "ann", note: "" });
  expect([wrong.status, wrong.text]).toEqual([
    422,
    expect.stringContaining("E-mail must be an e-mail address"),
  ]);
  await market.post("/users/alice/contact", { email: "", note: "" });
  expect(market.query("SELECT 1 FROM user_contacts")).toEqual([]);
});

test("a new reseller may have an e-mail address from the start", async () => {
  await market.post("/users", { username: "eve", email: "eve@shop.example" });
  expect(market.query("SELECT email FROM user_contacts")).toEqual([{ email: "eve@shop.example" }]);
});

test("requests and errors of keys are shown by key and for the reseller", async () => {
  const { id } = market.key("bob", "order");
  const day = Math.floor(Date.now() / 86_400_000);
  const count = (on: number) =>
    market.run("countKeyRequests", { day: on, counts: [{ id, requests: 1234, errors: 56 }] });
  count(day);
  count(day - 30);
  const { text } = await market.get("/users/bob");
  expect(text).toContain("1234, 56 errors");
  expect(text).toMatch(/data-label="Requests in 30 days"[^>]*>1234</);
  expect((await market.get("/users")).text).toMatch(/title="of 1234 requests">56</);
});

/** The form of the page, filled in as the script does it when its button is pressed. */
async function pressed(direction: "credit" | "debit", amount: string, shown: string) {
  const { text } = await market.get("/users/alice");
  const [, once] = /name="once" value="([^"]+)"/.exec(text)!;
  const label = direction === "credit" ? "Credit" : "Debit";
  expect(text).toContain(`data-says="${label} {} USD"`);
  const [, confirms] = new RegExp(`data-confirms="(${label} [^"]+)"`).exec(text)!;
  return { direction, amount, once: once!, confirmed: confirms!.replace("{}", shown) };
}

test("a credit or debit whose button said the amount is made at once, and once", async () => {
  const before = market.balance("alice");
  const credit = await pressed("credit", "50", "50.00");
  expect((await market.post("/users/alice/balance", credit)).status).toBe(303);
  expect(market.balance("alice")).toBe(before + 50_000_000);
  const again = await market.post("/users/alice/balance", credit);
  expect([again.status, market.balance("alice")]).toEqual([303, before + 50_000_000]);
  const debit = await pressed("debit", "50.0", "50.00");
  expect((await market.post("/users/alice/balance", debit)).status).toBe(303);
  expect(market.balance("alice")).toBe(before);
});

test.each([
  ["another amount", { amount: "51" }],
  ["another direction", { direction: "debit" }],
  ["nothing", { confirmed: "" }],
  ["another user", { confirmed: "Credit bob; bob 50.00" }],
])("a button that said %s moves nothing: a page asks", async (_, changed) => {
  const before = market.balance("alice");
  const form = { ...(await pressed("credit", "50", "50.00")), ...changed };
  const asked = await market.post("/users/alice/balance", form);
  expect([asked.status, asked.text.includes("Money that will move")]).toEqual([200, true]);
  expect(market.balance("alice")).toBe(before);
});
