// Reports: orders, revenue, refunds and net by day, service, reseller or provider, exact to the micro. Revenue is what
// orders of the window were charged, refunds what was refunded in it, each on the day that it happened. Read in steps, so
// that other requests are handled in between.

import type { Reader, ReadStore, Span, TimeWindow } from "../db/port.ts";
import { listProviders } from "../db/providers.ts";
import {
  type ReportKey,
  type ReportPart,
  type ReportSource,
  reportSpans,
  sumReport,
} from "../db/reports.ts";
import { findService } from "../db/services.ts";
import { findUserByAccount } from "../db/users.ts";

/** Rows that are summed in one step: some milliseconds. */
const STEP = 4000;
const DAY_MS = 86_400_000;

export interface ReportRow {
  /** A day such as 2026-11-22, in UTC; the id of a service; a username; a provider, null for services delivered by hand. */
  key: string | null;
  /** Of a service its name. */
  name: string | null;
  orders: number;
  revenueMicros: bigint;
  refundsMicros: bigint;
  /** Revenue less refunds. */
  netMicros: bigint;
}

/** Days in their order, else the largest revenue first. */
export async function readReport(
  store: ReadStore,
  by: ReportKey,
  window: TimeWindow,
): Promise<ReportRow[]> {
  const sums = new Map<ReportPart["key"], ReportPart>();
  for (const source of ["orders", "transfers"] as const) {
    const spans = await store.read((reader) => reportSpans(reader, source, window));
    for (const span of spans) {
      for await (const part of partsOf(store, by, source, span, window)) add(sums, part);
    }
  }
  const parts = [...sums.values()];
  const labels = await store.read((reader) => labelsOf(reader, by, parts));
  const rows = parts.map((part, at) => ({
    ...part,
    ...labels[at]!,
    netMicros: part.revenueMicros - part.refundsMicros,
  }));
  return rows.toSorted(by === "day" ? compareKeys : compareRevenue);
}

/** The row of all rows together. */
export function totalOf(rows: readonly ReportRow[]): Omit<ReportRow, "key" | "name"> {
  const total = { orders: 0, revenueMicros: 0n, refundsMicros: 0n, netMicros: 0n };
  for (const row of rows) {
    total.orders += row.orders;
    total.revenueMicros += row.revenueMicros;
    total.refundsMicros += row.refundsMicros;
    total.netMicros += row.netMicros;
  }
  return total;
}

async function* partsOf(
  store: ReadStore,
  by: ReportKey,
  source: ReportSource,
  span: Span,
  window: TimeWindow,
): AsyncGenerator<ReportPart> {
  for (let left: Span | null = span; left !== null;) {
    const from: Span = left;
    const step = await store.read((reader) => sumReport(reader, by, source, from, window, STEP));
    yield* step.parts;
    left = step.next;
    // Timers and sockets are looked at between two steps.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function add(sums: Map<ReportPart["key"], ReportPart>, part: ReportPart): void {
  const sum = sums.get(part.key);
  if (!sum) return void sums.set(part.key, { ...part });
  sum.orders += part.orders;
  sum.revenueMicros += part.revenueMicros;
  sum.refundsMicros += part.refundsMicros;
}

function labelsOf(
  reader: Reader,
  by: ReportKey,
  parts: readonly ReportPart[],
): Pick<ReportRow, "key" | "name">[] {
  if (by === "day") {
    return parts.map(({ key }) => ({ key: dayOf(Number(key)), name: null }));
  }
  if (by === "service") {
    return reader.each(parts, ({ key }) => {
      return { key: String(key), name: findService(reader, String(key))!.name };
    });
  }
  if (by === "reseller") {
    return reader.each(parts, ({ key }) => {
      return { key: findUserByAccount(reader, Number(key))!.username, name: null };
    });
  }
  const names = new Map(listProviders(reader).map(({ providerId, name }) => [providerId, name]));
  return parts.map(({ key }) => ({
    key: key === null ? null : names.get(Number(key))!,
    name: null,
  }));
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
