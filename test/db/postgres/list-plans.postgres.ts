// A page costs the same at ten orders and at ten million, also with plans that PostgreSQL made while the tables were empty
// and keeps: every query of a list reads hardly more rows than a page has.

import { expect, test } from "bun:test";
import { SQL } from "bun";
import { listOrdersBelow } from "../../../src/db/orders/order-lists.ts";
import { listOrdersById } from "../../../src/db/orders/public-orders.ts";
import type { Reader } from "../../../src/db/port/port.ts";
import { READER_SETTINGS } from "../../../src/db/postgres/batch/store.ts";
import { queryStatement } from "../../../src/db/postgres/batch/text.ts";
import { spansWithin } from "../../../src/db/postgres/batch/time-spans.ts";
import type { Query } from "../../../src/db/port/query.ts";
import { listTransactionsBelow } from "../../../src/db/ledger/transactions.ts";
import { TRANSFER_KINDS } from "../../../src/domain/ledger/ledger.ts";
import { cluster } from "../../support/databases/postgres.ts";

const ROWS = 40_000;
/** Orders that are examined for a service, and rows that two sides of a window hold: no part of a plan reads more. */
const MOST = 1000;
/** Rows in `WINDOW` of the account that has half of all orders. */
const IN_WINDOW = 500;
const ACCOUNT = 3;
const START = 1_700_000_000_000;
const WINDOW = { from: START + ROWS / 2, to: START + ROWS / 2 + 2 * IN_WINDOW };

const FILL = `SET session_replication_role = replica;
  INSERT INTO orders (order_id, id, reseller_account, service_id, service_name, price_micros, per, link, quantity,
      charge_micros, refunded_micros, status, remains, created_at, placement)
    SELECT n, left(md5(n::text), 24), CASE n % 2 WHEN 0 THEN ${ACCOUNT} ELSE 4 + n % 9 END, 's' || n % 7, 'S', 1, '1', 'x',
      10, 10, CASE WHEN n % 16 = 10 THEN 10 ELSE 0 END,
      CASE WHEN n % 16 = 10 THEN 'CANCELLED' WHEN n % 4 = 0 THEN 'PROCESSING' ELSE 'COMPLETED' END, 10,
      ${START} + n, 'manual'
    FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO transfers (seq, debit_account, credit_account, amount_micros, kind, order_id, created_at)
    SELECT 2 * n, CASE n % 2 WHEN 0 THEN ${ACCOUNT} ELSE 4 + n % 9 END, 2, 10, 'order', n, ${START} + n
    FROM generate_series(1, ${ROWS}) AS n;
  INSERT INTO transfers (seq, debit_account, credit_account, amount_micros, kind, order_id, created_at)
    SELECT 2 * n - 1, 1, CASE n % 2 WHEN 0 THEN ${ACCOUNT} ELSE 4 + n % 9 END, 10, 'recharge', NULL, ${START} + n
    FROM generate_series(1, ${ROWS}) AS n;`;

/** A query of a list with the parameters that it was given. */
interface Asked {
  query: Query;
  values: Record<string, never>;
}

/** Every query of every list. */
function askedByLists(): Asked[] {
  const asked: Asked[] = [];
  const note = (query: unknown, values: unknown) =>
    void asked.push({ query: query as Query, values: values as Asked["values"] });
  // Asks what the lists ask, and gives the spans that the rows of FILL have.
  const reader: Reader = {
    row: () => undefined,
    each: (items, body) => items.map(body),
    all(query, ...[values]) {
      note(query, values);
      return [];
    },
    one: () => undefined,
    spans(ledger, account, window) {
      if (window.from === null) return [{ first: 1, last: Number.MAX_SAFE_INTEGER }];
      const asking: Reader = {
        ...reader,
        one(query, ...[values]) {
          note(query, values);
          return { first: null, last: null } as never;
        },
      };
      spansWithin(asking, ledger, account, window);
      const [first, last] = [ROWS / 2, ROWS / 2 + 2 * IN_WINDOW];
      return [ledger === "orders" ? { first, last } : { first: 2 * first - 1, last: 2 * last }];
    },
  };
  for (const window of [{ from: null, to: null }, WINDOW]) {
    for (const status of [null, "PROCESSING", "FAILED"] as const) {
      for (const service of [null, "s1"]) {
        for (const link of [null, "no-such-link"]) {
          const filters = { resellerAccount: ACCOUNT, status, service, link, window };
          listOrdersBelow(reader, filters, Number.MAX_SAFE_INTEGER, 50);
        }
      }
    }
    for (const kind of [null, ...TRANSFER_KINDS]) {
      for (const orderId of [null, 7]) {
        const filters = { account: ACCOUNT, kind, orderId, window };
        listTransactionsBelow(reader, filters, Number.MAX_SAFE_INTEGER, 50);
      }
    }
  }
  listOrdersById(reader, ["1", "2", "a".repeat(24)]);
  return asked;
}

test("every query of a list reads hardly more than a page, whenever its plan was made", async () => {
  const server = await cluster();
  const database = await server.createDatabase();
  const { hosts, username, password } = server.address(database);
  const { hostname, port } = hosts[0]!;
  const sql = new SQL({
    adapter: "postgres",
    hostname,
    port,
    username,
    password,
    database,
    max: 1,
  });
  const run = (text: string) => sql.unsafe(text).simple();
  for (const [setting, value] of Object.entries(READER_SETTINGS)) {
    await run(`SET ${setting} = ${value}`);
  }
  // As it does by itself after a few times.
  await run("SET plan_cache_mode = force_generic_plan");
  const asked = askedByLists();
  expect(asked.length).toBeGreaterThan(30);
  const executions = asked.map(({ query, values }, place) => {
    const { text, values: given } = queryStatement(query, values);
    const types = given.map((_, n) => new RegExp(`\\$${n + 1}::([a-z]+(\\[\\])?)`).exec(text)![1]);
    const literals = given.map((value) => (value === null ? "NULL" : `'${value}'`));
    return {
      prepare: `PREPARE list${place} (${types.join()}) AS ${text}`,
      execute: `EXECUTE list${place} (${literals.join()})`,
    };
  });
  for (const { prepare, execute } of executions) {
    await run(prepare);
    await run(execute);
  }
  const explain = async () => {
    for (const { prepare, execute } of executions) {
      const plan = await run(`EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ${execute}`);
      const lines = (plan as { "QUERY PLAN": string }[]).map((row) => row["QUERY PLAN"]).join("\n");
      const read = [...lines.matchAll(/(?:actual rows=|Rows Removed by [A-Za-z ]+: )(\d+)/g)];
      const most = Math.max(...read.map(([, rows]) => Number(rows)));
      const offence = /Seq Scan/.test(lines) || most > MOST * 5;
      expect([prepare, offence ? lines : ""]).toEqual([prepare, ""]);
    }
  };
  await server.query(database, FILL);
  await explain();
  await server.query(database, "ANALYZE");
  await explain();
  await sql.close();
});
