// GET /orders: filters, pages, ids.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ORDER_STATUSES } from "../../../src/domain/orders/order-statuses.ts";
import { readAll } from "../../support/http/pages.ts";
import { expectError } from "../../support/http/refusal.ts";
import type { Body } from "../../support/http/api.ts";
import { openService, type TestService } from "../../support/worlds/service.ts";
import { OPERATOR } from "../../support/databases/test-database.ts";

const DAY = 24 * 60 * 60 * 1000;
const START = Date.parse("2026-03-01T00:00:00.000Z");
const SERVICES = ["likes", "views"];
/** Pages of a read that others order between: without an end the list would grow faster than it is read. */
const BUSY_PAGES = 10;

let service: TestService;
let key: string;
let strange: string;
/** As they were placed, oldest first. */
const placed: { orderId: number; service: string; createdAt: number; status: string }[] = [];

beforeAll(async () => {
  service = await openService();
  for (const name of ["anna", "bert"]) service.user(name, "1000000");
  key = service.key("anna", "full").text;
  strange = service.key("bert", "full").text;
  for (const id of SERVICES) service.service({ id, name: id });
  for (let index = 0; index < 60; index++) {
    // The clock is put back by ten days in the middle.
    const createdAt = START + index * DAY - (index >= 30 ? 10 * DAY : 0);
    place(index % 7 === 0 ? "views" : "likes", createdAt, index % 10 === 0 ? `r${index}` : null);
  }
  for (const [index, order] of placed.entries()) {
    if (index % 3 === 0) move(order, "COMPLETED");
    else if (index % 20 === 1) move(order, "CANCELLED");
  }
});

afterAll(() => service.stop());

function accountOf(username: string): { account: number; keyId: string } {
  const [found] = service.query<{ account: number; keyId: string }>(
    `SELECT account, keys.id AS "keyId" FROM users JOIN keys ON reseller_account = account WHERE username = ?`,
    username,
  );
  return found!;
}

function place(id: string, createdAt: number, reference: string | null, username = "anna"): void {
  const { account, keyId } = accountOf(username);
  const command = { resellerAccount: account, keyId, service: id, link: "x", quantity: 100 };
  const { orderId } = service.execute("placeOrder", { ...command, reference }, createdAt);
  if (username === "anna") placed.push({ orderId, service: id, createdAt, status: "PROCESSING" });
}

function move(order: { orderId: number; status: string }, to: "COMPLETED" | "CANCELLED"): void {
  service.run("transitionOrder", { id: String(order.orderId), to, note: null, actor: OPERATOR });
  order.status = to;
}

const list = (query: string, as = key) => service.call("GET", `/orders${query}`, as);
const idsOf = (orders: Body[]): number[] => orders.map((order) => order.orderId);

test("a service whose id no database could store is one that does not exist", async () => {
  const { status, body } = await list("?service=likes%00");
  expect([status, body.orders, body.nextCursor]).toEqual([200, [], null]);
  const order = { service: "likes\0", link: "x", quantity: 100 };
  expectError(await service.call("POST", "/orders", key, order), 400, "Service not found");
});

describe("a list of orders", () => {
  test("is the caller's, newest first, in the status shape", async () => {
    place("likes", START, null, "bert");
    const { body } = await list("?limit=3");
    expect(idsOf(body.orders)).toEqual(
      placed
        .slice(-3)
        .map(({ orderId }) => orderId)
        .reverse(),
    );
    const single = await service.call("GET", `/orders/${body.orders[0].orderId}`, key);
    expect(body.orders[0]).toEqual(single.body.order);
    expect((await list("", strange)).body).toMatchObject({ orders: [{}], nextCursor: null });
  });

  test("holds 50 by default, and ends with a null cursor", async () => {
    const first = await list("");
    expect(first.body.orders).toHaveLength(50);
    const last = await list(`?cursor=${first.body.nextCursor}`);
    expect([last.body.orders.length, last.body.nextCursor]).toEqual([10, null]);
    const whole = await list("?limit=60");
    expect([whole.body.orders.length, whole.body.nextCursor]).toEqual([60, null]);
  });

  test("has a reference only for orders that were given one", async () => {
    const orders = await readAll(service, key, "/orders?limit=100", "orders");
    for (const order of orders) {
      const index = placed.findIndex(({ orderId }) => orderId === order.orderId);
      expect(order.reference).toBe(index % 10 === 0 ? `r${index}` : undefined);
      expect("reference" in order).toBe(index % 10 === 0);
    }
  });

  const status = fc.option(fc.constantFrom(...ORDER_STATUSES), { nil: undefined });
  const serviceId = fc.option(fc.constantFrom(...SERVICES, "no-such"), { nil: undefined });
  const day = fc.option(fc.integer({ min: -5, max: 65 }), { nil: undefined });

  test("has exactly the orders that its filters ask for, at any page size", async () => {
    await fc.assert(
      fc.asyncProperty(
        status,
        serviceId,
        day,
        day,
        fc.integer({ min: 1, max: 100 }),
        async (wantedStatus, wantedService, from, to, limit) => {
          fc.pre(from === undefined || to === undefined || from <= to);
          const at = (days: number) => new Date(START + days * DAY);
          const query = new URLSearchParams({ limit: String(limit) });
          if (wantedStatus) query.set("status", wantedStatus);
          if (wantedService) query.set("service", wantedService);
          if (from !== undefined) query.set("from", at(from).toISOString());
          if (to !== undefined) query.set("to", at(to).toISOString());
          const found = await readAll(service, key, `/orders?${query.toString()}`, "orders");
          const wanted = placed
            .filter((order) => !wantedStatus || order.status === wantedStatus)
            .filter((order) => !wantedService || order.service === wantedService)
            .filter((order) => from === undefined || order.createdAt >= at(from).getTime())
            .filter((order) => to === undefined || order.createdAt <= at(to).getTime());
          expect(idsOf(found)).toEqual(wanted.map(({ orderId }) => orderId).reverse());
        },
      ),
      { numRuns: 60 },
    );
  });

  test("a date without a time means the whole day, and time zones are respected", async () => {
    const inDay = await list("?from=2026-03-02&to=2026-03-02");
    expect(inDay.body.orders).toHaveLength(1);
    for (const plus of ["+", "%2B"]) {
      const zone = await list(`?from=2026-03-02T02:00:00${plus}02:00&to=2026-03-02T00:00Z`);
      expect(idsOf(zone.body.orders)).toEqual(idsOf(inDay.body.orders));
    }
  });

  test("finds an order by its reference, within the other filters", async () => {
    const { body } = await list("?reference=r10");
    expect(body).toMatchObject({ orders: [{ reference: "r10" }], nextCursor: null });
    expect((await list("?reference=r10&status=PENDING")).body.orders).toEqual([]);
    expect((await list("?reference=r10", strange)).body.orders).toEqual([]);
    expect((await list("?reference=nothing")).body.orders).toEqual([]);
  });

  test("by service does not block while it reads past other orders", async () => {
    const { account, keyId } = accountOf("bert");
    const command = { resellerAccount: account, keyId, service: "likes", link: "x", quantity: 10 };
    service.run("placeOrders", { keyId, entries: [{ order: { ...command, service: "views" } }] });
    const many = Array.from({ length: 2500 }, () => ({ order: command }));
    service.run("placeOrders", { keyId, entries: many });
    const found = await readAll(service, strange, "/orders?service=views&limit=2", "orders");
    expect(found).toHaveLength(1);
  });
});

describe("a bad filter is refused by its name", () => {
  const ISO = "from must be an ISO 8601 time such as 2026-01-31T09:30:00Z, or a date";
  test.each([
    ["status=DONE", `status must be one of ${ORDER_STATUSES.join(", ")}`],
    ["status=", `status must be one of ${ORDER_STATUSES.join(", ")}`],
    ["service=", "service must be a non-empty string"],
    [
      `reference=${"x".repeat(65)}`,
      "reference must be 1 to 64 characters without control characters, leading or trailing spaces",
    ],
    ["from=2026-02-30", ISO],
    ["from=", ISO],
    ["to=2026-1-1", ISO.replace("from", "to")],
    ["from=2026-01-02&to=2026-01-01", "from must be at or before to"],
    ["limit=101", "limit must be a whole number from 1 to 100"],
    ["limit=", "limit must be a whole number from 1 to 100"],
    ["cursor=", "cursor must be the nextCursor of an earlier answer"],
    ["cursor=abc", "cursor must be the nextCursor of an earlier answer"],
    [
      `cursor=${Buffer.from("transactions:5").toString("base64url")}`,
      "cursor must be the nextCursor of an earlier answer",
    ],
    ["ids=", "ids must be 1 to 100 order ids separated by commas"],
    ["ids=1,,2", "ids must be 1 to 100 order ids separated by commas"],
    [`ids=${"1,".repeat(100)}1`, "ids must be 1 to 100 order ids separated by commas"],
    ["ids=1&status=PENDING", "ids must be given without other filters"],
  ])("%s", async (query, message) => {
    const answer = await list(`?${query}`);
    expectError(answer, 400, message);
    expect(answer.body).toMatchObject({ code: "field_invalid", field: message.split(" ")[0] });
  });

  test("an unknown filter is ignored", async () => {
    expect((await list("?limit=1&colour=blue")).status).toBe(200);
  });
});

describe("ids", () => {
  test("of either kind are returned in the order of `ids`, unknown ones are listed", async () => {
    const { body } = await list("?limit=3");
    const [a, b, c] = body.orders;
    const strangers = (await list("?limit=1", strange)).body.orders[0];
    const asked = [
      b.id,
      "99999",
      a.orderId,
      c.id,
      strangers.id,
      strangers.orderId,
      "no-id",
      b.orderId,
    ];
    const answer = await list(`?ids=${asked.join(",")}`);
    expect(answer.body).toEqual({
      status: "success",
      orders: [b, a, c, b],
      nextCursor: null,
      unknown: ["99999", strangers.id, String(strangers.orderId), "no-id"],
    });
  });

  test("may be a hundred", async () => {
    const ids = Array.from({ length: 100 }, (_, index) => String(index + 1));
    const { body } = await list(`?ids=${ids.join(",")}`);
    expect(body.orders.length + body.unknown.length).toBe(100);
  });
});

test("no order is left out or seen twice, whatever is placed or changes state while a client reads", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 25 }),
      fc.infiniteStream(fc.integer({ min: 0, max: 6 })),
      fc.option(fc.constantFrom(...SERVICES), { nil: undefined }),
      async (limit, bursts, wantedService) => {
        const before = placed.filter((order) => !wantedService || order.service === wantedService);
        const query = `/orders?limit=${limit}${wantedService ? `&service=${wantedService}` : ""}`;
        let busy = BUSY_PAGES;
        const found = await readAll(service, key, query, "orders", async () => {
          if (busy === 0) return;
          busy -= 1;
          const burst = bursts.next().value!;
          const body = { service: SERVICES[burst % 2], link: "x", quantity: 100 };
          const answers = await Promise.all(
            Array.from({ length: burst }, () => service.call("POST", "/orders", key, body)),
          );
          for (const answer of answers) {
            const { orderId, service: name, createdAt, status } = answer.body.order;
            placed.push({ orderId, service: name, createdAt: Date.parse(createdAt), status });
          }
          placed.sort((a, b) => a.orderId - b.orderId);
          const open = placed.find((order) => order.status === "PROCESSING");
          if (open && burst === 1) move(open, "COMPLETED");
        });
        expect(idsOf(found)).toEqual(before.map(({ orderId }) => orderId).reverse());
      },
    ),
    { numRuns: 10 },
  );
});
