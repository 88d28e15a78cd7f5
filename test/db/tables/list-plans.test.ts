// A page costs the same at ten orders and at ten million: no query of a list scans a table, scans an index without a
// bound, or sorts more than it returns.

import { expect, test } from "bun:test";
import type { Database } from "bun:sqlite";
import { listDueOnProbation } from "../../../src/db/delivery/deliveries.ts";
import { listOrdersBelow } from "../../../src/db/orders/order-lists.ts";
import { listOrdersById } from "../../../src/db/orders/public-orders.ts";
import type { Reader } from "../../../src/db/port/port.ts";
import { listTransactionsBelow } from "../../../src/db/ledger/transactions.ts";
import { ORDER_STATUSES } from "../../../src/domain/orders/order-statuses.ts";
import { TRANSFER_KINDS } from "../../../src/domain/ledger/ledger.ts";
import { freshDatabase } from "../../support/databases/test-database.ts";

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

test("the next order to send after a pause is found by reading only unknown and due orders", () => {
  const { sqlite, queries } = recorded(({ reader }) => listDueOnProbation(reader, 1, 2, 3));
  const plans = [...queries].map((text) =>
    sqlite
      .query(`EXPLAIN QUERY PLAN ${text}`)
      .values()
      .map((step) => String(step.at(-1)))
      .filter((step) => /(SCAN|SEARCH) orders/.test(step)),
  );
  expect(plans).toEqual([
    [
      "SCAN orders USING INDEX orders_unknown",
      expect.stringMatching(/^SEARCH orders USING (COVERING )?INDEX orders_queued /),
    ],
  ]);
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

/** The queries that a fresh database is asked. */
function recorded(ask: (store: { reader: Reader }) => unknown): {
  sqlite: Database;
  queries: Set<string>;
} {
  const { connection } = freshDatabase();
  const { sqlite } = connection;
  const queries = new Set<string>();
  const prepare = sqlite.prepare.bind(sqlite);
  sqlite.prepare = ((text: string, ...rest: never[]) => {
    queries.add(text);
    return prepare(text, ...rest);
  }) as typeof sqlite.prepare;
  ask(connection.store);
  return { sqlite, queries };
}

function queriesOfLists(): { sqlite: Database; queries: Set<string> } {
  return recorded(askLists);
}

function askLists({ reader }: { reader: Reader }): void {
  const windows = [
    { from: null, to: null },
    { from: 1, to: 2 },
  ];
  for (const window of windows) {
    for (const status of [null, ...ORDER_STATUSES]) {
      for (const service of [null, "s"]) {
        for (const link of [null, "example"]) {
          const query = { resellerAccount: 3, status, service, link, window };
          listOrdersBelow(reader, query, Number.MAX_SAFE_INTEGER, 50);
        }
      }
    }
    for (const kind of [null, ...TRANSFER_KINDS]) {
      for (const orderId of [null, 1]) {
        const query = { account: 3, kind, orderId, window };
        listTransactionsBelow(reader, query, Number.MAX_SAFE_INTEGER, 50);
      }
    }
  }
  listOrdersById(reader, ["1", "a".repeat(24)]);
}
