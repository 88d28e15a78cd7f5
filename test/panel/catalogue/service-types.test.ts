// The type of a service in the panel: its form, the orders that have fields, and their CSV.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { findService } from "../../../src/db/catalogue/services.ts";
import { services } from "../../../src/db/tables/catalogue.ts";
import { findUser } from "../../../src/db/users/users.ts";
import { openPanel, type TestPanel } from "../../support/worlds/panel.ts";
import { dumpOf } from "../../support/databases/test-database.ts";

let panel: TestPanel;
let keyId: string;

beforeAll(async () => {
  panel = await openPanel({ role: "operator" });
  panel.user("alice", "100");
  keyId = panel.key("alice", "order").id;
});
afterAll(() => panel.stop());

const TERMS = { name: "New", price: "2.5", per: "1000", min: "1", max: "100", kind: "public" };
const serviceOf = (id: string) => panel.read((reader) => findService(reader, id))!;
const place = (service: string, quantity: number | null, given: Record<string, string | number>) =>
  panel.run("placeOrder", {
    resellerAccount: panel.read((reader) => findUser(reader, "alice")!.account),
    keyId,
    service,
    link: "x",
    quantity,
    given,
  }).orderId;

test("a service is added and changed with its type and drip-feed, and shows both", async () => {
  const added = { ...TERMS, id: "typed", type: "custom_comments", dripfeed: "no" };
  expect((await panel.post("/services", added)).status).toBe(303);
  expect(serviceOf("typed")).toMatchObject({ type: "custom_comments", typeByHand: true });
  const fed = { ...TERMS, category: "Services", type: "default", dripfeed: "yes" };
  expect((await panel.post("/services/typed", fed)).status).toBe(303);
  expect(serviceOf("typed")).toMatchObject({ type: "default", dripfeed: true });
  const { text } = await panel.get("/services/typed");
  expect(text).toContain("<dt>Type</dt><dd>Default</dd>");
  expect(text).toContain("<dt>Drip-feed</dt><dd>yes</dd>");
  expect(text).toMatch(/<option value="yes" selected/);
  // A form without them changes neither.
  await panel.post("/services/typed", { ...TERMS, category: "Services", name: "Other" });
  expect(serviceOf("typed")).toMatchObject({ name: "Other", type: "default", dripfeed: true });
});

test("conflicting values are reported beside their field and change nothing", async () => {
  const before = dumpOf(panel, services);
  for (const [fields, says] of [
    [{ type: "package" }, "Per must be order for a package"],
    [{ type: "poll", per: "order" }, "Per must be 1000 or 1 for this type"],
    [{ type: "poll", dripfeed: "yes" }, "Drip-feed must be no unless the type is Default"],
    [{ type: "subscriptions" }, "Type must be one of default"],
    [{ dripfeed: "perhaps" }, "Drip-feed must be one of no, yes"],
  ] as const) {
    const wrong = await panel.post("/services", { ...TERMS, id: "wrong", ...fields });
    expect([wrong.status, wrong.text.includes(says)]).toEqual([422, true]);
  }
  expect(dumpOf(panel, services)).toBe(before);
});

test("an order shows the fields of its type, hidden characters and markup as such", async () => {
  panel.service({ id: "talk", type: "custom_comments", min: 1 });
  panel.service({ id: "fed", dripfeed: true });
  const talk = place("talk", null, { comments: "<b>first</b>\nsecond\u200b" });
  const { text } = await panel.get(`/orders/${talk}`);
  expect(text).toContain("<dt>Type</dt><dd>Custom Comments</dd>");
  expect(text).toContain("&lt;b>first&lt;/b>");
  expect(text).toContain("second&lt;U+200B>");
  const fed = place("fed", 100, { runs: 3, interval: 15 });
  const page = await panel.get(`/orders/${fed}`);
  expect(page.text).toContain("<dt>Quantity</dt><dd>300: 3 runs of 100</dd>");
  expect(page.text).toContain("<dt>runs</dt>");
  const csv = (await panel.get("/orders.csv")).text.trim().split("\r\n");
  expect(csv[0]).toEndWith(",type,fields,reportedLate,remainsLate");
  expect(csv.find((line) => line.startsWith(`${fed},`))).toEndWith(
    ',default,"{""runs"":3,""interval"":15}",,',
  );
});
