// Routes of services on the command line: `admin service route`, and what other commands make of them.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { listAuditEntries } from "../../../src/db/administrators/audit.ts";
import { openShop, type Shop } from "../../support/worlds/shop.ts";
import { seedProvider, orderOf } from "../../support/seeds/shop-orders.ts";
import { PROVIDER_KEY, startUpstream, type Upstream } from "../../support/peers/upstream.ts";

let upstream: Upstream;
let shop: Shop;

beforeAll(async () => {
  upstream = await startUpstream();
  shop = seedProvider(openShop(), upstream);
  for (const name of ["bulk", "core"]) {
    const provider = { name, protocol: "smm-api", url: upstream.url, key: PROVIDER_KEY };
    shop.run("createProvider", provider);
  }
  shop.service({ id: "likes", price: "2", provider: { name: "acme", service: "7" } });
});
afterAll(() => upstream.stop());

const route = (...argv: string[]) => shop.cli("admin", "service", "route", ...argv);
const to = (provider: string, service: string) => [
  "--provider",
  provider,
  "--provider-service",
  service,
];

test("add, list and remove print the routes in the order in which they are tried", async () => {
  const own = { provider: "acme", providerService: "7", priority: 0, delisted: false };
  expect((await route("likes", "list", "--json")).json).toEqual([own]);
  const bulk = { provider: "bulk", providerService: "8", priority: 1, delisted: false };
  expect((await route("likes", "add", ...to("BULK", "8"), "--json")).json).toEqual([own, bulk]);
  const core = { provider: "core", providerService: "9", priority: 5, delisted: false };
  const added = await route("likes", "add", ...to("core", "9"), "--priority", "5", "--json");
  expect(added.json).toEqual([own, bulk, core]);
  // Given again, a route has another priority; the first is the service's provider.
  const moved = await route("likes", "add", ...to("core", "9"), "--priority", "0", "--json");
  expect(moved.json).toEqual([own, { ...core, priority: 0 }, bulk]);
  await route("likes", "add", ...to("acme", "7"), "--priority", "9");
  const { json } = await shop.cli("admin", "service", "list", "--search", "likes", "--json");
  expect(json).toMatchObject([{ provider: "core", providerService: "9" }]);
  const shown = await route("likes", "list");
  expect(shown.stdout.split("\n").map((line) => line.split(/\s+/)[0])).toEqual(
    expect.arrayContaining(["PROVIDER", "core", "bulk", "acme"]),
  );
  expect((await route("likes", "remove", ...to("core", "9"), "--json")).json).toEqual([
    bulk,
    { ...own, priority: 9 },
  ]);
  const entries = shop.read((reader) => listAuditEntries(reader, { subject: "likes", limit: 10 }));
  expect(entries.slice(0, 3)).toMatchObject([
    { action: "route.remove", before: { provider: "core", providerService: "9" }, after: null },
    { action: "route.put", before: { priority: 0 }, after: { priority: 9 } },
    { action: "route.put", before: { priority: 5 }, after: { priority: 0 } },
  ]);
  await route("likes", "add", ...to("acme", "7"), "--priority", "0");
});

test.each<[what: string, argv: string[], code: number, says: string]>([
  ["no such service", ["nothing", "list"], 1, "service not found"],
  ["no such service", ["nothing", "add", ...to("bulk", "8")], 1, "service not found"],
  ["no such provider", ["likes", "add", ...to("nobody", "8")], 1, "provider not found"],
  ["no such route", ["likes", "remove", ...to("bulk", "99")], 1, "no such route"],
  ["another verb", ["likes", "move"], 2, "must be one of"],
  ["no route", ["likes", "add"], 2, "--provider and --provider-service"],
  [
    "half a route",
    ["likes", "remove", "--provider", "bulk"],
    2,
    "--provider and --provider-service",
  ],
  ["a route to list", ["likes", "list", ...to("bulk", "8")], 2, "list takes neither"],
  ["no number", ["likes", "add", ...to("bulk", "8"), "--priority", "-1"], 2, "whole number"],
  ["too great", ["likes", "add", ...to("bulk", "8"), "--priority", "1000001"], 2, "whole number"],
  [
    "a priority to remove",
    ["likes", "remove", ...to("bulk", "8"), "--priority", "1"],
    2,
    "used with add",
  ],
])("%s is refused and changes nothing: %p", async (_, argv, code, says) => {
  const before = shop.dump();
  const ran = await route(...argv);
  expect([ran.code, ran.stderr]).toEqual([code, expect.stringContaining(says)]);
  expect(shop.dump()).toBe(before);
});

test("a service has at most 20 routes", async () => {
  shop.service({ id: "many", price: "2", provider: { name: "acme", service: "0" } });
  for (let index = 1; index < 20; index += 1) {
    const putting = { id: "many", provider: "bulk", providerService: String(index) };
    shop.run("putRoute", { ...putting, priority: null });
  }
  const ran = await route("many", "add", ...to("core", "1"));
  expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining("at most 20 routes")]);
  shop.run("deleteService", { id: "many" });
});

const listed = (service: number, name: string) => ({
  service,
  name,
  type: "Default",
  rate: "1.00",
  min: "10",
  max: "1000",
  category: "c",
});

test("a sync changes no routes, and adds no service for a provider service that a route already uses", async () => {
  const routes = () => shop.query("SELECT * FROM service_routes ORDER BY service_id, place");
  const before = routes();
  upstream.services = [listed(8, "Likes of bulk"), listed(80, "Views of bulk")];
  const synced = await shop.cli("admin", "provider", "sync", "bulk", "--markup", "10%", "--json");
  expect(synced.json).toMatchObject({ added: 1, skipped: 1 });
  expect(routes()).toEqual(before);
  expect(shop.query("SELECT name FROM services WHERE provider_service = '8'")).toEqual([]);
});

test("a delisted route is named by the sync, in the list of routes and under ATTENTION, until it is listed again", async () => {
  const synced = async (name: string, ...services: object[]) => {
    upstream.services = services;
    return shop.cli("admin", "provider", "sync", name, "--markup", "10%");
  };
  const attention = async () => {
    const { json } = await shop.cli("admin", "provider", "list", "--json");
    const rows = json as { name: string; attention: string[] }[];
    return rows.flatMap((row) => row.attention.map((what) => `${row.name} ${what}`));
  };
  const gone = await synced("acme", listed(70, "Other of acme"));
  expect(gone.stdout).toContain(
    "provider's 7 is no longer listed; other routes deliver it\n1 added, 0 updated, 0 unchanged, 0 deactivated, 0 reactivated, 1 delisted, ",
  );
  expect((await route("likes", "list", "--json")).json).toMatchObject([
    { provider: "acme", delisted: true },
    { provider: "bulk", delisted: false },
  ]);
  expect(await attention()).toEqual([
    "acme acme does not list 1 service any more, and other routes deliver it: see `reseller admin service route ID list`",
  ]);
  const entries = shop.read((reader) => listAuditEntries(reader, { subject: "likes", limit: 1 }));
  expect(entries).toMatchObject([
    { action: "route.put", before: { "acme 7": "listed" }, after: { "acme 7": "not listed" } },
  ]);
  // What is left of it: the service goes, and what is back brings it again.
  const last = await synced("bulk", listed(80, "Views of bulk"));
  expect(last.stdout).toContain("(likes): no longer listed\n");
  expect(await attention()).toEqual([]);
  const back = await synced("bulk", listed(8, "Likes of bulk"), listed(80, "Views of bulk"));
  expect(back.stdout).toContain("(likes): is listed again\n");
  expect(shop.query("SELECT active, delisted FROM services WHERE id = 'likes'")).toEqual([
    { active: 1, delisted: 0 },
  ]);
  await synced("acme", listed(7, "Likes"), listed(70, "Other of acme"));
  expect(await attention()).toEqual([]);
});

test("order show names the provider of each attempt", async () => {
  const id = orderOf(shop, "unknown");
  const { json, stdout } = await shop.cli("admin", "order", "show", id, "--json");
  expect(json.timeline).toMatchObject([
    { what: "sending", provider: "acme" },
    { what: "unknown", provider: "acme" },
  ]);
  expect(stdout).not.toContain(PROVIDER_KEY);
});

test("verify reports a duplicate route, and an order whose provider differs from its attempt's", async () => {
  expect((await shop.cli("verify")).code).toBe(0);
  const id = orderOf(shop, "placed", "777");
  shop.dropTrigger("orders_change_provider_unsent");
  shop.query("UPDATE orders SET provider_id = 2 WHERE order_id = ?", Number(id));
  shop.query(
    "INSERT INTO service_routes (service_id, provider_id, provider_service, priority, place) VALUES ('likes', 1, '7', 0, 9)",
  );
  const { code, json } = await shop.cli("verify", "--json");
  expect(code).toBe(1);
  const checks = json.problems.map(({ check }: { check: string }) => check);
  expect(checks).toEqual(
    expect.arrayContaining([
      "an order's provider matches its attempt",
      "the routes of a service match its provider",
    ]),
  );
});
