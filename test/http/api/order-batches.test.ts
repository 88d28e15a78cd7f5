// POST /orders/batch: each entry gets the result of a single call, all of them in one commit.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { expectError } from "../../support/http/refusal.ts";
import type { Body } from "../../support/http/api.ts";
import { openService, type TestService } from "../../support/worlds/service.ts";
import { micros } from "../../support/databases/test-database.ts";

let service: TestService;
let key: string;
let keys = 0;

beforeAll(async () => {
  service = await openService();
  service.service({ id: "likes", price: "10" });
});

afterAll(() => service.stop());

beforeEach(() => {
  const name = `user${++keys}`;
  service.user(name, "10");
  key = service.key(name, "order").text;
});

const good = { service: "likes", link: "x", quantity: 100 };

/** Every kind of entry; each costs 1 USD where it is placed. */
const ENTRIES: [title: string, entry: unknown][] = [
  ["good", good],
  ["link missing", { service: "likes", quantity: 100 }],
  ["quantity too low", { ...good, quantity: 1 }],
  ["quantity too high", { ...good, quantity: 1_000_000 }],
  ["quantity a text", { ...good, quantity: "100" }],
  ["no such service", { ...good, service: "no-such" }],
  ["not an object", 5],
  ["null", null],
  ["a list", [good]],
  ["too dear", { ...good, quantity: 9999 }],
  ["reference new", { ...good, reference: "r" }],
  ["reference taken", { ...good, reference: "r" }],
];

const batch = (orders: unknown, headers?: Record<string, string>) =>
  service.call("POST", "/orders/batch", key, { orders }, headers);

/** Without what differs from order to order. */
function alike({ status, body }: { status: number; body: Body }): object {
  const { requestId: _, ...rest } = body;
  const { id: __, orderId: ___, createdAt: ____, ...order } = rest.order ?? {};
  return { ok: status === 200, ...rest, ...(rest.order && { order }) };
}

describe("a batch", () => {
  test("returns for each entry the result of a single call, in order", async () => {
    const { status, body } = await batch(ENTRIES.map(([, entry]) => entry));
    expect([status, Object.keys(body)]).toEqual([200, ["status", "results"]]);
    service.user("single", "10");
    const together = key;
    key = service.key("single", "order").text;
    for (const [index, [title, entry]] of ENTRIES.entries()) {
      const single = await service.call("POST", "/orders", key, JSON.stringify(entry));
      const result = body.results[index];
      const status = result.status === "success" ? 200 : single.status;
      expect([title, alike({ status, body: result })]).toEqual([title, alike(single)]);
    }
    const [one, other] = await Promise.all(
      [together, key].map((each) => service.call("GET", "/balance", each)),
    );
    expect(one!.body).toEqual(other!.body);
  });

  test("spends the balance in order: the rest decides for the next entry", async () => {
    const { body } = await batch(Array.from({ length: 12 }, () => good));
    expect(body.results.map((result: Body) => result.code ?? "placed")).toEqual([
      ...Array.from({ length: 10 }, () => "placed"),
      "insufficient_balance",
      "insufficient_balance",
    ]);
    const numbers = body.results.slice(0, 10).map((result: Body) => result.order.orderId);
    expect(numbers).toEqual(numbers.toSorted((a: number, b: number) => a - b));
  });

  test("may have a hundred entries, and no more", async () => {
    const all = await batch(Array.from({ length: 100 }, () => ({ ...good, quantity: 10 })));
    expect(all.body.results.every((result: Body) => result.status === "success")).toBe(true);
    const form = "orders must be a list of 1 to 100 orders";
    for (const orders of [[], Array.from({ length: 101 }, () => good), good, "x", 5, true]) {
      expectError(await batch(orders), 400, form);
    }
    expectError(await batch(undefined), 400, "orders is required");
    expectError(await batch(null), 400, "orders is required");
  });

  test("with all entries refused is a 200 that changed nothing", async () => {
    const before = service.fingerprint();
    const { status, body } = await batch([5, { ...good, quantity: 1 }]);
    expect([status, body.results.length]).toEqual([200, 2]);
    expect(service.fingerprint()).toBe(before);
  });

  test("beyond 64 KiB is a 413", async () => {
    const orders = Array.from({ length: 100 }, () => ({ ...good, link: "x".repeat(700) }));
    expectError(await batch(orders), 413, "Request body too large");
  });

  test("needs a key that may order", async () => {
    const recharger = service.key(`user${keys}`, "recharge").text;
    const answer = await service.call("POST", "/orders/batch", recharger, { orders: [good] });
    expectError(answer, 403, "This API key does not have order permission");
  });
});

describe("a batch with an Idempotency-Key", () => {
  const balance = () => service.balance(`user${keys}`);

  test("has one effect, and every duplicate the same response, byte for byte", async () => {
    const orders = [good, { ...good, quantity: 1 }, 5, good];
    const sent = { "idempotency-key": "k" };
    const answers = await Promise.all(Array.from({ length: 10 }, () => batch(orders, sent)));
    const late = await batch(orders, sent);
    expect(new Set([...answers, late].map(({ text }) => text)).size).toBe(1);
    const replayed = answers.filter(({ headers }) => headers.get("idempotent-replayed") === "true");
    expect(replayed).toHaveLength(9);
    expect(late.headers.get("idempotent-replayed")).toBe("true");
    expect(balance()).toBe(micros("8"));
  });

  test("keeps its response although the orders change state", async () => {
    const sent = { "idempotency-key": "k" };
    const first = await batch([good], sent);
    const { id } = first.body.results[0].order;
    const actor = { keyId: null, operator: "tester" };
    service.run("transitionOrder", { id, to: "COMPLETED", note: null, actor });
    expect((await batch([good], sent)).text).toBe(first.text);
  });

  test("is refused for another batch, and for a single order", async () => {
    const sent = { "idempotency-key": "k" };
    await batch([good], sent);
    const message = "Idempotency-Key was already used for a different request";
    expectError(await batch([good, good], sent), 422, message);
    expectError(await service.call("POST", "/orders", key, good, sent), 422, message);
    expect(balance()).toBe(micros("9"));
  });

  test("that created no order is not stored", async () => {
    const sent = { "idempotency-key": "k" };
    await batch([{ ...good, service: "later" }], sent);
    const other = await batch([good], sent);
    expect(other.body.results).toMatchObject([{ status: "success" }]);
    expect(other.headers.get("idempotent-replayed")).toBeNull();
  });

  test("is looked up only after the list is validated", async () => {
    expectError(
      await batch([], { "idempotency-key": "" }),
      400,
      "orders must be a list of 1 to 100 orders",
    );
    expectError(
      await batch([good], { "idempotency-key": "" }),
      400,
      "Idempotency-Key must be 1 to 255 visible ASCII characters",
    );
  });

  test("whose process died before the response gets the orders' current state", async () => {
    const orders = [good, { ...good, quantity: 1 }];
    const sent = { "idempotency-key": "k" };
    const first = await batch(orders, sent);
    // As it stands between the commit and the answer.
    service.dropTrigger("idempotency_keeps_its_response");
    service.query("UPDATE idempotency SET response_status = NULL, response_body = NULL");
    const actor = { keyId: null, operator: "tester" };
    const { id } = first.body.results[0].order;
    service.run("transitionOrder", { id, to: "COMPLETED", note: null, actor });
    const again = await batch(orders, sent);
    expect(again.status).toBe(200);
    expect(again.body.results).toEqual([
      { status: "success", order: { ...first.body.results[0].order, status: "COMPLETED" } },
      first.body.results[1],
    ]);
    expect(balance()).toBe(micros("9"));
  });
});
