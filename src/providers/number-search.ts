// Asks a provider about the order numbers near its unknown orders, and judges the orders by its answers. It only asks:
// nothing is written here or at the provider. docs/specification/delivery.md#delivery-search.

import { balanceEvidence, type ReportedBalance } from "../domain/delivery/balance-evidence.ts";
import { numbersNear, rangeOf } from "../domain/delivery/number-ranges.ts";
import { isClearReport, type Report } from "../domain/delivery/polling.ts";
import {
  type DeliveryScene,
  type Finding,
  judgeUnknown,
} from "../domain/delivery/unknown-matches.ts";
import { type ProviderApi, ProviderFailure, STATUS_BATCH_LIMIT } from "./provider.ts";

/** Limit for the calls of one search. What was not asked by then stays unclear. */
const CALLS_LIMIT = 200;
/** Limit for calls in a row without a clear answer. Halving a batch until the bad entry is found takes seven. */
const FAILURES_LIMIT = 9;
/** Pause between one call and the next. */
const PAUSE_MS = 100;

export interface NumberSearch {
  findings: Finding[];
  /** What our balance there says, in sentences without a full stop. */
  balance: string[];
  /** How many numbers were asked about. */
  asked: number;
  /** Why asking ended early; null: it did not. */
  failure: string | null;
}

export interface SearchOptions {
  /** How many numbers are asked about for each order. */
  nearby: number;
  stop: AbortSignal;
  now: () => number;
}

/**
 * Searches a provider for its unknown orders. `read` reads what is known here. It gets the numbers that the provider
 * knows. It is called again after the answers, because orders may have been placed in the meantime.
 */
export async function searchNumbers(
  api: Pick<ProviderApi, "status" | "balance">,
  read: (known: readonly string[]) => Promise<DeliveryScene>,
  { nearby, stop, now }: SearchOptions,
): Promise<NumberSearch> {
  const before = await read([]);
  const { answers, failure } = await askNumbers(api, numbersToAsk(before, nearby), stop);
  const known = [...answers].flatMap(([number, { word }]) => (word === null ? [] : number));
  const scene = await read(known);
  const findings = judgeUnknown(scene, answers);
  const { unknown, numbered, balances } = scene;
  const isAsked = unknown.length > 0 && failure === null && balances.after === null;
  const after = isAsked ? await askBalance(api, stop, now) : balances.after;
  const sent = findings.filter(({ verdict }) => verdict === "sent");
  const likely = new Set(sent.map(({ orderId }) => orderId));
  const balance = balanceEvidence({ ...balances, after }, unknown, numbered, likely);
  return { findings, balance, asked: answers.size, failure };
}

/** Asks for our balance now. Null: the provider did not report it. */
async function askBalance(
  api: Pick<ProviderApi, "balance">,
  stop: AbortSignal,
  now: () => number,
): Promise<ReportedBalance | null> {
  try {
    const { balance, currency } = await api.balance(stop);
    const balanceMicros = Math.round(balance * 1_000_000);
    return { at: now(), balanceMicros, currency: currency === "" ? null : currency };
  } catch (error) {
    if (error instanceof ProviderFailure) return null;
    throw error;
  }
}

/**
 * Returns the numbers to ask about, lowest first: `nearby` for each unknown order, even if several share a range; the
 * ends of the ranges, whose answers show whether the account still knows our orders; and orders for the same services,
 * whose charges show what they cost.
 */
function numbersToAsk({ unknown, numbered }: DeliveryScene, nearby: number): string[] {
  const ours = new Set(numbered.map(({ number }) => number));
  const wanted = new Set<bigint>();
  const ends = new Set<bigint>();
  for (const order of unknown) {
    const range = rangeOf(order, numbered);
    for (const number of numbersNear(order, range, ours.union(wanted), nearby)) wanted.add(number);
    const alike = numbered.findLast(
      ({ providerService, quantity }) =>
        providerService === order.providerService && quantity >= order.quantity,
    );
    for (const each of [range.lower, range.upper, alike]) if (each) ends.add(each.number);
  }
  return [...wanted.union(ends)].toSorted((a, b) => (a < b ? -1 : 1)).map(String);
}

/** Asks about numbers, one call after another. A batch that the provider refuses as a whole is halved. */
export async function askNumbers(
  api: Pick<ProviderApi, "status">,
  numbers: readonly string[],
  stop: AbortSignal,
): Promise<{ answers: Map<string, Report>; failure: string | null }> {
  const answers = new Map<string, Report>();
  const batches = inBatches(numbers);
  let failures = 0;
  for (let calls = 0; batches.length > 0; calls++) {
    if (calls === CALLS_LIMIT) return { answers, failure: `${CALLS_LIMIT} calls were made` };
    if (calls > 0) await Bun.sleep(PAUSE_MS);
    const batch = batches.shift()!;
    const reply = await api.status(batch, stop);
    if ("failed" in reply) {
      failures++;
      if (!reply.answered || failures === FAILURES_LIMIT) return { answers, failure: reply.failed };
      if (batch.length > 1) batches.unshift(...halves(batch));
      continue;
    }
    const isClear = [...reply.reports.values()].some(isClearReport);
    failures = isClear ? 0 : failures + 1;
    for (const [number, report] of reply.reports) {
      // Providers omit numbers from a long reply for several reasons. Asked alone, they give one.
      const isOmitted = batch.length > 1 && report.isUnrecognized && !report.isDenied;
      if (isOmitted) batches.push([number]);
      answers.set(number, report);
    }
    if (failures === FAILURES_LIMIT) {
      return { answers, failure: `it says: ${[...reply.reports.values()][0]!.text}` };
    }
  }
  return { answers, failure: null };
}

function inBatches(numbers: readonly string[]): string[][] {
  const count = Math.ceil(numbers.length / STATUS_BATCH_LIMIT);
  return Array.from({ length: count }, (_, index) =>
    numbers.slice(index * STATUS_BATCH_LIMIT, (index + 1) * STATUS_BATCH_LIMIT),
  );
}

function halves(batch: readonly string[]): string[][] {
  const middle = Math.ceil(batch.length / 2);
  return [batch.slice(0, middle), batch.slice(middle)];
}
