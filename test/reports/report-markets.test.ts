// Reports of random markets are what a plain book of the same orders, refunds and costs says, to the micro: across midnight,
// with late refunds, corrected costs and a clock that is put back, whatever of it is counted into totals already.

import { afterAll, describe, expect, test } from "bun:test";
import type { TimeWindow } from "../../src/db/port/port.ts";
import { REPORT_KEYS, type ReportKey } from "../../src/db/reports/reports.ts";
import { readReport } from "../../src/reports/reports.ts";
import { DAY, type Entry, ReportModel, START } from "./report-model.ts";
import { freshDatabase, type TestDatabase } from "../support/databases/test-database.ts";
import { verifyStore } from "../support/databases/verify.ts";

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

describe.each([1, 2, 3, 4, 5, 6])("market %i", (seed) => {
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
  });
});
