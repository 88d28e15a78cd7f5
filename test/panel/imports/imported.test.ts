// The page Moving in, and a past order's.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { hashKey } from "../../../src/domain/users/keys.ts";
import { pastOrderId } from "../../../src/domain/orders/past-orders.ts";
import { openPanel, type TestPanel } from "../../support/worlds/panel.ts";

const OLD_KEY = "9f86d081884c7d659a2feaa0c55ad015";

let panel: TestPanel;

beforeAll(async () => {
  panel = await openPanel({ role: "support" });
});
afterAll(() => panel.stop());

const text = async (path: string) =>
  (await panel.get(path)).text
    .replace(/<(script|style|nav)[^]*?<\/\1>/g, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ");

test("without an import the page leads an owner to one, and tells others who makes it", async () => {
  const shown = await text("/imported");
  expect(shown).toContain("An owner can import users");
  const cookie = (panel.administrator("boss", "owner"), panel.session("boss"));
  const own = await panel.ask("/imported", { headers: { cookie } });
  expect(own.text).toContain('href="/moving-in"');
});

test("it shows what was imported, the keys to rotate, and which orders are still open where", async () => {
  const url = "http://127.0.0.1:9/";
  panel.run("createProvider", { name: "acme", protocol: "smm-api", url, key: "k" });
  panel.run("beginImport", { run: "r", isAlone: false, orders: 1300, services: 7 });
  const user = { name: "<b>Ann</b>", email: null, discountPpm: 0, active: true };
  panel.run("importUsers", {
    users: [
      { ...user, source: "1", username: "ann", balanceMicros: 1_234_500_000 },
      { ...user, source: "2", username: "bea", balanceMicros: 0 },
    ],
  });
  const provider = { name: "acme", service: "77" };
  panel.run("importPanelServices", {
    services: [{ number: 7, name: "Likes", priceMicros: 5, per: "1000", min: 1, max: 9, provider }],
  });
  panel.run("importKeys", {
    keys: [{ source: "1", hash: hashKey(OLD_KEY), start: "9f86", label: "old" }],
  });
  const order = {
    source: "1",
    serviceNumber: 7,
    serviceName: "Likes",
    link: "https://example.com/x",
    quantity: 10,
    chargeMicros: 250_000,
    startCount: 0,
    remains: 0,
    createdAt: Date.UTC(2025, 0, 2),
    provider: "3",
    providerOrder: "9001",
    deliveredBy: null,
  };
  panel.run("importOrders", {
    orders: [
      { ...order, orderId: 1201, status: "COMPLETED" },
      { ...order, orderId: 1202, status: "CANCELLED", source: "2" },
      {
        ...order,
        orderId: 1203,
        status: "PROCESSING",
        deliveredBy: { name: "acme", service: null },
      },
      { ...order, orderId: 1204, status: "PROCESSING", providerOrder: null },
    ],
  });
  expect(await text("/imported")).toContain("An import is running");
  panel.clock.now += 31_000;
  const unfinished = await text("/imported");
  expect(unfinished).toContain("The import did not run to its end");
  const counts = { users: 2, services: 1, keys: 1, pastOrders: 2, openOrders: 2 };
  panel.run("finishImport", { run: "r", ...counts });
  const page = await text("/imported");
  expect(page).not.toContain("did not run to its end");
  for (const shown of [
    "Users 2",
    "1 234.50",
    "Past orders 2",
    "Orders that were open 2",
    "1 key of the other panel still works",
    "9f86…",
  ])
    expect(page).toContain(shown);
  expect(page).toContain("acme 1");
  expect(page).toContain("delivered by hand 1");
  expect(page).not.toContain(OLD_KEY);
  const filtered = await text("/imported?user=bea");
  expect(filtered).toContain("1202");
  expect(filtered).not.toContain("1201");
});

test("a past order has a page, of its own", async () => {
  const page = await text("/imported/orders/1201");
  for (const shown of ["Order 1201", "Completed", "imported", "ann", "Likes (7)", "9001"]) {
    expect(page).toContain(shown);
  }
  expect((await panel.get("/imported/orders/9999")).status).toBe(404);
});

test("search finds a past order by its number, its id and its number at the provider, and says that it is past", async () => {
  const [past, other] = [pastOrderId(1201), pastOrderId(1202)];
  for (const text of ["1201", past]) {
    const { headers } = await panel.get(`/search?q=${text}`);
    expect([text, headers.get("location")]).toEqual([text, "/imported/orders/1201"]);
  }
  expect((await panel.get(`/search?q=${other}`)).headers.get("location")).toBe(
    "/imported/orders/1202",
  );
  // The orders of the import share it.
  const list = await text("/search/list?q=9001");
  expect(list.match(/Order 120\d had this number at the provider: past/g)).toEqual([
    "Order 1202 had this number at the provider: past",
    "Order 1201 had this number at the provider: past",
  ]);
  expect(list).toContain("Order 1203 has this number at the provider: Processing");
  expect((await panel.get("/search?q=9002")).status).toBe(200);
});

test("a rotated key is not to be rotated any more, and a reseller's page marks the others", async () => {
  expect(await text("/users/ann")).toContain("imported: rotate");
  const [key] = panel.query<{ id: string }>("SELECT id FROM keys WHERE imported = 1");
  panel.run("rotateKey", {
    id: key!.id,
    hash: "a".repeat(64),
    start: "rk_abcde",
    graceMilliseconds: 0,
  });
  expect(await text("/imported")).toContain("Keys to rotate None.");
});
