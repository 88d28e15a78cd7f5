// Reports: orders, revenue, refunds, net, cost and margin by day, service, reseller or provider, exact to the micro.
// Revenue: charges of orders in the window, without orders that are unknown now. Refunds and cost: refunds and changes
// of costs in the window, each on its own day. Whole days are read from their totals. Rows that are not in the totals
// yet, and rows of a part of a day, are read in steps, so that other requests are handled in between.

import { readTotals } from "../db/reports/daily-totals.ts";
import { countForeignCosts } from "../db/delivery/costs.ts";
import type { Reader, ReadStore, Span, TimeWindow } from "../db/port/port.ts";
import { namesOfProviders } from "../db/providers/providers.ts";
import {
  addAmounts,
  type Amounts,
  lastPosition,
  noAmounts,
  REPORT_SOURCES,
  type ReportKey,
  type ReportPart,
  type ReportPosition,
  type ReportSource,
  sumCostsWithin,
  sumStep,
  sumUnknown,
  type Times,
} from "../db/reports/reports.ts";
import { sumImported } from "../db/imports/imported-sums.ts";
import { findService } from "../db/catalogue/services.ts";
import { findUserByAccount } from "../db/users/users.ts";
import { HOUR_MS, DAY_MS } from "../domain/values/spans.ts";
import { pause, splitWindow, STEP, timesOf } from "./windows.ts";

export interface ReportRow extends Amounts {
  /**
   * A day in UTC, such as 2026-11-22; a service's id; a username; or a provider, null for services delivered by hand.
   */
  key: string | null;
  /** The name of the service; null for other keys. */
  name: string | null;
  /** Revenue less refunds. */
  netMicros: bigint;
  /** Net less cost. */
  marginMicros: bigint;
}

type Sums = Map<string, Amounts>;

/**
 * Returns the rows of a report: days by date, other keys with the largest revenue first. `includesImported`: adds what
 * was sold in another panel, in reports by any key except the provider, which is not known.
 */
export async function readReport(
  store: ReadStore,
  by: ReportKey,
  window: TimeWindow,
  includesImported = false,
): Promise<ReportRow[]> {
  const { days, parts } = splitWindow(window);
  const { counted, totals, last, unknown } = await store.read((reader) => ({
    ...readTotals(reader, by, days),
    last: lastPosition(reader),
    unknown: sumUnknown(reader, by, timesOf(window)),
  }));
  const times = { from: days.first * DAY_MS, to: (days.last + 1) * DAY_MS - 1 };
  for (const source of REPORT_SOURCES) {
    if (days.first > days.last) break;
    await addSpan(
      totals,
      store,
      by,
      source,
      { first: counted[source] + 1, last: last[source] },
      times,
    );
  }
  for (const part of parts) await addPart(totals, store, by, part, last);
  add(
    totals,
    unknown.map(({ key, micros }) => ({ ...noAmounts(), key, revenueMicros: -micros })),
  );
  if (includesImported && by !== "provider") {
    add(totals, await store.read((reader) => sumImported(reader, by, timesOf(window))));
  }
  const keys = [...totals.keys()];
  const labels = await store.read((reader) => labelsOf(reader, by, keys));
  const rows = [...totals.values()].map((amounts, at) => rowOf(amounts, labels[at]!));
  return rows
    .filter((row) => hasAmounts(row))
    .toSorted(by === "day" ? compareKeys : compareRevenue);
}

export function totalOf(rows: readonly ReportRow[]): Omit<ReportRow, "key" | "name"> {
  const total = noAmounts();
  for (const row of rows) addAmounts(total, row);
  const { key: _, name: __, ...sum } = rowOf(total, { key: null, name: null });
  return sum;
}

/** Returns the number and the charges of the unknown orders in the window, which a report leaves out. */
export async function readUnknown(
  store: ReadStore,
  window: TimeWindow,
): Promise<{ orders: number; micros: bigint }> {
  const found = await store.read((reader) => sumUnknown(reader, "provider", timesOf(window)));
  return found.reduce(
    (sum, { orders, micros }) => ({ orders: sum.orders + orders, micros: sum.micros + micros }),
    { orders: 0, micros: 0n },
  );
}

/** Returns how many orders have a cost that reports leave out, because it is in a currency without a known rate. */
export async function readUncounted(store: ReadStore): Promise<number> {
  const counts = await store.read(countForeignCosts);
  return [...counts.values()].reduce((sum, orders) => sum + orders, 0);
}

async function addPart(
  sums: Sums,
  store: ReadStore,
  by: ReportKey,
  part: Times,
  last: ReportPosition,
): Promise<void> {
  for (const source of ["orders", "transfers"] as const) {
    const spans = await store.read((reader) => reader.spans(source, null, part));
    for (const span of spans) {
      const until = { first: span.first, last: Math.min(span.last, last[source]) };
      await addSpan(sums, store, by, source, until, part);
    }
  }
  for (let from = part.from; from <= part.to; from += HOUR_MS) {
    const hour = { from, to: Math.min(from + HOUR_MS - 1, part.to) };
    const parts = await store.read((reader) => sumCostsWithin(reader, by, hour, last.order_costs));
    add(sums, parts);
    await pause();
  }
}

/** Adds the rows of a span in steps. */
async function addSpan(
  sums: Sums,
  store: ReadStore,
  by: ReportKey,
  source: ReportSource,
  span: Span,
  times: Times,
): Promise<void> {
  for (let left: Span | null = span; left !== null && left.first <= left.last;) {
    const from: Span = left;
    const step = await store.read((reader) => sumStep(reader, by, source, from, times, STEP));
    add(sums, step.parts);
    left = step.next;
    if (left) await pause();
  }
}

function add(sums: Sums, parts: readonly ReportPart[]): void {
  for (const part of parts) {
    let sum = sums.get(part.key);
    if (!sum) sums.set(part.key, (sum = noAmounts()));
    addAmounts(sum, part);
  }
}

function rowOf(amounts: Amounts, label: Pick<ReportRow, "key" | "name">): ReportRow {
  const { orders, revenueMicros, refundsMicros, costMicros } = amounts;
  const netMicros = revenueMicros - refundsMicros;
  const sums = { orders, revenueMicros, refundsMicros, netMicros, costMicros };
  return { ...label, ...sums, marginMicros: netMicros - costMicros };
}

/** Returns whether the row has an amount. A cost that was taken back on the same day leaves none. */
function hasAmounts({ orders, revenueMicros, refundsMicros, costMicros }: Amounts): boolean {
  return orders !== 0 || revenueMicros !== 0n || refundsMicros !== 0n || costMicros !== 0n;
}

function labelsOf(
  reader: Reader,
  by: ReportKey,
  keys: readonly string[],
): Pick<ReportRow, "key" | "name">[] {
  if (by === "day") return keys.map((key) => ({ key: dayOf(Number(key)), name: null }));
  if (by === "service") {
    return reader.each(keys, (key) => ({ key, name: findService(reader, key)?.name ?? null }));
  }
  if (by === "reseller") {
    return reader.each(keys, (key) => ({
      key: findUserByAccount(reader, Number(key))!.username,
      name: null,
    }));
  }
  const names = namesOfProviders(reader);
  return keys.map((key) => ({ key: key === "" ? null : names.get(Number(key))!, name: null }));
}

function dayOf(number: number): string {
  return new Date(number * DAY_MS).toISOString().slice(0, 10);
}

function compareKeys(a: ReportRow, b: ReportRow): number {
  const [left, right] = [a.key ?? "", b.key ?? ""];
  return left < right ? -1 : left > right ? 1 : 0;
}

function compareRevenue(a: ReportRow, b: ReportRow): number {
  if (a.revenueMicros !== b.revenueMicros) return a.revenueMicros < b.revenueMicros ? 1 : -1;
  return compareKeys(a, b);
}
