// GET /transactions: the transactions, page by page and as CSV.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { formatMicros } from "../../../src/domain/ledger/money.ts";
import { readAll } from "../../support/http/pages.ts";
import { expectError } from "../../support/http/refusal.ts";
import type { Body } from "../../support/http/api.ts";
import { openService, type TestService } from "../../support/worlds/service.ts";
import { micros, OPERATOR } from "../../support/databases/test-database.ts";

let service: TestService;
let key: string;

beforeAll(async () => {
  service = await openService();
  service.user("anna", "1000");
  service.user("bert", "5");
  service.user("cleo", "1", "anna");
  key = service.key("anna", "full").text;
  service.service({ id: "likes", price: "0.333333" });
});

afterAll(() => service.stop());

/** One thing that moves anna's balance, or may be refused. */
const act = fc.oneof(
  fc.record({ kind: fc.constant("order" as const), quantity: fc.integer({ min: 10, max: 9999 }) }),
  fc.record({
    kind: fc.constant("recharge" as const),
    amount: fc.integer({ min: 1, max: 10_000_000 }),
  }),
  fc.record({ kind: fc.constant("debit" as const), amount: fc.integer({ min: 1, max: 1000 }) }),
  fc.record({ kind: fc.constant("partial" as const), remains: fc.integer({ min: 0, max: 9 }) }),
  fc.record({ kind: fc.constant("cancel" as const) }),
);
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;

let orderId = 0;

async function perform(done: Act): Promise<void> {
  switch (done.kind) {
    case "order": {
      const body = { service: "likes", link: "x", quantity: done.quantity };
      const answer = await service.call("POST", "/orders", key, body);
      orderId = answer.body.order?.orderId ?? orderId;
      return;
    }
    case "recharge":
      await service.call("POST", "/recharge", key, {
        username: "anna",
        amount: done.amount / 1_000_000,
      });
      return;
    case "debit": {
      const debit = { username: "anna", amountMicros: done.amount, note: "fee", actor: OPERATOR };
      service.run("debitUser", debit);
      return;
    }
    case "partial":
    case "cancel": {
      const to = done.kind === "cancel" ? ("CANCELLED" as const) : ("PARTIAL" as const);
      const remains = done.kind === "partial" ? done.remains : 0;
      const move = { id: String(orderId), to, remains, note: null, actor: OPERATOR };
      try {
        service.run("transitionOrder", move);
      } catch {
        // There is no order yet, or it has moved already.
      }
    }
  }
}

const sum = (lines: Body[]) =>
  lines.reduce((total: number, line) => total + Math.round(line.amount * 1_000_000), 0);

test("transactions add up to the balance, each and in all, to the micro", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(act, { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 100 }),
      async (acts, limit) => {
        for (const each of acts) await perform(each);
        const lines = await readAll(service, key, `/transactions?limit=${limit}`, "transactions");
        expect(sum(lines)).toBe(service.balance("anna"));
        const { body } = await service.call("GET", "/balance", key);
        expect(lines[0]!.balanceAfter).toBe(body.balance);
        for (const [index, line] of lines.entries()) {
          const before = lines[index + 1];
          expect(Math.round(line.balanceAfter * 1e6)).toBe(
            Math.round((before?.balanceAfter ?? 0) * 1e6) + Math.round(line.amount * 1e6),
          );
          if (before) expect(line.seq).toBeGreaterThan(before.seq);
        }
      },
    ),
    { numRuns: 12 },
  );
  expect(service.balance("bert")).toBe(micros("5"));
});

describe("a list of transactions", () => {
  const lines = (query = "") => service.call("GET", `/transactions?limit=100${query}`, key);

  test("has kind, order, note and time of each transaction", async () => {
    const [credit] = (await readAll(service, key, "/transactions?", "transactions")).slice(-1);
    expect(credit).toEqual({
      seq: 1,
      kind: "adjustment",
      amount: 1000,
      balanceAfter: 1000,
      orderId: null,
      note: null,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
  });

  test("of one kind has only that kind, and the lists of all kinds together have every transaction", async () => {
    const whole = await readAll(service, key, "/transactions?limit=100", "transactions");
    const kinds = ["recharge", "order", "partial_refund", "refund", "adjustment"];
    const parts = await Promise.all(
      kinds.map(async (kind) => {
        const part = await readAll(
          service,
          key,
          `/transactions?limit=7&kind=${kind}`,
          "transactions",
        );
        expect(new Set(part.map((line) => line.kind)).size).toBeLessThanOrEqual(1);
        return part;
      }),
    );
    expect(parts.flat().toSorted((a, b) => b.seq - a.seq)).toEqual(whole);
  });

  test("of one order holds its charge and its refunds", async () => {
    const body = { service: "likes", link: "x", quantity: 1000 };
    const { orderId: id } = (await service.call("POST", "/orders", key, body)).body.order;
    service.run("transitionOrder", {
      id: String(id),
      to: "PARTIAL",
      remains: 100,
      note: "the operator's own",
      publicNote: "short",
      actor: OPERATOR,
    });
    const found = await lines(`&order=${id}`);
    expect(found.body.transactions).toMatchObject([
      { kind: "partial_refund", amount: 0.033333, orderId: id, note: "short" },
      { kind: "order", amount: -0.333333, orderId: id, note: null },
    ]);
    const one = await service.call("GET", `/transactions?limit=1&order=${id}`, key);
    const rest = await service.call(
      "GET",
      `/transactions?limit=1&order=${id}&cursor=${one.body.nextCursor}`,
      key,
    );
    expect(rest.body).toMatchObject({ transactions: [{ kind: "order" }], nextCursor: null });
    const strange = service.key("bert", "full").text;
    expect(
      (await service.call("GET", `/transactions?order=${id}`, strange)).body.transactions,
    ).toEqual([]);
  });

  test("is empty for a time without transactions", async () => {
    expect((await lines("&to=2020-01-01")).body).toEqual({
      status: "success",
      transactions: [],
      nextCursor: null,
    });
    const today = new Date().toISOString().slice(0, 10);
    expect((await lines(`&from=${today}`)).body.transactions.length).toBeGreaterThan(0);
  });

  test.each([
    [
      "kind=gift",
      "kind must be one of recharge, payment, payment_bonus, payment_reversal, order, partial_refund, refund, adjustment",
    ],
    ["order=0", "order must be an order number"],
    ["limit=1000", "limit must be a whole number from 1 to 100"],
    ["from=2026", "from must be an ISO 8601 time such as 2026-01-31T09:30:00Z, or a date"],
    [
      `cursor=${Buffer.from("orders:5").toString("base64url")}`,
      "cursor must be the nextCursor of an earlier answer",
    ],
  ])("refuses %s", async (query, message) => {
    expectError(await service.call("GET", `/transactions?${query}`, key), 400, message);
  });
});

describe("as CSV", () => {
  const csv = (query = "", accept = "text/csv") =>
    fetch(`${service.url}/api/v1/transactions${query}`, {
      headers: { "x-api-key": key, "x-request-id": "csv-1", accept },
    });

  test("has every transaction under a header line, whatever the limit", async () => {
    // More than one step of the stream.
    const input = { username: "anna", amountMicros: 1, note: null, actor: OPERATOR };
    const credit = { name: "creditUser" as const, input, ids: [] };
    service.batch(Array<typeof credit>(1200).fill(credit), Date.now());
    const response = await csv("?limit=1");
    expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(response.headers.get("x-request-id")).toBe("csv-1");
    const rows = parse(await response.text(), { columns: true, record_delimiter: "\r\n" });
    const lines = await readAll(service, key, "/transactions?limit=100", "transactions");
    expect(rows).toEqual(
      lines.map((line) => ({
        ...line,
        seq: String(line.seq),
        amount: formatMicros(Math.round(line.amount * 1e6)),
        balanceAfter: formatMicros(Math.round(line.balanceAfter * 1e6)),
        orderId: String(line.orderId ?? ""),
        note: line.note ?? "",
      })),
    );
  });

  test("notes are quoted, and none can be a formula", async () => {
    const notes = ['say "hi", twice', "=1+1", "@cmd", "-2"];
    for (const note of notes) {
      const adjustment = { username: "anna", amountMicros: 1, note: "own", publicNote: note };
      service.run("creditUser", { ...adjustment, actor: OPERATOR });
    }
    const text = await (await csv("?kind=adjustment")).text();
    const rows: { note: string }[] = parse(text, { columns: true, record_delimiter: "\r\n" });
    expect(rows.slice(0, 4).map(({ note }) => note)).toEqual([
      "'-2",
      "'@cmd",
      "'=1+1",
      'say "hi", twice',
    ]);
  });

  test("only an explicit text/csv in Accept selects it", async () => {
    for (const accept of ["*/*", "application/json", "text/*"]) {
      expect((await csv("?limit=1", accept)).headers.get("content-type")).toBe("application/json");
    }
    const accept = "application/json;q=0.5, text/csv;q=0.9";
    expect((await csv("?limit=1", accept)).headers.get("content-type")).toStartWith("text/csv");
  });

  test("a bad filter is a 400 in JSON", async () => {
    const response = await csv("?kind=gift");
    expect([response.status, response.headers.get("content-type")]).toEqual([
      400,
      "application/json",
    ]);
  });

  test("a reader that disconnects does not harm the server", async () => {
    const reader = (await csv()).body!.getReader();
    await reader.read();
    await reader.cancel();
    expect((await service.call("GET", "/balance", key)).status).toBe(200);
  });
});
