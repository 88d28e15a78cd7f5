// The money report of a period: what users' balances were at its first and last moment, and what moved them, to the
// micro. Opening + credits − charges + refunds − debits = closing. Test accounts are left out. Whole days are read from
// their totals; other transfers are added up in steps.

import { listReceived, type Received } from "../db/payments/payment-receipts.ts";
import { listUncredited, type Uncredited } from "../db/payments/payment-surpluses.ts";
import type { ReadStore, Span, TimeWindow } from "../db/port/port.ts";
import { type MoneyPart, readMoneyTotals, sumMoneyStep } from "../db/reports/money-totals.ts";
import { lastPosition, type Times } from "../db/reports/reports.ts";
import { keys } from "../db/tables/users.ts";
import { usernameOf } from "../db/users/users.ts";
import { MONEY_FLOWS, type MoneyFlow } from "../domain/ledger/ledger.ts";
import { DAY_MS } from "../domain/values/spans.ts";
import { readUnknown } from "./reports.ts";
import { pause, splitWindow, STEP, timesOf } from "./windows.ts";

/** What was credited, charged, refunded or debited by one source. */
export interface MoneyLine extends Omit<MoneyPart, "source"> {
  /** The key that recharged; null: none. */
  keyId: string | null;
  /** The operator; null: none. */
  operator: string | null;
  /** Its source in words; null for charges and refunds. */
  source: string | null;
}

export interface MoneyReport {
  /** The sum of all balances before the first moment of the period: what is owed to users. */
  openingMicros: bigint;
  /** The same after its last moment. */
  closingMicros: bigint;
  /** By flow, the largest first. */
  lines: MoneyLine[];
  sums: Record<MoneyFlow, bigint>;
  /** The orders of the period whose submission is unknown now: their charges are no revenue until they are settled. */
  unknown: { orders: number; micros: bigint };
  /** What was received, with fees, for the payments that were credited in the period, in the currency of each. */
  received: Received[];
  /** What was received in the period and is not credited now, in the currency of the payment. It is in no balance. */
  uncredited: Uncredited[];
  /** Charges less those of unknown orders. */
  revenueMicros: bigint;
  /** Revenue less refunds. */
  netMicros: bigint;
}

/** How a flow changes the sum of balances. */
const SIGNS: Record<MoneyFlow, bigint> = { credit: 1n, charge: -1n, refund: 1n, debit: -1n };

/** Returns an amount as it changes the sum of balances. */
export function signedMicros({ flow, micros }: Pick<MoneyPart, "flow" | "micros">): bigint {
  return SIGNS[flow] * micros;
}

export async function readMoney(store: ReadStore, window: TimeWindow): Promise<MoneyReport> {
  const { from, to } = timesOf(window);
  const before = from === 0 ? [] : await readParts(store, { from: 0, to: from - 1 });
  const parts = await readParts(store, { from, to });
  const unknown = await readUnknown(store, window);
  const { received, uncredited } = await store.read((reader) => ({
    received: listReceived(reader, { from, to }),
    uncredited: listUncredited(reader, { from, to }),
  }));
  const sums = { credit: 0n, charge: 0n, refund: 0n, debit: 0n };
  for (const { flow, micros } of parts) sums[flow] += micros;
  const openingMicros = changeOf(before);
  const revenueMicros = sums.charge - unknown.micros;
  return {
    openingMicros,
    closingMicros: openingMicros + changeOf(parts),
    lines: (await linesOf(store, parts)).toSorted(byFlow),
    sums,
    unknown,
    received,
    uncredited,
    revenueMicros,
    netMicros: revenueMicros - sums.refund,
  };
}

function changeOf(parts: readonly MoneyPart[]): bigint {
  return parts.reduce((sum, part) => sum + signedMicros(part), 0n);
}

function byFlow(one: MoneyLine, other: MoneyLine): number {
  const order = MONEY_FLOWS.indexOf(one.flow) - MONEY_FLOWS.indexOf(other.flow);
  return order || Number(other.micros - one.micros);
}

/** Adds up the transfers of a window by flow, kind and source. `isPayments`: only what payments credited. */
export async function readParts(
  store: ReadStore,
  window: Times,
  isPayments = false,
): Promise<MoneyPart[]> {
  const sums = new Map<string, MoneyPart>();
  const add = (parts: readonly MoneyPart[]) => {
    for (const part of parts) {
      if (isPayments && part.kind !== "payment") continue;
      const key = [part.flow, part.kind, part.source].join("\0");
      const sum = sums.get(key);
      if (!sum) sums.set(key, { ...part });
      else Object.assign(sum, grown(sum, part));
    }
  };
  const { days, parts } = splitWindow(window);
  const { totals, last } = await store.read((reader) => ({
    totals: readMoneyTotals(reader, days, isPayments),
    last: lastPosition(reader).transfers,
  }));
  add(totals.parts);
  if (days.first <= days.last) {
    const times = { from: days.first * DAY_MS, to: (days.last + 1) * DAY_MS - 1 };
    add(await sumSpan(store, { first: totals.counted + 1, last }, times));
  }
  for (const part of parts) {
    const spans = await store.read((reader) => reader.spans("transfers", null, part));
    for (const span of spans) {
      add(await sumSpan(store, { ...span, last: Math.min(span.last, last) }, part));
    }
  }
  return [...sums.values()];
}

function grown(sum: MoneyPart, part: MoneyPart): Pick<MoneyPart, "transfers" | "micros"> {
  return { transfers: sum.transfers + part.transfers, micros: sum.micros + part.micros };
}

/** Adds up the transfers of a span in steps. */
async function sumSpan(store: ReadStore, span: Span, times: Times): Promise<MoneyPart[]> {
  const found: MoneyPart[] = [];
  for (let left: Span | null = span; left !== null && left.first <= left.last;) {
    const from: Span = left;
    const { parts, next } = await store.read((reader) => sumMoneyStep(reader, from, times, STEP));
    found.push(...parts);
    left = next;
    if (left) await pause();
  }
  return found;
}

/** Names the sources: keys by their labels and users. */
async function linesOf(store: ReadStore, parts: readonly MoneyPart[]): Promise<MoneyLine[]> {
  return store.read((reader) =>
    reader.each(parts, ({ source, ...part }) => {
      const [, by, name = null] = /^(key|operator|method) (.*)$/.exec(source) ?? [];
      const operator = by === "operator" ? name : null;
      const key = by === "key" ? reader.row(keys.byKey, name!) : undefined;
      const named = by === "method" ? name : operator;
      if (!key) return { ...part, keyId: null, operator, source: named };
      const user = usernameOf(reader, key.resellerAccount);
      const shown = key.label === "" ? key.id : key.label;
      return { ...part, keyId: key.id, operator, source: `key ${shown} of ${user}` };
    }),
  );
}
