// `reference`: the caller's own name for an order, used once.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { expectError } from "../../support/http/refusal.ts";
import { openService, type TestService } from "../../support/worlds/service.ts";

let service: TestService;
let key: string;
let strange: string;

beforeAll(async () => {
  service = await openService();
  for (const name of ["anna", "bert"]) service.user(name, "1000");
  key = service.key("anna", "full").text;
  strange = service.key("bert", "full").text;
  service.service({ id: "likes" });
});

afterAll(() => service.stop());

const order = (reference: unknown, changes: object = {}, as = key) =>
  service.call("POST", "/orders", as, {
    service: "likes",
    link: "x",
    quantity: 100,
    reference,
    ...changes,
  });

describe("a reference", () => {
  test("is not in the response of POST, and is in the order and in lists from then on", async () => {
    const { body } = await order("a-1");
    expect(Object.keys(body.order)).toEqual([
      "id",
      "orderId",
      "service",
      "link",
      "quantity",
      "charge",
      "status",
      "createdAt",
    ]);
    const read = await service.call("GET", `/orders/${body.order.id}`, key);
    expect(read.body.order).toEqual({
      ...body.order,
      startCount: 0,
      remains: 100,
      reference: "a-1",
    });
  });

  test("that was not given, or is null, is absent", async () => {
    for (const none of [undefined, null]) {
      const { body } = await order(none);
      const read = await service.call("GET", `/orders/${body.order.id}`, key);
      expect("reference" in read.body.order).toBe(false);
    }
  });

  test("used again is a 409 with the order that has it, and changes nothing", async () => {
    const first = await order("b-1");
    service.run("setServiceActive", { id: "likes", active: false });
    const before = service.fingerprint();
    for (const changes of [{}, { quantity: 1 }, { service: "no-such" }, { quantity: 10_000 }]) {
      const again = await order("b-1", changes);
      expectError(again, 409, "Reference was already used", {
        order: { ...first.body.order, startCount: 0, remains: 100, reference: "b-1" },
      });
      expect(again.body.code).toBe("reference_taken");
    }
    expect(service.fingerprint()).toBe(before);
    service.run("setServiceActive", { id: "likes", active: true });
  });

  test("is each reseller's own", async () => {
    expect((await order("c-1")).status).toBe(200);
    expect((await order("c-1", {}, strange)).status).toBe(200);
    expect((await order("C-1")).status).toBe(200);
  });

  test("of an order that was refused can be used again", async () => {
    expect((await order("d-1", { quantity: 1 })).status).toBe(400);
    expect((await order("d-1")).status).toBe(200);
  });

  test("sent fifty times at once is placed once", async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => order("e-1")));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, ...Array.from({ length: 49 }, () => 409)]);
    expect(new Set(answers.map(({ body }) => body.order.id)).size).toBe(1);
  });

  test.each([
    ["65 characters", "x".repeat(65)],
    ["a number", 5],
  ])("%s is refused", async (_, reference) => {
    expectError(
      await order(reference),
      400,
      "reference must be 1 to 64 characters without control characters, leading or trailing spaces",
    );
  });

  test("may be any 64 characters", async () => {
    for (const reference of ["№ 4711/ä", "%_'\"<>&"]) {
      expect((await order(reference)).status).toBe(200);
      const found = await service.call(
        "GET",
        `/orders?reference=${encodeURIComponent(reference)}`,
        key,
      );
      expect(found.body.orders).toMatchObject([{ reference }]);
    }
  });
});
