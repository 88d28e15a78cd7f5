// Invoices of credits and payments over a restore, a move to PostgreSQL and the way back, in both modes: numbers without
// gaps, and each credit in one invoice.

import { join } from "node:path";
import { expect, test } from "bun:test";
import { INVOICE_MODES } from "../../../src/domain/ledger/invoices.ts";
import { copyDatabase } from "../../../src/storage/backup/copy.ts";
import {
  freshPostgresDatabase,
  freshSqliteDatabase,
  OPERATOR,
  type TestDatabase,
} from "../../support/databases/test-database.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import { askPayment, DOLLAR, seedMember, seedMethod } from "../../support/seeds/payments.ts";
import { openShop, reseller } from "../../support/worlds/shop.ts";

const MODES = INVOICE_MODES.filter((mode) => mode !== "off");
const monthsOn = (place: number) => Date.UTC(2026, place, 15);

test.each(MODES)(
  "a restore, a move and the way back leave no gap, and invoice no credit and no payment twice: for each %s",
  async (mode) => {
    const shop = openShop({ engine: "sqlite" });
    const changes = { mode, sellerName: "s", sellerAddress: "a", prefix: "A-" };
    shop.run("setInvoicing", { changes });
    const actor = seedMember(shop, "bob");
    const bonusSteps = JSON.stringify([{ fromMicros: 1, ppm: 50_000 }]);
    seedMethod(shop, "program", "callback", { bonusSteps });
    /** The month in which things happen; what it leaves is invoiced in the next one. */
    let month = 0;
    const credit = (database: TestDatabase, username: string, dollars: number) => {
      const amountMicros = dollars * DOLLAR;
      const input = { username, amountMicros, note: null, actor: OPERATOR };
      database.execute("creditUser", input, monthsOn(month));
    };
    const pay = (database: TestDatabase, id: string) => {
      const paid = { methodId: "program", programId: `p-${id}`, currency: "USD" };
      database.execute("recordPaid", { ...paid, id, amountMicros: 10 * DOLLAR }, monthsOn(month));
    };
    const ask = (database: TestDatabase) =>
      askPayment(database, { methodId: "program", actor, now: monthsOn(month) });
    const issue = (database: TestDatabase) => {
      const found: number[] = [];
      month += 1;
      do found.push(database.execute("issueInvoices", { limit: 2 }, monthsOn(month)));
      while (found.at(-1)! > 0);
      return found.reduce((sum, each) => sum + each, 0);
    };

    credit(shop, "alice", 1);
    const [kept, late] = [ask(shop), ask(shop)];
    pay(shop, kept);
    expect(issue(shop)).toBe(2);
    credit(shop, "alice", 2);
    const file = join(shop.folder, "copy.db");
    copyDatabase(shop.connection.path, file);
    // Both are undone by the restore, and their invoices are in other hands.
    pay(shop, late);
    credit(shop, "bob", 3);
    const since = issue(shop);
    expect(since).toBe(mode === "credit" ? 3 : 2);
    shop.connection.sqlite.close();
    const restored = await reseller("restore", file, "--data", shop.folder, "--yes", "--json");
    expect([restored.code, restored.json.invoices]).toEqual([0, { invoices: since, series: null }]);

    const again = freshSqliteDatabase(shop.folder);
    // The credit that the backup has was invoiced since.
    expect(issue(again)).toBe(0);
    // The program repeats its notice: the money is credited again, and that credit has an invoice of its own.
    pay(again, late);
    pay(again, late);
    credit(again, "alice", 4);
    let [here, invoices]: [TestDatabase, number] = [again, 2 + since + 2];
    expect(issue(again)).toBe(2);
    for (const there of [freshPostgresDatabase(), freshSqliteDatabase()]) {
      credit(here, "bob", 5);
      const open = ask(here);
      const [from, to] = [here, there].map(({ location }) => location.database ?? location.data);
      const moved = await reseller("move", "--from", from!, "--to", to!);
      expect([moved.code, moved.stderr]).toEqual([0, ""]);
      pay(there, open);
      credit(there, "alice", 6);
      const added = mode === "credit" ? 3 : 2;
      expect([issue(there), issue(there)]).toEqual([added, 0]);
      invoices += added;
      here = there;
    }
    const numbers = here.query<{ number: number }>(
      "SELECT number FROM invoices ORDER BY invoice_id",
    );
    expect(numbers.map(({ number }) => Number(number))).toEqual(
      Array.from({ length: invoices }, (_, place) => place + 1),
    );
    // Those of the shop's own seeding came before invoices were on.
    const missed = here.query(
      `SELECT transfers.seq FROM transfers LEFT JOIN invoice_items ON invoice_items.seq = transfers.seq
        WHERE (kind = 'payment' OR kind = 'adjustment') AND transfers.created_at < ${monthsOn(10)}
          AND invoice_items.invoice_id IS NULL`,
    );
    expect(missed).toEqual([]);
    const bonuses = here.query(
      `SELECT transfers.seq FROM transfers JOIN invoice_items ON invoice_items.seq = transfers.seq
        WHERE kind = 'payment_bonus'`,
    );
    expect(bonuses).toEqual([]);
    expect(await verifyStore(here)).toEqual([]);
    here.close();
  },
);
