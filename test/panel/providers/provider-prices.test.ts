// Pages of providers: balances of all at once, the rules for prices, and a pause from the list.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { findProvider } from "../../../src/db/providers/providers.ts";
import { json, PROVIDER_KEY, startUpstream, type Upstream } from "../../support/peers/upstream.ts";
import { openPanel, type TestPanel } from "../../support/worlds/panel.ts";

let panel: TestPanel;
let upstream: Upstream;

beforeAll(async () => {
  upstream = await startUpstream();
  panel = await openPanel({ role: "operator" });
  const address = { protocol: "smm-api", url: upstream.url, key: PROVIDER_KEY };
  panel.run("createProvider", { name: "acme", ...address });
  panel.run("createProvider", { name: "down", ...address, url: "http://127.0.0.1:9/" });
  panel.run("createProvider", { name: "gone", ...address });
  panel.run("setProviderActive", { name: "gone", active: false });
});
afterAll(async () => {
  await panel.stop();
  await upstream.stop();
});

const provider = (name = "acme") => panel.read((reader) => findProvider(reader, name))!;
const rowOf = (text: string, name: string) =>
  new RegExp(`<tr>(?:(?!</tr>).)*"/providers/${name}".*?</tr>`, "s").exec(text)![0];

test("one button asks all active providers; balances are recorded, failures shown beside each", async () => {
  const calls = upstream.received.length;
  const { status, headers } = await panel.post("/provider-balances");
  expect([status, headers.get("location")]).toEqual([303, "/providers"]);
  expect(upstream.received.length).toBe(calls + 1);
  expect(provider()).toMatchObject({ balanceMicros: 100_842_920, balanceCurrency: "USD" });
  expect([provider("down").balanceMicros, provider("gone").balanceMicros]).toEqual([null, null]);
  const { text } = await panel.get("/providers");
  expect(rowOf(text, "acme")).toMatch(/title="100.84292">100.84<\/span> USD /);
  expect(rowOf(text, "acme")).not.toContain(">failed<");
  expect(rowOf(text, "down")).toMatch(/not asked.*>failed</s);
  expect(text).not.toContain(PROVIDER_KEY);
  upstream.next("balance", json({ error: `bad key ${PROVIDER_KEY}` }));
  await panel.post("/provider-balances");
  const again = rowOf((await panel.get("/providers")).text, "acme");
  expect(again).toMatch(/100\.84292">100\.84<.*>failed<.*bad key/s);
  expect(again).not.toContain(PROVIDER_KEY);
  await panel.post("/provider-balances");
  expect(rowOf((await panel.get("/providers")).text, "acme")).not.toContain(">failed<");
});

test("a balance below its threshold is marked in the list", async () => {
  panel.run("updateProvider", { name: "acme", changes: { lowBalanceMicros: 200_000_000 } });
  expect(rowOf((await panel.get("/providers")).text, "acme")).toContain(">low<");
  panel.run("updateProvider", { name: "acme", changes: { lowBalanceMicros: 100_842_920 } });
  expect(rowOf((await panel.get("/providers")).text, "acme")).not.toContain(">low<");
});

test("a pause and its end from the list lead back to the list", async () => {
  for (const verb of ["pause", "resume"]) {
    const { headers } = await panel.post(`/providers/acme/${verb}`, { list: "yes" });
    expect(headers.get("location")).toBe("/providers");
    expect(provider().pausedAt !== null).toBe(verb === "pause");
  }
});

const SETTINGS = { every: "", "price-change": "20", deactivated: "10", new: "public" };

test("markup, markups of categories and rounding are saved in one form, and the preview prices by them", async () => {
  const rules = { markup: "30", categories: "Likes = 100\r\n\r\nA=B = 12.5%", rounding: "x.x9" };
  const saved = await panel.post("/providers/acme/syncs", { ...SETTINGS, ...rules });
  expect(saved.headers.get("location")).toBe("/providers/acme/prices");
  expect(provider()).toMatchObject({ markup: "30", roundPrices: "x.x9" });
  expect(JSON.parse(provider().categoryMarkups)).toEqual({ Likes: "100", "A=B": "12.5" });
  const entry = (service: number, category: string) => ({
    service, category, name: `S${service}`, rate: "1", type: "Default", min: "1", max: "9",
  }); // prettier-ignore
  upstream.services = [entry(1, "Likes"), entry(2, "A=B"), entry(3, "Other")];
  const { text } = await panel.post("/providers/acme/sync", {});
  const prices = [...text.matchAll(/data-label="Price USD"><span class="money">([\d.]+)/g)];
  expect(prices.map(([, price]) => price)).toEqual(["2.09", "1.19", "1.39"]);
  expect(text).toContain("prices rounded up to x.x9");
  await panel.post("/providers/acme/syncs", { ...SETTINGS, ...rules, categories: "Likes = 50" });
  expect(JSON.parse(provider().categoryMarkups)).toEqual({ Likes: "50" });
});

test.each(["Likes", "Likes = many", "= 30", "Likes = 30\nViews"])(
  "a wrong line of markups changes nothing: %j",
  async (categories) => {
    const before = provider();
    const wrong = await panel.post("/providers/acme/syncs", { ...SETTINGS, categories });
    expect([wrong.status, wrong.text]).toEqual([
      422,
      expect.stringMatching(/Line \d must be a category, = and a percentage/),
    ]);
    expect(provider()).toEqual(before);
  },
);
