// Reports of random markets are what a plain book of the same orders, refunds and costs says, to the micro: across midnight,
// with late refunds, corrected costs and a clock that is put back, whatever of it is counted into totals already.

import { afterAll, describe, expect, test } from "bun:test";
import type { TimeWindow } from "../../src/db/port/port.ts";
import { REPORT_KEYS, type ReportKey } from "../../src/db/reports/reports.ts";
import { readMoney } from "../../src/reports/money.ts";
import { readReport } from "../../src/reports/reports.ts";
import { DAY, type Entry, ReportModel, START } from "./report-model.ts";
import { MIGRATIONS as POSTGRES_MIGRATIONS } from "../../src/db/postgres/schema/migrate.ts";
import { MIGRATIONS as SQLITE_MIGRATIONS } from "../../src/storage/file/migrate.ts";
import { ENGINE } from "../support/databases/engine.ts";
import { runs } from "../support/runs.ts";
import { freshDatabase, type TestDatabase } from "../support/databases/test-database.ts";
import { verifyStore } from "../support/databases/verify.ts";

const MIGRATIONS = { sqlite: SQLITE_MIGRATIONS, postgres: POSTGRES_MIGRATIONS };
const STEPS = 220;
const opened: TestDatabase[] = [];
afterAll(() => opened.forEach((database) => database.close()));

type Row = [key: string | null, orders: number, revenue: bigint, refunds: bigint, cost: bigint];

function plainReport(entries: readonly Entry[], by: ReportKey, { from, to }: TimeWindow): Row[] {
  const rows = new Map<string | null, Row>();
  for (const entry of entries) {
    if (entry.at < (from ?? 0) || entry.at > (to ?? Infinity)) continue;
    const key = by === "day" ? new Date(entry.at).toISOString().slice(0, 10) : entry[by];
    const row = rows.get(key) ?? [key, 0, 0n, 0n, 0n];
    rows.set(key, row);
    if (entry.kind === "order") row[1] += 1;
    if (entry.kind === "revenue" && !entry.isUnknown()) row[2] += entry.micros;
    if (entry.kind === "refund") row[3] += entry.micros;
    if (entry.kind === "cost") row[4] += entry.micros;
  }
  return [...rows.values()].filter(([, ...amounts]) => amounts.some((amount) => Number(amount)));
}

const byKey = (rows: Row[]) => rows.toSorted(([a], [b]) => ((a ?? "") < (b ?? "") ? -1 : 1));

interface PlainTransfer {
  from_account: number;
  to_account: number;
  amount: number;
  at: number;
  author: string | null;
}

/** The ledger of the live side added up row by row: the balances before and after the window, and what moved them. */
function plainMoney(database: TestDatabase, { from, to }: TimeWindow) {
  const transfers = database.query<PlainTransfer>(
    `SELECT debit_account AS from_account, credit_account AS to_account, amount_micros AS amount, created_at AS at,
      coalesce(key_id, operator) AS author FROM transfers`,
  );
  const sums = new Map<string, bigint>();
  const add = (name: string, amount: bigint) => sums.set(name, (sums.get(name) ?? 0n) + amount);
  for (const row of transfers) {
    const [payer, payee] = [Number(row.from_account), Number(row.to_account)];
    if (payer < 0 || payee < 0 || Number(row.at) > (to ?? Infinity)) continue;
    const amount = BigInt(row.amount);
    const change = payee > 2 ? amount : -amount;
    add("closing", change);
    if (Number(row.at) < (from ?? 0)) add("opening", change);
    else if (payer === 1) add(`credit ${row.author}`, amount);
    else if (payee === 1) add(`debit ${row.author}`, amount);
    else add(payee === 2 ? "charge" : "refund", amount);
  }
  return sums;
}

async function expectMoney(market: ReportModel, database: TestDatabase, window: TimeWindow) {
  const report = await readMoney(database.store, window);
  const { sums, openingMicros, closingMicros } = report;
  const found = new Map([["opening", openingMicros]]);
  for (const { flow, keyId, operator, micros } of report.lines) {
    const name = flow === "credit" || flow === "debit" ? `${flow} ${keyId ?? operator}` : flow;
    found.set(name, (found.get(name) ?? 0n) + micros);
  }
  found.set("closing", closingMicros);
  const named = (each: Map<string, bigint>) =>
    [...each].filter(([, sum]) => sum).toSorted(([a], [b]) => (a < b ? -1 : 1));
  expect([window, named(found)]).toEqual([window, named(plainMoney(database, window))]);
  expect(openingMicros + sums.credit - sums.charge + sums.refund - sums.debit).toBe(closingMicros);
  const plain = plainReport(market.entries, "day", window);
  const [revenue, refunds] = [2, 3].map((at) =>
    plain.reduce((sum, row) => sum + (row[at] as bigint), 0n),
  );
  expect([report.revenueMicros, report.netMicros]).toEqual([revenue!, revenue! - refunds!]);
  if (window.to !== null) return;
  const [{ owed }] = database.query<{ owed: number }>(
    "SELECT sum(balance_micros) AS owed FROM users WHERE test_of IS NULL",
  ) as [{ owed: number }];
  expect(closingMicros).toBe(BigInt(owed));
}

async function expectReports(market: ReportModel, database: TestDatabase): Promise<void> {
  const midnight = START - (START % DAY);
  const windows: TimeWindow[] = [
    { from: null, to: null },
    { from: midnight, to: midnight + 3 * DAY - 1 },
    { from: START + 1, to: START + 5 * DAY + 12_345 },
    { from: START - 3_600_000, to: START + 3_600_000 },
    { from: START + 2 * DAY, to: null },
  ];
  for (const window of windows) {
    await expectMoney(market, database, window);
    for (const by of REPORT_KEYS) {
      const rows = await readReport(database.store, by, window);
      const found = rows.map((row): Row => {
        expect(row.netMicros).toBe(row.revenueMicros - row.refundsMicros);
        expect(row.marginMicros).toBe(row.netMicros - row.costMicros);
        return [row.key, row.orders, row.revenueMicros, row.refundsMicros, row.costMicros];
      });
      const plain = plainReport(market.entries, by, window);
      expect([window, by, byKey(found)]).toEqual([window, by, byKey(plain)]);
    }
  }
}

describe.each(runs([1, 2], [1, 2, 3, 4, 5, 6]))("market %i", (seed) => {
  const database = freshDatabase();
  opened.push(database);
  const market = new ReportModel(database, seed);

  test("while totals are counted now and then", async () => {
    for (let step = 1; step <= STEPS; step++) {
      market.step();
      if (step % 70 === 0) await expectReports(market, database);
    }
    await expectReports(market, database);
    expect(market.entries.filter(({ kind }) => kind === "cost").length).toBeGreaterThan(10);
  });

  test("totals of money that an upgrade makes are those that are counted", async () => {
    database.query("DELETE FROM money_totals");
    for (const { sql } of MIGRATIONS[ENGINE]) {
      const [, insert] = /^(INSERT INTO money_totals[^;]*);/m.exec(sql) ?? [];
      if (insert !== undefined) database.query(insert);
    }
    expect(database.query("SELECT 1 FROM money_totals")).not.toEqual([]);
    expect(await verifyStore(database)).toEqual([]);
  });

  test("once all is counted; verify finds only a total that was changed", async () => {
    for (let round = 0; round < 100; round++) market.count(1000);
    const rows = database.query("SELECT 1 FROM daily_totals");
    expect(rows.length).toBeGreaterThan(3);
    await expectReports(market, database);
    expect(await verifyStore(database)).toEqual([]);
    database.query("UPDATE daily_totals SET cost_micros = cost_micros + 1 WHERE kind = 'reseller'");
    const found = await verifyStore(database);
    expect(new Set(found.map(({ check }) => check))).toEqual(new Set(["totals by reseller"]));
    database.query("UPDATE daily_totals SET cost_micros = cost_micros - 1 WHERE kind = 'reseller'");
    database.query(
      "UPDATE money_totals SET amount_micros = amount_micros + 1 WHERE flow = 'charge'",
    );
    const money = await verifyStore(database);
    expect(new Set(money.map(({ check }) => check))).toEqual(new Set(["totals of money"]));
  });
});
