// The catalogue's list in the panel: sorted by any column, prices below cost, the order of categories, duplicates.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { listCategories } from "../../../src/db/catalogue/category-order.ts";
import { SERVICE_SORTS } from "../../../src/db/catalogue/service-lists.ts";
import { findService } from "../../../src/db/catalogue/services.ts";
import { dumpOf } from "../../support/databases/test-database.ts";
import { services } from "../../../src/db/tables/catalogue.ts";
import { seedRates } from "../../support/seeds/rates.ts";
import { openPanel, type Reply, type TestPanel } from "../../support/worlds/panel.ts";

let panel: TestPanel;

beforeAll(async () => {
  panel = await openPanel({ role: "operator" });
  panel.user("alice", "10");
  seedRates(panel, "acme", { "1": "1", "2": "0.5" });
  panel.query("DELETE FROM services");
  for (const [id, price, category, service] of [
    ["dear", "3", "B", "1"],
    ["loss", "0.4", "A", "2"],
    ["fair", "1.5", "C", "1"],
  ] as const) {
    panel.service({ id, name: id, price, provider: { name: "acme", service } });
    panel.run("updateService", { id, changes: { category } });
  }
  panel.service({ id: "hand", name: "hand", price: "2" });
});
afterAll(() => panel.stop());

const ids = ({ text }: Reply) =>
  [...text.matchAll(/<a href="\/services\/([^"?]+)"><bdi/g)].map(([, id]) => id!);

test.each([
  ["", ["loss", "dear", "fair", "hand"]],
  ["-category", ["hand", "fair", "dear", "loss"]],
  ["name", ["dear", "fair", "hand", "loss"]],
  ["-number", ["hand", "fair", "loss", "dear"]],
  ["price", ["loss", "fair", "hand", "dear"]],
  ["-price", ["dear", "hand", "fair", "loss"]],
  ["-rate", ["dear", "fair", "loss", "hand"]],
  ["margin", ["loss", "fair", "dear", "hand"]],
  ["provider", ["hand", "dear", "fair", "loss"]],
  ["nonsense", ["loss", "dear", "fair", "hand"]],
])("sorted by %p, and the heading says so", async (sort, expected) => {
  const page = await panel.get(`/services?sort=${sort}`);
  expect(ids(page)).toEqual(expected);
  const [, direction] = /aria-sort="(\w+)"/.exec(page.text)!;
  expect(direction).toBe(sort.startsWith("-") ? "descending" : "ascending");
});

test("each heading sorts by its column, and a second click turns the order round, with the filters kept", async () => {
  const { text } = await panel.get("/services?search=a");
  const links = [...text.matchAll(/<th[^>]*><a href="([^"]+)"/g)].map(([, href]) =>
    href!.replaceAll("&amp;", "&"),
  );
  const sorts = links.map((href) => new URLSearchParams(href.split("?")[1]).get("sort")!);
  expect(sorts.toSorted()).toEqual(["-category", ...SERVICE_SORTS.slice(1)].toSorted());
  expect(links.every((href) => href.includes("search=a"))).toBe(true);
});

test("the filter shows prices below cost, in the catalogue and for a reseller", async () => {
  expect(ids(await panel.get("/services?below-cost=yes"))).toEqual(["loss"]);
  panel.run("grantService", { id: "fair", username: "alice", priceMicros: 10 });
  const alices = await panel.get("/services?below-cost=yes&user=alice&sort=name");
  expect(ids(alices)).toEqual(["fair", "loss"]);
  expect(alices.text).toContain('<span class="hidden">Remove the filter </span>Below cost');
  panel.run("revokeService", { id: "fair", username: "alice" });
});

const TERMS = { name: "New", price: "0.9", per: "1000", min: "10", max: "100", kind: "public" };
const OF_ACME = { provider: "acme", "provider-service": "1" };

test.each<[asks: boolean, path: string, fields: Record<string, string>]>([
  [true, "/services", { ...TERMS, ...OF_ACME }],
  [false, "/services", { ...TERMS, ...OF_ACME, price: "1" }],
  [false, "/services", TERMS],
  [true, "/services/fair", { ...TERMS, ...OF_ACME, category: "C" }],
  [false, "/services/dear", { ...TERMS, ...OF_ACME, category: "C", price: "2" }],
  [true, "/services/fair/grants", { username: "alice", price: "0.1" }],
  [false, "/services/dear/grants", { username: "alice", price: "" }],
  [true, "/users/alice/prices", { service: "loss", price: "0.1" }],
  [false, "/users/alice/prices", { service: "hand", price: "0.1" }],
  [true, "/users/alice/discount", { percent: "90" }],
  [false, "/users/alice/discount", { percent: "0" }],
])("a price below cost asks first: %p at %s", async (asks, path, fields) => {
  const state = () =>
    dumpOf(panel, services) +
    JSON.stringify([
      panel.query("SELECT * FROM grants"),
      panel.query("SELECT discount_ppm FROM users"),
    ]);
  const before = state();
  const reply = await panel.post(path, fields);
  expect([reply.status, reply.text.includes("below cost")]).toEqual([asks ? 200 : 303, asks]);
  if (!asks) return;
  expect(state()).toBe(before);
  expect((await panel.confirm(path, fields)).status).toBe(303);
  expect(state()).not.toBe(before);
});

test("a duplicate has all terms in the form of a new service, and changes nothing until it is sent", async () => {
  const before = dumpOf(panel, services);
  const { text } = await panel.get("/new-service?from=dear");
  for (const value of ["New (copy)", "acme"]) expect(text).toContain(value);
  expect(dumpOf(panel, services)).toBe(before);
  expect((await panel.get("/new-service?from=nothing")).status).toBe(404);
  const terms = { ...TERMS, ...OF_ACME, name: "New (copy)", price: "3", id: "copy" };
  await panel.post("/services", terms);
  expect(panel.read((reader) => findService(reader, "copy"))).toMatchObject({
    priceMicros: 3_000_000,
    providerService: "1",
  });
});

test("categories are moved one by one, and listed by name again", async () => {
  const names = () => panel.read(listCategories).map(({ category }) => category);
  const first = names();
  expect(first).toEqual(["A", "C", "Services"]);
  const move = (category: string, to: string) =>
    panel.post("/categories", { category, move: to }).then(({ status }) => status);
  expect([await move("Services", "first"), await move("A", "down")]).toEqual([303, 303]);
  expect(names()).toEqual(["Services", "C", "A"]);
  await move("A", "up");
  expect(names()).toEqual(["Services", "A", "C"]);
  const before = names();
  expect([await move("nowhere", "up"), await move("A", "away")]).toEqual([422, 422]);
  expect(names()).toEqual(before);
  expect(ids(await panel.get("/services"))[0]).not.toBe("loss");
  await panel.post("/categories/by-name");
  expect(names()).toEqual(first);
});
