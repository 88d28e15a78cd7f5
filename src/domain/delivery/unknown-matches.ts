// Matches unknown orders with orders that their provider knows. A finding is advice with its evidence: only the
// operator settles. A doubtful finding is `unclear`, because a wrong settlement loses money.
// docs/specification/delivery.md#delivery-search.

import { utcText } from "../values/times.ts";
import type { BalancesAround } from "./balance-evidence.ts";
import type { CurrencyTerms } from "./costs.ts";
import { type ChargeTerms, chargeTermsOf, type Fit, fitOf } from "./number-fits.ts";
import {
  areNumbersOrdered,
  isInRange,
  LATE_ARRIVAL_MS,
  type NumberedOrder,
  type NumberRange,
  rangeOf,
  type RivalOrder,
  sizeOf,
  type SoughtOrder,
} from "./number-ranges.ts";
import { isClearReport, type Report } from "./polling.ts";
import { MINUTE_MS } from "../values/spans.ts";

/** Limit for the size of a range that can be asked about completely. */
const WHOLE_RANGE_LIMIT = 20_000n;
/** Limit for the numbers or orders that a text names. */
const NAMED_LIMIT = 5;

/** What is known of a provider's orders here. */
export interface DeliveryScene {
  unknown: readonly SoughtOrder[];
  /** Other orders that may have one of the numbers. */
  rivals: readonly RivalOrder[];
  numbered: readonly NumberedOrder[];
  /**
   * Our orders that have one of the numbers, by number. Includes orders of every provider that may use the same
   * account.
   */
  taken: ReadonlyMap<string, TakenNumber>;
  currency: CurrencyTerms;
  balances: BalancesAround;
}

export interface TakenNumber {
  orderId: number;
  /** Whether a settlement gave the number, which may have been wrong. Otherwise the provider's answer gave it. */
  isSettled: boolean;
}

export type Verdict = "sent" | "not_sent" | "unclear";

/** A number that the provider knows and that none of our orders has. */
export interface Candidate {
  providerOrder: string;
  fit: Exclude<Fit, "differs">;
  /** As the provider reported them. */
  status: string;
  charge: string | null;
  currency: string | null;
  remains: number | null;
}

export interface Finding {
  orderId: number;
  verdict: Verdict;
  /** The number of an order that was likely sent. */
  providerOrder: string | null;
  /** Numbers that may be the order's. */
  candidates: Candidate[];
  /** The reasons, as sentences without full stops. */
  evidence: string[];
}

/** Counts findings in words. `verdicts`: one of each order. */
export function verdictCounts(verdicts: readonly Verdict[]): string {
  const count = (verdict: Verdict) => verdicts.filter((each) => each === verdict).length;
  return `${count("sent")} likely sent, ${count("not_sent")} likely not sent, ${count("unclear")} unclear`;
}

/**
 * Splits the evidence of a finding: the first part is shown at once. It has every doubt, but only one reason for a
 * likely finding.
 */
export function shownEvidence({ verdict, evidence }: Pick<Finding, "verdict" | "evidence">) {
  const shown = verdict === "unclear" ? evidence : evidence.slice(0, 1);
  return { shown, folded: evidence.slice(shown.length) };
}

interface Found {
  number: bigint;
  report: Report;
}

interface Sought {
  order: SoughtOrder;
  range: NumberRange;
  /** The numbers that may be the order's. */
  matches: { found: Found; fit: Exclude<Fit, "differs"> }[];
  /** Numbers that may be the order's, but belong to another order by a settlement. */
  settled: (Found & TakenNumber)[];
}

/** Judges each unknown order. `answers`: the provider's reports by number, of all numbers that were asked about. */
export function judgeUnknown(
  scene: DeliveryScene,
  answers: ReadonlyMap<string, Report>,
): Finding[] {
  const { numbered, taken, rivals } = scene;
  const ours = new Map(numbered.map((order) => [String(order.number), order]));
  const known = [...answers].filter(([, { word }]) => word !== null);
  const terms = chargeTermsOf(
    scene.currency,
    known.map(([, report]) => report),
    known.flatMap(([number, report]) => {
      const order = ours.get(number);
      return order ? [{ order, report }] : [];
    }),
  );
  const unowned = known
    .filter(([number]) => !ours.has(number) && !taken.has(number))
    .map(([number, report]) => ({ number: BigInt(number), report }));
  const settled = known.flatMap(([number, report]) => {
    const order = taken.get(number);
    return order?.isSettled ? [{ number: BigInt(number), report, ...order }] : [];
  });
  const seek = (order: SoughtOrder): Sought => {
    const range = rangeOf(order, numbered);
    return {
      order,
      range,
      matches: matchesOf(order, range, unowned, terms),
      settled: matchesOf(order, range, settled, terms).map(({ found }) => found),
    };
  };
  const isOurs = (number: string) => ours.has(number) || taken.has(number);
  return judge(scene.unknown.map(seek), rivals.map(seek), {
    answers,
    unowned,
    isOurs,
    isOrdered: areNumbersOrdered(numbered),
    states: new Map(rivals.map(({ orderId, state }) => [orderId, state])),
  });
}

/** Returns those of the numbers that lie in the order's range and may be the order's. */
function matchesOf<Each extends Found>(
  order: SoughtOrder,
  range: NumberRange,
  numbers: readonly Each[],
  terms: ChargeTerms,
): { found: Each; fit: Exclude<Fit, "differs"> }[] {
  return numbers.flatMap((found) => {
    if (!isInRange(range, found.number)) return [];
    const fit = fitOf(order, found.report, terms);
    return fit === "differs" ? [] : [{ found, fit }];
  });
}

interface Facts {
  answers: ReadonlyMap<string, Report>;
  unowned: readonly Found[];
  isOurs: (number: string) => boolean;
  isOrdered: boolean;
  /** States of the rivals by order number. */
  states: ReadonlyMap<number, string>;
}

function judge(sought: readonly Sought[], rivals: readonly Sought[], facts: Facts): Finding[] {
  const claims = new Map<bigint, SoughtOrder[]>();
  for (const { order, matches } of [...sought, ...rivals]) {
    for (const { found } of matches) {
      claims.set(found.number, [...(claims.get(found.number) ?? []), order]);
    }
  }
  /** The number of an order that was likely sent: its only match, which fits and which no other order may have. */
  const numberOf = ({ order, matches: [first, ...others] }: Sought): bigint | null => {
    if (!first || others.length > 0 || first.fit !== "fits") return null;
    const isUsable = facts.isOrdered && !order.isRestored;
    return isUsable && claims.get(first.found.number)!.length === 1 ? first.found.number : null;
  };
  const explained = new Map<bigint, number>();
  for (const each of sought) {
    const number = numberOf(each);
    if (number !== null) explained.set(number, each.order.orderId);
  }
  return sought.map((each) => {
    const { orderId } = each.order;
    const candidates = each.matches.map(({ found, fit }) => candidateOf(found, fit));
    const finding = { orderId, providerOrder: null, candidates };
    const number = numberOf(each);
    if (number !== null) {
      const evidence = sentEvidence(each, facts);
      return { ...finding, verdict: "sent", providerOrder: String(number), evidence };
    }
    const doubts = doubtsOf(each, claims, explained, facts);
    if (doubts.length > 0) return { ...finding, verdict: "unclear", evidence: doubts };
    return { ...finding, verdict: "not_sent", evidence: notSentEvidence(each, facts) };
  });
}

function candidateOf({ number, report }: Found, fit: Candidate["fit"]): Candidate {
  const { word, cost, remains } = report;
  const { charge = null, currency = null } = cost ?? {};
  return { providerOrder: String(number), fit, status: word!.trim(), charge, currency, remains };
}

function sentEvidence({ order, range, matches }: Sought, { answers, isOurs }: Facts): string[] {
  const { found } = matches[0]!;
  const { asked, size } = coverage(range, answers, isOurs);
  return [
    `${reportText(found)}: the charge of ${order.quantity} of service ${order.providerService}`,
    `no other order of ours fits ${found.number}`,
    `${found.number} is ${rangeText(range)}`,
    ...(asked < (size ?? asked + 1n) ? [`${askedText(asked, size)}, none other fits`] : []),
  ];
}

function notSentEvidence({ range, order }: Sought, { isOurs, unowned, answers }: Facts): string[] {
  const matched = unowned.filter(({ number }) => isInRange(range, number)).length;
  const { size } = coverage(range, answers, isOurs);
  const own = [...numbersIn(range)].filter(isOurs).length;
  const parts = [
    `${size! - BigInt(own + matched)} are unknown to the provider's account`,
    ...(own > 0 ? [`${own} are other orders of ours`] : []),
    ...(matched > 0 ? [`${matched} fit other unknown orders`] : []),
  ];
  return [
    `all ${size} numbers ${rangeText(range)} were asked, and none is left for this order`,
    parts.join(", "),
    `the order was sent ${utcText(order.sentFrom)}`,
  ];
}

/** Returns why an order that was not matched may have been sent anyway. */
function doubtsOf(
  { order, range, matches, settled }: Sought,
  claims: ReadonlyMap<bigint, readonly SoughtOrder[]>,
  explained: ReadonlyMap<bigint, number>,
  facts: Facts,
): string[] {
  const { lower, upper } = range;
  const { answers, isOurs, states, unowned } = facts;
  const doubts: string[] = [];
  if (!facts.isOrdered) doubts.push("the numbers of this provider do not grow with time");
  if (order.isRestored) {
    doubts.push("restored from a backup, which may lack orders that the provider has");
  }
  for (const { found, fit } of matches.slice(0, NAMED_LIMIT)) {
    const others = claims.get(found.number)!.filter(({ orderId }) => orderId !== order.orderId);
    const named = others.slice(0, NAMED_LIMIT).map(({ orderId }) => orderText(orderId, states));
    const more = others.length > NAMED_LIMIT ? " and others" : "";
    const also = named.length === 0 ? "" : `; it may also be ${named.join(", ")}${more}`;
    const how = fit === "fits" ? "fits" : "may fit: nothing to compare its charge with";
    doubts.push(`${reportText(found)}: ${how}${also}`);
  }
  if (matches.length > 1) doubts.push(`${matches.length} numbers may be this order`);
  for (const { number, orderId } of settled.slice(0, NAMED_LIMIT)) {
    doubts.push(`${number} may fit too, but order ${orderId} was settled with it`);
  }
  const matched = new Set(matches.map(({ found }) => found.number));
  const strange = unowned.filter(
    ({ number }) => isInRange(range, number) && !explained.has(number) && !matched.has(number),
  );
  for (const found of strange.slice(0, NAMED_LIMIT)) {
    doubts.push(`${reportText(found)}: no order of ours has it, and it does not fit`);
  }
  if (strange.length > NAMED_LIMIT) doubts.push(`${strange.length} such numbers`);
  if (!lower)
    doubts.push(
      "no earlier order of ours has a number there, so the lowest possible number is not known",
    );
  if (!upper) {
    const minutes = LATE_ARRIVAL_MS / MINUTE_MS;
    doubts.push(
      `no order of ours sent at least ${minutes} min after this one has a number there yet: search again when one has`,
    );
  }
  if (!lower || !upper) return doubts;
  for (const end of [lower, upper]) {
    const isKnown = answers.get(String(end.number))?.word != null;
    if (!isKnown)
      doubts.push(`it does not answer for ${end.number}, the number of order ${end.orderId}`);
  }
  const { asked, clear, size } = coverage(range, answers, isOurs);
  if (asked < size!) doubts.push(`${askedText(asked, size)} ${rangeText(range)}: ask about more`);
  if (clear < asked) doubts.push(`no clear answer for ${asked - clear} of ${asked} numbers`);
  return doubts;
}

/** Counts the numbers of a range: all, those of ours or asked about, and those with a clear answer. */
function coverage(
  range: NumberRange,
  answers: ReadonlyMap<string, Report>,
  isOurs: (number: string) => boolean,
): { asked: bigint; clear: bigint; size: bigint | null } {
  const size = sizeOf(range);
  const isWhole = size !== null && size <= WHOLE_RANGE_LIMIT;
  const numbers = isWhole
    ? [...numbersIn(range)]
    : [...answers.keys()].filter((number) => isInRange(range, BigInt(number)));
  const asked = numbers.filter((number) => isOurs(number) || answers.has(number));
  const clear = asked.filter((number) => isOurs(number) || isClearReport(answers.get(number)!));
  return { asked: BigInt(asked.length), clear: BigInt(clear.length), size };
}

/** All numbers of a range that has both ends. */
function* numbersIn({ lower, upper }: NumberRange): Generator<string> {
  for (let number = lower!.number + 1n; number < upper!.number; number++) yield String(number);
}

function askedText(asked: bigint, size: bigint | null): string {
  return size === null
    ? `${asked} numbers were asked`
    : `only ${asked} of ${size} numbers were asked`;
}

function rangeText({ lower, upper }: NumberRange): string {
  const from = lower && `${lower.number} (order ${lower.orderId}, ${utcText(lower.finishedAt)})`;
  const to = upper && `${upper.number} (order ${upper.orderId}, ${utcText(upper.startedAt)})`;
  if (from && to) return `between ${from} and ${to}`;
  return from ? `after ${from}` : `before ${to}`;
}

function reportText({ number, report: { word, cost, remains } }: Found): string {
  const charge = cost ? `, charge ${[cost.charge, cost.currency].join(" ").trim()}` : "";
  const left = remains === null ? "" : `, remains ${remains}`;
  return `${number} is ${word!.trim()}${charge}${left}`;
}

function orderText(orderId: number, states: ReadonlyMap<number, string>): string {
  const state = states.get(orderId);
  return state === undefined ? `order ${orderId}` : `order ${orderId}, which ${state}`;
}
