// Idempotency-Key over real HTTP: one effect a key, and the same response for each duplicate. docs/specification/http.md#idempotency.
// Shows docs/specification/README.md#guarantee-once.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { callApi } from "../../support/http/api.ts";
import { freshDatabase, micros } from "../../support/databases/test-database.ts";
import { openService, startTestService, type TestService } from "../../support/worlds/service.ts";
import { expectError } from "../../support/http/refusal.ts";

let service: TestService;
let full: string;
let other: string;
let name = 0;

beforeAll(async () => {
  service = await openService();
  service.user("other", "1000");
  other = service.key("other", "full").text;
  service.service({ id: "likes", price: "10" });
});
afterAll(() => service.stop());
beforeEach(() => {
  service.user(`reseller${++name}`, "1000");
  full = service.key(`reseller${name}`, "full").text;
});

const ORDER = { service: "likes", link: "https://example.com/a", quantity: 100 };

function order(key: string, idempotencyKey: string, body: unknown = ORDER, path = "/orders") {
  return service.call("POST", path, key, body, { "idempotency-key": idempotencyKey });
}

function spent(): number {
  return micros("1000") - service.balance(`reseller${name}`);
}

describe("a duplicate", () => {
  test("of an order has no effect and gets the response byte for byte", async () => {
    const first = await order(full, "k1");
    const second = await order(full, "k1");
    expect(first.status).toBe(200);
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    expect(second.status).toBe(200);
    expect(second.text).toBe(first.text);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(second.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
    expect(spent()).toBe(micros("1"));
  });

  test("of an order that has changed since gets the stored response", async () => {
    const first = await order(full, "k1");
    service.run("transitionOrder", {
      id: String(first.body.order.id),
      to: "COMPLETED",
      note: null,
      actor: { keyId: null, operator: "tester" },
    });
    expect((await order(full, "k1")).text).toBe(first.text);
  });

  test("of a recharge credits nothing and gets the response byte for byte", async () => {
    const recharge = { username: `reseller${name}`, amount: 5.25 };
    const first = await order(full, "k1", recharge, "/recharge");
    const second = await order(full, "k1", recharge, "/recharge");
    expect(first.body.user).toMatchObject({ balance: 1005.25, previousBalance: 1000 });
    expect(second.text).toBe(first.text);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(spent()).toBe(-micros("5.25"));
  });

  test("does not depend on later changes: service gone, balance spent, key replaced", async () => {
    const first = await order(full, "k1");
    service.run("debitUser", {
      username: `reseller${name}`,
      amountMicros: micros("999"),
      note: null,
      actor: { keyId: null, operator: "tester" },
    });
    const replacement = service.key(`reseller${name}`, "order").text;
    expect((await order(replacement, "k1")).text).toBe(first.text);
  });

  test("is recognised with a query or an escaped path", async () => {
    const first = await order(full, "k1");
    expect((await order(full, "k1", ORDER, "/orders?again=1")).text).toBe(first.text);
    expect((await order(full, "k1", ORDER, "/%6frders")).text).toBe(first.text);
  });
});

describe("fifty at once with one key", () => {
  test("place one order and get fifty equal responses", async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => order(full, "k1")));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    const replayed = answers.filter(({ headers }) => headers.get("idempotent-replayed") === "true");
    expect(replayed.length).toBe(49);
    expect(spent()).toBe(micros("1"));
  });

  test("credit once", async () => {
    const recharge = { username: `reseller${name}`, amount: 7 };
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => order(full, "k1", recharge, "/recharge")),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(spent()).toBe(-micros("7"));
  });

  test("that are all refused change nothing", async () => {
    const dear = { ...ORDER, quantity: 5 };
    const answers = await Promise.all(Array.from({ length: 50 }, () => order(full, "k1", dear)));
    expect(answers.every(({ status }) => status === 400)).toBe(true);
    expect(spent()).toBe(0);
  });
});

describe("another request with the key of a stored record", () => {
  const others: [string, string, unknown][] = [
    ["another quantity", "/orders", { ...ORDER, quantity: 101 }],
    ["a service that is not there", "/orders", { ...ORDER, service: "gone" }],
    ["the same fields, written otherwise", "/orders", JSON.stringify(ORDER, null, 1)],
    ["another path", "/recharge", { username: "other", amount: 1 }],
  ];
  for (const [what, path, body] of others) {
    test(`is refused: ${what}`, async () => {
      await order(full, "k1");
      const answer = await order(full, "k1", body, path);
      expectError(answer, 422, "Idempotency-Key was already used for a different request");
      expect(answer.headers.get("idempotent-replayed")).toBeNull();
      expect(spent()).toBe(micros("1"));
    });
  }

  test("is refused for its own malformed body first", async () => {
    await order(full, "k1");
    expect((await order(full, "k1", { ...ORDER, quantity: 1.5 })).status).toBe(400);
    expect((await order(full, "k1", "{")).body.message).toBe("Request body must be valid JSON");
  });
});

test("a key is the reseller's own: another reseller may use the same", async () => {
  const mine = await order(full, "k-shared");
  const theirs = await order(other, "k-shared");
  expect(theirs.status).toBe(200);
  expect(theirs.body.order.id).not.toBe(mine.body.order.id);
});

test("keys differ by case, and by every character up to the 255th", async () => {
  const long = "x".repeat(254);
  for (const key of ["a", "A", `${long}y`, `${long}z`]) await order(full, key);
  expect(spent()).toBe(micros("4"));
});

test("a refusal that changed nothing is not stored", async () => {
  const dear = { ...ORDER, quantity: 10_000, service: "dear" };
  expect((await order(full, "k1", dear)).body.message).toBe("Service not found");
  service.service({ id: "dear", price: "1000" });
  expect((await order(full, "k1", dear)).body.message).toBe("Insufficient balance");
  service.run("creditUser", {
    username: `reseller${name}`,
    amountMicros: micros("9001"),
    note: null,
    actor: { keyId: null, operator: "tester" },
  });
  const placed = await order(full, "k1", dear);
  expect(placed.status).toBe(200);
  expect((await order(full, "k1", dear)).text).toBe(placed.text);
  // Another body was never used with the key that was refused with this one.
  expect((await order(full, "k2", { ...ORDER, quantity: 1 })).status).toBe(400);
  expect((await order(full, "k2")).status).toBe(200);
});

describe("a malformed key", () => {
  const MESSAGE = "Idempotency-Key must be 1 to 255 visible ASCII characters";
  for (const [what, key] of [
    ["empty", ""],
    ["too long", "x".repeat(256)],
    ["with a blank inside", "a b"],
    ["with a letter beyond ASCII", "k\u00e9"],
  ] as const) {
    test(`is refused: ${what}`, async () => {
      const answer = await order(full, key);
      expect([answer.status, answer.body.message]).toEqual([400, MESSAGE]);
      const recharge = { username: "other", amount: 1 };
      expect((await order(full, key, recharge, "/recharge")).body.message).toBe(MESSAGE);
      expect(spent()).toBe(0);
    });
  }

  test("is reported after errors in the body's fields and before those of the rules", async () => {
    expect((await order(full, "", { ...ORDER, quantity: "1" })).body.message).toMatch(/^quantity/);
    expect((await order(full, "", { ...ORDER, service: "gone" })).body.message).toBe(MESSAGE);
    expect((await order(full, "", { username: "no one", amount: 1 }, "/recharge")).body.message)
      .toMatch(/^username/); // prettier-ignore
    expect((await order(full, "", { username: "no-one", amount: 1 }, "/recharge")).body.message)
      .toBe(MESSAGE); // prettier-ignore
  });
});

test("an idempotency record survives a restart", async () => {
  const database = freshDatabase();
  database.user("late", "10");
  database.service({ id: "likes", price: "10" });
  const { text } = database.key("late", "order");
  const call = async () => {
    const service = await startTestService(database.location);
    const answer = await callApi(service.url, "POST", "/orders", text, ORDER, {
      "idempotency-key": "k",
    });
    await service.stop();
    return answer;
  };
  const first = await call();
  const second = await call();
  expect(second.text).toBe(first.text);
  expect(second.headers.get("idempotent-replayed")).toBe("true");
  expect(database.balance("late")).toBe(micros("9"));
  database.close();
});
