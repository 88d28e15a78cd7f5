// What the panel's pages read costs the same at ten orders and at ten million: no query scans a table that grows with them.

import { expect, test } from "bun:test";
import { readAttention } from "../../../src/db/reports/attention.ts";
import { findOrder } from "../../../src/db/orders/orders.ts";
import { readOrderTimeline } from "../../../src/db/orders/order-timeline.ts";
import {
  listChildren,
  listOwnPrices,
  readUserFigures,
} from "../../../src/db/users/user-figures.ts";
import { freshSqliteDatabase } from "../../support/databases/test-database.ts";

/**
 * Those of the catalogue, webhooks, of which a reseller has few, numbers that a provider does not know, open requests, payments
 * that wait for the operator, visitors who ask for an account, whose number a setting limits, and rows that the query has bounded before.
 */
const SMALL =
  /SCAN (providers|grants|services|webhooks|unrecognized_numbers|order_requests USING INDEX order_requests_listed|registrations USING COVERING INDEX registrations_(by_age|confirmable)|payments USING INDEX payments_(waiting|reversed)|payment_surpluses USING INDEX payment_surpluses_open|newest|counted|json_each|\(subquery-\d+\)|CONSTANT ROW)/;
/** The newest of a table by its number, with a limit: of late reports those that nobody has decided, by their index. */
const NEWEST = /^SCAN (transfers|orders|users|mails|late_reports USING INDEX late_reports_open)$/;

test("the panel's queries search by index", () => {
  const database = freshSqliteDatabase();
  const { connection } = database;
  const { sqlite, store } = connection;
  database.user("alice", "10");
  const key = database.key("alice", "full");
  const service = database.service({ min: 1 });
  const [{ account }] = database.query<{ account: number }>(
    "SELECT account FROM users WHERE username = 'alice'",
  ) as [{ account: number }];
  const placed = { resellerAccount: account, keyId: key.id, service, link: "x", quantity: 10 };
  const { orderId } = database.run("placeOrder", placed);
  const queries = new Set<string>();
  const prepare = sqlite.prepare.bind(sqlite);
  sqlite.prepare = ((text: string, ...rest: never[]) => {
    queries.add(text);
    return prepare(text, ...rest);
  }) as typeof sqlite.prepare;
  const { reader } = store;
  readAttention(reader, Date.now());
  readOrderTimeline(reader, findOrder(reader, String(orderId))!);
  readUserFigures(reader, account, 1000);
  listChildren(reader, account, 0, 50);
  listOwnPrices(reader, account);
  expect(queries.size).toBeGreaterThan(7);
  for (const text of queries) {
    for (const step of sqlite.query(`EXPLAIN QUERY PLAN ${text}`).values()) {
      const plan = String(step.at(-1));
      const isBounded =
        NEWEST.test(plan) && /ORDER BY (seq|order_id|account|mail_id) DESC LIMIT/.test(text);
      const isFine = !/SCAN|AUTOMATIC/.test(plan) || SMALL.test(plan) || isBounded;
      expect([text, plan, isFine]).toEqual([text, plan, true]);
    }
  }
  database.close();
});
