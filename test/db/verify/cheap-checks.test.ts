// Migration 6 rewrites the constraints of orders and transfers: it allows and refuses exactly what was before.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrate, MIGRATIONS } from "../../../src/storage/file/migrate.ts";
import { TRANSFER_KINDS } from "../../../src/domain/ledger/ledger.ts";
import { ORDER_STATUSES } from "../../../src/domain/orders/order-statuses.ts";
import { PLACEMENTS } from "../../../src/domain/delivery/deliveries.ts";

const BEFORE = MIGRATIONS.filter(({ version }) => version < 6);
const LATER = MIGRATIONS.filter(({ version }) => version >= 6);

function databaseWith(migrations: typeof MIGRATIONS): Database {
  const sqlite = new Database(":memory:");
  migrate(sqlite, migrations, 1);
  sqlite.run("PRAGMA foreign_keys = OFF");
  return sqlite;
}

type Value = string | number | null;
type Values = Record<string, Value>;

/** Every row that takes one value of each list. */
function combinations(lists: Record<string, Value[]>): Values[] {
  return Object.entries(lists).reduce<Values[]>(
    (rows, [column, values]) =>
      rows.flatMap((row) => values.map((value) => ({ ...row, [column]: value }))),
    [{}],
  );
}

function insert(sqlite: Database, table: string, row: Values): void {
  const columns = Object.keys(row);
  const marks = columns.map(() => "?").join();
  sqlite
    .query<null, Value[]>(`INSERT INTO ${table} (${columns.join()}) VALUES (${marks})`)
    .run(...Object.values(row));
}

/** The rows that a table takes, each on its own. */
function taken(sqlite: Database, table: string, rows: Values[]): Values[] {
  return rows.filter((row) => {
    sqlite.run("BEGIN");
    try {
      insert(sqlite, table, row);
      return true;
    } catch {
      return false;
    } finally {
      sqlite.run("ROLLBACK");
    }
  });
}

const ORDERS = combinations({
  id: ["o".repeat(24)],
  reseller_account: [3],
  service_id: ["s"],
  service_name: ["s"],
  price_micros: [1],
  link: ["x"],
  quantity: [10],
  remains: [10],
  charge_micros: [5],
  created_at: [1],
  refunded_micros: [0, 2, 5],
  status: [...ORDER_STATUSES, "DONE"],
  placement: [...PLACEMENTS, "lost"],
  provider_id: [null, 1],
  provider_service: [null, "1"],
  provider_order: [null, "1"],
  checked_at: [null, 1],
  changed_at: [null, 1],
  next_place_at: [null, 1],
  next_check_at: [null, 1],
  per: ["1000", "100"],
});

const TRANSFERS = combinations({
  debit_account: [1, 3],
  credit_account: [1, 3],
  amount_micros: [0, 1],
  kind: [...TRANSFER_KINDS, "gift"],
  order_id: [null, 1],
  key_id: [null, "k"],
  operator: [null, "o"],
  created_at: [1],
  balance_after_micros: [-1, 0],
});

test.each([
  ["orders", ORDERS],
  ["transfers", TRANSFERS],
])("a row of %s is taken if and only if it was before", (table, rows) => {
  const before = taken(databaseWith(BEFORE), table, rows);
  expect(before.length).toBeGreaterThan(0);
  expect(before.length).toBeLessThan(rows.length);
  expect(taken(databaseWith(MIGRATIONS), table, rows)).toEqual(before);
});

test("rows, foreign keys and triggers survive the migration", () => {
  const sqlite = databaseWith(BEFORE);
  sqlite.run(`
    INSERT INTO accounts VALUES (3, 'user');
    INSERT INTO users (account, id, username, name, created_at) VALUES (3, '${"u".repeat(24)}', 'anna', 'x', 1);
    INSERT INTO services (id, name, price_micros, per, min, max, active, private, created_at)
      VALUES ('s', 's', 1, '1', 1, 10, 1, 0, 1)`);
  const manual = ORDERS.filter(({ provider_id: provider }) => provider === null);
  taken(sqlite, "orders", manual).forEach((row, index) =>
    insert(sqlite, "orders", {
      ...row,
      id: String(index).padStart(24, "o"),
      reference: `r${index}`,
    }),
  );
  const unrelated = TRANSFERS.filter((row) => row["order_id"] === null && row["key_id"] === null);
  for (const row of taken(sqlite, "transfers", unrelated)) insert(sqlite, "transfers", row);
  const rowsOf = () =>
    ["orders", "transfers"].map((table) => sqlite.query(`SELECT * FROM ${table}`).all());
  const guardsOf = () =>
    sqlite
      .query(
        `SELECT type, name FROM sqlite_schema
         WHERE tbl_name IN ('orders', 'transfers') AND type <> 'table'
            AND name NOT IN ('orders_open', 'orders_keep_extra', 'orders_keep_link', 'orders_keep_totals', 'orders_change_provider_unsent') ORDER BY name`,
      )
      .all();
  const rows = rowsOf();
  const guards = guardsOf();
  expect(rows.map((some) => some.length > 3)).toEqual([true, true]);
  migrate(sqlite, LATER, 2);
  const [orders, transfers] = rows as [object[], object[]];
  // What later migrations add.
  expect(rowsOf()).toEqual([
    orders.map((order) => ({ ...order, sequence: 0, extra: null })),
    transfers,
  ]);
  expect(guardsOf()).toEqual(guards);
  expect(sqlite.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
  expect(sqlite.query("PRAGMA foreign_key_list('transfers')").all()).toMatchObject([
    { table: "keys" },
    { table: "orders" },
    { table: "accounts" },
    { table: "accounts" },
  ]);
});
