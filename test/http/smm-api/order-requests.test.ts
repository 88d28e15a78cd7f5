// `cancel`, `refill` and `refill_status` as panels send and read them: docs/specification/smm-api.md#v2-requests.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { smmClientOf } from "../../support/http/smm-client.ts";
import type { Body } from "../../support/http/api.ts";
import { openService, type TestService } from "../../support/worlds/service.ts";

let service: TestService;
let ask: (action: string, fields?: Record<string, string>) => Promise<Body>;
let stranger: typeof ask;

beforeAll(async () => {
  service = await openService();
  const asking = (username: string): typeof ask => {
    service.user(username, "100");
    const panel = smmClientOf(service.url, service.key(username, "order").text);
    return async (action, fields) => {
      const answer = await panel(action, fields);
      expect(answer.status).toBe(200);
      return answer.body;
    };
  };
  ask = asking("panel");
  stranger = asking("stranger");
  service.service({ id: "both", name: "A", cancel: true, refill: true });
  service.service({ id: "none", name: "B" });
});

afterAll(() => service.stop());

const add = async (number = "1", by = ask): Promise<string> =>
  String((await by("add", { service: number, link: "https://x.y", quantity: "100" })).order);

const complete = (id: string) =>
  service.run("transitionOrder", { id, to: "COMPLETED", note: null });

const decide = (id: string, decision: "approve" | "decline" | "complete") =>
  service.run("decideRequest", { id, decision, note: null });

test("the list of services shows which can be cancelled and refilled, as soon as that changes", async () => {
  const flags = async () =>
    (await ask("services")).map(({ cancel, refill }: Body) => [cancel, refill]);
  expect(await flags()).toEqual([
    [true, true],
    [false, false],
  ]);
  service.run("updateService", { id: "none", changes: { refill: true } });
  expect(await flags()).toEqual([
    [true, true],
    [false, true],
  ]);
  service.run("updateService", { id: "none", changes: { refill: false } });
  expect(await flags()).toEqual([
    [true, true],
    [false, false],
  ]);
});

describe("cancel", () => {
  test("answers with a list in the order that was sent, a 1 or the error for each", async () => {
    const [mine, fixed, theirs] = [await add(), await add("2"), await add("1", stranger)];
    const orders = `99999,${mine},${theirs},${fixed},x,${mine}`;
    expect(await ask("cancel", { orders })).toEqual([
      { order: 99_999, cancel: { error: "Incorrect order ID" } },
      { order: Number(mine), cancel: 1 },
      { order: Number(theirs), cancel: { error: "Incorrect order ID" } },
      { order: Number(fixed), cancel: { error: "Order cannot be cancelled" } },
      { order: "x", cancel: { error: "Incorrect order ID" } },
      { order: Number(mine), cancel: { error: "A request is already open" } },
    ]);
  });

  test("takes one order too, and answers with the same list", async () => {
    const order = await add();
    expect(await ask("cancel", { order })).toEqual([{ order: Number(order), cancel: 1 }]);
  });

  test("moves no money, and the order's status stays the same", async () => {
    const order = await add();
    const before = await ask("status", { order });
    const balance = service.balance("panel");
    await ask("cancel", { order });
    expect(await ask("status", { order })).toEqual(before);
    expect(service.balance("panel")).toBe(balance);
  });

  test("is refused for more than a hundred orders, and for none", async () => {
    const orders = Array.from({ length: 101 }, (_, at) => at + 1).join(",");
    expect(await ask("cancel", { orders })).toEqual({ error: "Incorrect request" });
    expect(await ask("cancel")).toEqual({ error: "Incorrect order ID" });
  });
});

describe("refill", () => {
  test("answers with the number as text, whose status goes from Pending to Completed", async () => {
    const order = await add();
    complete(order);
    const { refill } = await ask("refill", { order });
    expect(refill).toMatch(/^[1-9]\d*$/);
    const status = async () => (await ask("refill_status", { refill })).status;
    expect(await status()).toBe("Pending");
    decide(refill, "approve");
    expect(await status()).toBe("In progress");
    decide(refill, "complete");
    expect(await status()).toBe("Completed");
  });

  test("of several answers with a list, and so does refill_status, each in the order that was sent", async () => {
    const [first, second, open] = [await add(), await add(), await add()];
    complete(first);
    complete(second);
    const made = await ask("refill", { orders: `${second},7777,${first},${open}` });
    expect(made).toEqual([
      { order: Number(second), refill: expect.any(Number) },
      { order: 7777, refill: { error: "Incorrect order ID" } },
      { order: Number(first), refill: expect.any(Number) },
      { order: Number(open), refill: { error: "Order cannot be refilled" } },
    ]);
    const [a, b] = [made[0].refill, made[2].refill];
    decide(String(a), "decline");
    expect(await ask("refill_status", { refills: `${b},4711,${a}` })).toEqual([
      { refill: b, status: "Pending" },
      { refill: 4711, status: { error: "Refill not found" } },
      { refill: a, status: "Rejected" },
    ]);
    expect(await ask("refill_status", { refills: String(a) })).toEqual([
      { refill: a, status: "Rejected" },
    ]);
  });

  test("that is refused says why: not delivered, open already, not theirs", async () => {
    const order = await add();
    expect(await ask("refill", { order })).toEqual({ error: "Order cannot be refilled" });
    complete(order);
    expect(await stranger("refill", { order })).toEqual({ error: "Incorrect order ID" });
    await ask("refill", { order });
    expect(await ask("refill", { order })).toEqual({ error: "A request is already open" });
  });

  test("of another reseller is not found, and neither is a cancellation", async () => {
    const order = await add();
    complete(order);
    const { refill } = await ask("refill", { order });
    expect(await stranger("refill_status", { refill })).toEqual({ error: "Refill not found" });
    const other = await add();
    await ask("cancel", { order: other });
    const cancel = String(Number(refill) + 1);
    expect(await ask("refill_status", { refill: cancel })).toEqual({ error: "Refill not found" });
    expect(await ask("refill_status")).toEqual({ error: "Refill not found" });
  });
});
