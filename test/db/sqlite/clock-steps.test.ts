// The steps of the clock that are recorded, beside the triggers that recorded them once: each row whose time is before
// that of the row before it.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { recordAllClockSteps } from "../../../src/db/sqlite/clock-steps.ts";
import { createSqliteStore } from "../../../src/db/sqlite/store.ts";
import { type Job, TransientError, type Tx } from "../../../src/db/port/port.ts";
import { transfers } from "../../../src/db/tables/ledger.ts";
import { CASH_ACCOUNT, SALES_ACCOUNT } from "../../../src/domain/ledger/ledger.ts";
import {
  type CommandInput,
  type CommandName,
  runCommand,
} from "../../../src/operations/batch/commands.ts";
import { createContext } from "../../../src/operations/batch/context.ts";
import { createId } from "../../../src/db/port/ids.ts";
import {
  freshSqliteDatabase,
  OPERATOR,
  type TestDatabase,
} from "../../support/databases/test-database.ts";
import { raiseFloor } from "../../support/http/number-floors.ts";
import { below, type Random, randomFrom } from "../../support/random/seeded.ts";

const SEEDS = 12;
const BATCHES = 80;
const BATCH_LIMIT = 5;

/** The triggers of the first version, which write to a table of their own. */
const REFERENCE = `
  CREATE TABLE expected_steps (ledger TEXT, first INTEGER, time INTEGER, time_before INTEGER);
  CREATE TRIGGER orders_expect AFTER INSERT ON orders
  WHEN NEW.created_at < (SELECT created_at FROM orders WHERE order_id < NEW.order_id ORDER BY order_id DESC LIMIT 1)
  BEGIN
    INSERT INTO expected_steps SELECT 'orders', NEW.order_id, NEW.created_at, created_at
    FROM orders WHERE order_id < NEW.order_id ORDER BY order_id DESC LIMIT 1;
  END;
  CREATE TRIGGER transfers_expect AFTER INSERT ON transfers
  WHEN NEW.created_at < (SELECT created_at FROM transfers WHERE seq < NEW.seq ORDER BY seq DESC LIMIT 1)
  BEGIN
    INSERT INTO expected_steps SELECT 'transfers', NEW.seq, NEW.created_at, created_at
    FROM transfers WHERE seq < NEW.seq ORDER BY seq DESC LIMIT 1;
  END`;

class Undo extends Error {}

const stepsIn = (database: TestDatabase, table: string) =>
  database.query(`SELECT * FROM ${table} ORDER BY ledger, first`);

/** A clock that is mostly right, sometimes set back and sometimes ahead. */
function timeOf(random: Random, clock: { now: number }): number {
  const kind = below(random, 12);
  if (kind === 0) clock.now -= 1 + below(random, 30);
  else if (kind === 1) clock.now += 20 + below(random, 40);
  else clock.now += below(random, 3);
  return clock.now;
}

test("whatever a batch does and whoever wrote before, the steps are those that the triggers recorded", () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = randomFrom(seed);
    const clock = { now: 1000 };
    const database = freshSqliteDatabase();
    const { sqlite } = database.connection;
    sqlite.run(REFERENCE);
    database.user("anna", "1000000");
    database.service({ id: "s", price: "1" });
    const { id: keyId } = database.key("anna", "order");
    const [{ account }] = database.query<{ account: number }>("SELECT account FROM users") as [
      { account: number },
    ];
    // Before the first row: later the floors are not asked any more.
    for (const table of ["orders", "transfers"] as const)
      void database.connection.store.runBatch([{ run: (tx) => raiseFloor(tx, table, 10) }]);
    const other = new Database(database.connection.path);
    other.run("PRAGMA foreign_keys = ON; PRAGMA synchronous = OFF");
    const stores = [createSqliteStore(sqlite, true), createSqliteStore(other)] as const;
    const highest = { orders: 10, transfers: 10 };

    const run = <Name extends CommandName>(tx: Tx, name: Name, input: CommandInput<Name>) =>
      runCommand(tx, name, input, createContext(timeOf(random, clock), [createId()], "seed"));
    const credit = (tx: Tx) => {
      run(tx, "creditUser", { username: "anna", amountMicros: 1e6, note: null, actor: OPERATOR });
    };
    const order = (tx: Tx) => {
      const link = "https://example.com/me";
      run(tx, "placeOrder", { resellerAccount: account, keyId, service: "s", link, quantity: 10 });
    };
    const insert = (tx: Tx, seq?: number) =>
      tx.insert(transfers, {
        ...(seq === undefined ? {} : { seq }),
        debitAccount: CASH_ACCOUNT,
        creditAccount: SALES_ACCOUNT,
        amountMicros: 1,
        kind: "adjustment",
        orderId: null,
        keyId: null,
        operator: null,
        note: null,
        createdAt: timeOf(random, clock),
        balanceAfterMicros: 0n,
      });
    const skip = (tx: Tx) => {
      const table = below(random, 2) === 0 ? "orders" : "transfers";
      raiseFloor(tx, table, (highest[table] += below(random, 200)));
    };
    const jobs: readonly ((tx: Tx) => unknown)[] = [
      credit,
      credit,
      order,
      order,
      order,
      insert,
      skip,
      // Between rows, or below the first one.
      (tx) => insert(tx, 1 + below(random, highest.transfers)),
      // Undone alone, as a part of a command; another row follows with the undone number or the next one.
      (tx) => {
        let undone = 0;
        tx.attempt(() => {
          undone = insert(tx).seq;
          throw new Undo();
        });
        insert(tx, below(random, 2) === 0 ? undefined : undone + 1);
      },
      (tx) => {
        insert(tx);
        tx.attempt(() => void insert(tx));
      },
      // Undone alone, as a command: the batch runs again.
      (tx) => {
        credit(tx);
        throw new Undo();
      },
      // Undone with the whole batch.
      (tx) => {
        insert(tx);
        throw Object.assign(new Error(), { code: "SQLITE_FULL" });
      },
    ];
    for (let batch = 0; batch < BATCHES; batch += 1) {
      const chosen = Array.from({ length: 1 + below(random, BATCH_LIMIT) }, (): Job => ({
        run: jobs[below(random, jobs.length)]! as Job["run"],
      }));
      try {
        const outcomes = stores[below(random, 2)]!.runBatch(chosen);
        for (const outcome of outcomes)
          if ("threw" in outcome && !(outcome.threw instanceof Undo))
            expect(String(outcome.threw)).toContain("UNIQUE constraint failed: transfers.seq");
      } catch (error) {
        if (!(error instanceof TransientError)) throw error;
      }
      expect(stepsIn(database, "clock_steps"), `seed ${seed}, batch ${batch}`).toEqual(
        stepsIn(database, "expected_steps"),
      );
    }
    expect(stepsIn(database, "clock_steps").length).toBeGreaterThan(10);
    for (const table of ["orders", "transfers"]) {
      const [found] = database.query<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`);
      expect(found!.rows).toBeGreaterThan(20);
    }
    other.close();
    database.close();
  }
});

test("the steps of rows that were inserted past the port are those that the triggers recorded", () => {
  const database = freshSqliteDatabase();
  const { sqlite } = database.connection;
  sqlite.run(REFERENCE);
  sqlite.run("PRAGMA foreign_keys = OFF");
  const insertOrder =
    sqlite.prepare(`INSERT INTO orders (order_id, id, reseller_account, service_id, service_name,
    price_micros, per, link, quantity, charge_micros, status, remains, created_at)
    VALUES (?1, printf('%024d', ?1), 3, 's', 'S', 0, '1', 'x', 1, 0, 'COMPLETED', 0, ?2)`);
  const insertTransfer =
    sqlite.prepare(`INSERT INTO transfers (seq, debit_account, credit_account, amount_micros,
    kind, created_at) VALUES (?1, 1, 2, 1, 'adjustment', ?2)`);
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = randomFrom(seed);
    sqlite.run("BEGIN");
    for (const insert of [insertOrder, insertTransfer]) {
      const clock = { now: 1000 };
      for (let row = 0, number = 0; row < 100; row += 1) {
        number += 1 + (below(random, 4) === 0 ? below(random, 100) : 0);
        insert.run(number, timeOf(random, clock));
        // Some are recorded already.
        if (below(random, 40) === 0) recordAllClockSteps(sqlite);
      }
    }
    recordAllClockSteps(sqlite);
    expect(stepsIn(database, "clock_steps")).toEqual(stepsIn(database, "expected_steps"));
    expect(stepsIn(database, "clock_steps").length).toBeGreaterThan(5);
    sqlite.run("ROLLBACK");
  }
  database.close();
});
