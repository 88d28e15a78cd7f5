// A page costs the same at ten orders and at ten million: no query of a list scans a table, scans an index without a
// bound, or sorts more than it returns.

import { expect, test } from "bun:test";
import type { Database } from "bun:sqlite";
import { listOrdersBelow } from "../../src/db/order-lists.ts";
import { listOrdersById } from "../../src/db/public-orders.ts";
import { listTransactionsBelow } from "../../src/db/transactions.ts";
import { ORDER_STATUSES } from "../../src/domain/orders.ts";
import { TRANSFER_KINDS } from "../../src/domain/ledger.ts";
import { freshDatabase } from "../support/service.ts";

const NEVER = /SCAN (?!json_each|CONSTANT|examined)|AUTOMATIC/;

test("every query of a list uses an index", () => {
  const { sqlite, queries } = queriesOfLists();
  const plans = [...queries].map((text) => {
    const steps = sqlite.query(`EXPLAIN QUERY PLAN ${text}`).values();
    return [text, steps.map((step) => String(step.at(-1))).join("; ")];
  });
  expect(plans.length).toBeGreaterThan(10);
  for (const [text, plan] of plans) {
    // The newest number is one step into the table; clock_steps holds a row for each time the clock went back.
    const known = text!.includes("max(") || text!.includes("clock_steps");
    if (!known) expect([text, plan]).toEqual([text, expect.not.stringMatching(NEVER)]);
    // An order has three transfers at most.
    const sorts =
      plan!.includes("USE TEMP B-TREE") && !/WHERE (transfers\.)?order_id = /.test(text!);
    expect([text, plan, sorts]).toEqual([text, plan, false]);
  }
  for (const index of [
    "orders_by_status",
    "transfers_by_debit",
    "transfers_by_credit",
    "transfers_by_adjustment",
    "transfers_once_an_order",
  ]) {
    expect(plans.some(([, plan]) => plan!.includes(index))).toBe(true);
  }
  sqlite.close();
});

test("no query of a list is planned for one value of a parameter: it would be prepared again for the next", () => {
  const { sqlite, queries } = queriesOfLists();
  const parameters = [...queries].flatMap((text) => text.match(/.{20}\?\d/gs) ?? []);
  expect(parameters.length).toBeGreaterThan(20);
  const bare = parameters.filter((each) => !/(\+|json_each\()\?\d$/.test(each));
  expect(bare).toEqual([]);
  sqlite.close();
});

function queriesOfLists(): { sqlite: Database; queries: Set<string> } {
  const { connection } = freshDatabase();
  const { sqlite } = connection;
  const queries = new Set<string>();
  const prepare = sqlite.prepare.bind(sqlite);
  sqlite.prepare = ((text: string, ...rest: never[]) => {
    queries.add(text);
    return prepare(text, ...rest);
  }) as typeof sqlite.prepare;
  const windows = [
    { from: null, to: null },
    { from: 1, to: 2 },
  ];
  for (const window of windows) {
    for (const status of [null, ...ORDER_STATUSES]) {
      for (const service of [null, "s"]) {
        const query = { resellerAccount: 3, status, service, window };
        listOrdersBelow(connection.store.reader, query, Number.MAX_SAFE_INTEGER, 50);
      }
    }
    for (const kind of [null, ...TRANSFER_KINDS]) {
      for (const orderId of [null, 1]) {
        const query = { account: 3, kind, orderId, window };
        listTransactionsBelow(connection.store.reader, query, Number.MAX_SAFE_INTEGER, 50);
      }
    }
  }
  listOrdersById(connection.store.reader, ["1", "a".repeat(24)]);
  return { sqlite, queries };
}
