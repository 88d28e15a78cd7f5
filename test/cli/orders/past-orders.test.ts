// `admin order show` of orders that ended in another panel: by number and by id, marked as past.

import { expect, test } from "bun:test";
import { pastOrderId } from "../../../src/domain/orders/past-orders.ts";
import { freshDatabase } from "../../support/databases/test-database.ts";
import { optionsOf, reseller } from "../../support/worlds/shop.ts";

test("an imported past order is shown like any other, and marked as past", async () => {
  const database = freshDatabase();
  database.run("beginImport", { run: "r", isAlone: false, orders: 1300, services: 7 });
  const user = { name: "Ann", email: null, discountPpm: 0, active: true, balanceMicros: 0 };
  database.run("importUsers", { users: [{ ...user, source: "1", username: "ann" }] });
  const order = {
    orderId: 1201,
    source: "1",
    serviceNumber: 7,
    serviceName: "Likes",
    link: "https://example.com/x",
    quantity: 10,
    chargeMicros: 250_000,
    status: "COMPLETED" as const,
    startCount: 3,
    remains: 0,
    createdAt: Date.UTC(2025, 0, 2),
    provider: "3",
    providerOrder: "9001",
    deliveredBy: null,
  };
  database.run("importOrders", { orders: [order] });
  const show = (id: string, ...flags: string[]) =>
    reseller("admin", "order", "show", id, ...flags, ...optionsOf(database));
  for (const id of ["1201", pastOrderId(1201)]) {
    const { code, json } = await show(id, "--json");
    expect([id, code, json]).toEqual([
      id,
      0,
      {
        past: true,
        orderId: 1201,
        username: "ann",
        service: 7,
        serviceName: "Likes",
        link: order.link,
        quantity: 10,
        charge: 0.25,
        status: "COMPLETED",
        startCount: 3,
        remains: 0,
        createdAt: "2025-01-02T00:00:00.000Z",
        provider: "3",
        providerOrder: "9001",
      },
    ]);
  }
  const { stdout } = await show("1201");
  expect(stdout).toContain("It ended in another panel");
  for (const id of ["1202", pastOrderId(1202)]) {
    const { code, stderr } = await show(id);
    expect([id, code, stderr]).toEqual([id, 1, expect.stringContaining("not found")]);
  }
});
