// The run of an import: one at a time, and its numbers are kept while a server gives others.

import { expect, test } from "bun:test";
import { IMPORT_LEASE_MS } from "../../../src/domain/imports/runs.ts";
import type { ImportedOrder } from "../../../src/operations/imports/orders.ts";
import {
  freshDatabase,
  OPERATOR,
  type TestDatabase,
} from "../../support/databases/test-database.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import { refusalCode } from "../../support/http/refusal.ts";
import { openServerDatabase } from "../../support/worlds/service.ts";

const NOW = Date.UTC(2026, 0, 1);
const begin = (database: TestDatabase, run: string, now = NOW, numbers = {}) =>
  refusalCode(() => {
    const command = { run, orders: 0, services: 0, isAlone: false, actor: OPERATOR, ...numbers };
    database.execute("beginImport", command, now);
  }, database);

const SERVICE = {
  name: "Likes",
  category: "Likes",
  priceMicros: 1_000_000,
  per: "1000",
  min: 1,
  max: 1000,
  private: false,
  provider: null,
  actor: OPERATOR,
} as const;

function withOrders(): { database: TestDatabase; order: () => number } {
  const database = freshDatabase();
  database.user("ann", "100");
  const service = database.service();
  const keyId = database.key("ann", "order").id;
  const [{ account }] = database.query<{ account: number }>("SELECT account FROM users") as [
    { account: number },
  ];
  const link = "https://example.com/a";
  const order = { resellerAccount: account, keyId, service, link, quantity: 10 };
  return { database, order: () => database.run("placeOrder", order).orderId };
}

test("while an import runs, another is refused; one that was killed counts as running for 30 s", () => {
  const database = freshDatabase();
  expect(begin(database, "one")).toBe(null);
  expect(begin(database, "two", NOW + IMPORT_LEASE_MS - 1)).toBe("moving_in_running");
  expect(database.execute("renewImport", { run: "one" }, NOW + IMPORT_LEASE_MS - 1)).toBe(true);
  expect(begin(database, "two", NOW + 2 * IMPORT_LEASE_MS - 2)).toBe("moving_in_running");
  expect(begin(database, "two", NOW + 2 * IMPORT_LEASE_MS)).toBe(null);
  // The first one learns that it is over, and cannot end the second.
  expect(database.execute("renewImport", { run: "one" }, NOW + 60_000)).toBe(false);
  database.execute("stopImport", { run: "one" }, NOW + 60_000);
  expect(begin(database, "three", NOW + 60_001)).toBe("moving_in_running");
  database.execute("stopImport", { run: "two" }, NOW + 60_002);
  expect(begin(database, "three", NOW + 60_003)).toBe(null);
});

test("an import that has the database for itself waits for no other: that one was killed", () => {
  const database = freshDatabase();
  begin(database, "one");
  expect(begin(database, "two", NOW, { isAlone: true })).toBe(null);
});

test("an import whose end is far in the future, because the clock was wrong, keeps no other out", () => {
  const database = freshDatabase();
  begin(database, "one", NOW + 86_400_000);
  expect(begin(database, "two", NOW)).toBe(null);
});

test("an order that was placed since the dry run refuses the import, and no number is skipped", () => {
  const { database, order } = withOrders();
  expect(order()).toBe(1);
  expect(begin(database, "one", NOW, { orders: 5000, services: 5000 })).toBe("moving_in_late");
  expect(order()).toBe(2);
  expect(database.query("SELECT * FROM panel_import")).toEqual([]);
});

test("orders placed while it runs get numbers above those of the import, which go on being imported", async () => {
  const { database, order } = withOrders();
  begin(database, "one", NOW, { orders: 5000 });
  expect([order(), order()]).toEqual([5001, 5002]);
  const user = { name: "Bea", email: null, balanceMicros: 0, discountPpm: 0, active: true };
  database.run("importUsers", { users: [{ ...user, source: "1", username: "bea" }] });
  // Out of order, and with times after those of the orders that were placed here.
  const imported = (orderId: number, createdAt: number): ImportedOrder => ({
    orderId,
    source: "1",
    serviceNumber: 1,
    serviceName: "Likes",
    link: "https://example.com/a",
    quantity: 10,
    chargeMicros: 10,
    status: "PROCESSING",
    startCount: 0,
    remains: 10,
    createdAt,
    provider: null,
    providerOrder: null,
    deliveredBy: null,
  });
  const far = Date.now() + 3_600_000;
  const orders = [imported(4000, 5), imported(40, 10), imported(400, 9), imported(5000, far)];
  expect(database.run("importOrders", { orders })).toEqual(["new", "new", "new", "new"]);
  expect(order()).toBe(5003);
  const times = database.query<{ created_at: number }>(
    "SELECT created_at FROM orders ORDER BY order_id",
  );
  const placed = times.map(({ created_at: time }) => time);
  expect(placed).toEqual(placed.toSorted((one, other) => one - other));
  expect(await verifyStore(database)).toEqual([]);
});

test("a running server gives no number that an import keeps, and none of a deleted service", async () => {
  const database = freshDatabase();
  const server = await openServerDatabase(database);
  try {
    const create = async (id: string) => {
      await server.writer.submit("createService", { ...SERVICE, id });
      const [found] = database.query<{ number: number }>(
        `SELECT number FROM services WHERE id = '${id}'`,
      );
      return found!.number;
    };
    expect([await create("a"), await create("b")]).toEqual([1, 2]);
    await server.writer.submit("deleteService", { id: "b", actor: OPERATOR });
    expect(await create("c")).toBe(3);
    // By another process, such as a command, and by the server itself.
    begin(database, "one", Date.now(), { services: 50 });
    expect([await create("d"), await create("e")]).toEqual([51, 52]);
    const again = { run: "one", orders: 0, services: 90, isAlone: false, actor: OPERATOR };
    await server.writer.submit("beginImport", again);
    expect([await create("f"), await create("g")]).toEqual([91, 92]);
  } finally {
    await server.close();
    database.close();
  }
});
