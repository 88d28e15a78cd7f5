// The test side: test accounts and test orders, magic links that ask for an outcome, and the progress of orders in the
// sandbox. Progress is computed from the order itself, so every server gets the same result.
// docs/specification/sandbox.md#sandbox.

import { MICROS_PER_DOLLAR } from "../ledger/money.ts";
import { parseDuration } from "../values/units.ts";
import { SECOND_MS, DAY_MS } from "../values/spans.ts";

/** The id of the provider that delivers all test orders and no live orders. A migration creates its row. */
export const SANDBOX_PROVIDER = 0;
/** Initial balance of a reseller's test account: 1,000 USD. */
export const TEST_CREDIT_MICROS = 1000 * MICROS_PER_DOLLAR;
/** Start count of orders in the sandbox. */
const START_COUNT = 1000;

/** Returns whether an account or a key belongs to the test side. */
export function isTest({ testOf }: { testOf: number | null }): boolean {
  return testOf !== null;
}

export function isTestOrder(order: { delivery: { providerId: number } | null }): boolean {
  return order.delivery?.providerId === SANDBOX_PROVIDER;
}

/**
 * Returns the username of a test account. No user can have it, because usernames contain no colon. If the user's own
 * name is too long for the prefix, the number of its account replaces it.
 */
export function testUsername({ username, account }: { username: string; account: number }): string {
  const text = `test:${username}`;
  return text.length <= 64 ? text : `test:#${account}`;
}

const ORIGIN = "https://test.invalid/";
/**
 * Matches the sandbox's host, in upper or lower case, with or without a scheme. `test.invalid` by itself may be a
 * username.
 */
const SANDBOX_HOST = /^(?:https?:\/\/test\.invalid(?![\w.-])|test\.invalid\/)/i;
/** Time in which an order without a magic link is delivered. */
const ORDINARY_MS = 30 * SECOND_MS;
const END_MS = 5 * SECOND_MS;
const PLACED_MS = 2 * SECOND_MS;

export interface Ending {
  /** The status word that a provider would report. */
  word: "Completed" | "Partial" | "Canceled" | "Failed";
  /** Milliseconds after the order was placed. */
  afterMs: number;
  /** The quantity that is not delivered at the end; null: all of it. */
  remains: number | null;
}

/** The outcome of submitting the order. `wait`: not sent until `ms` after its creation. */
export type Submission = { kind: "accept" | "refuse" | "unknown" } | { kind: "wait"; ms: number };

/** The behaviour that a magic link asks for. */
export interface Magic {
  /** The refusal to return instead of an order; null: none. */
  refusal:
    "insufficient_balance" | "too_many_requests" | "service_unavailable" | "internal_error" | null;
  /** Delay of the response, in milliseconds. */
  slowMs: number;
  /** Whether the connection is closed without a response. */
  isLost: boolean;
  submission: Submission;
  ending: Ending;
  /** Outcome of a request to cancel. `late`: accepted, but the order is delivered anyway. */
  cancel: "accept" | "decline" | "unknown" | "late";
  /** Outcome of a request to refill. `reject`: accepted, but rejected later. */
  refill: "accept" | "decline" | "unknown" | "reject";
}

const completedAfter = (afterMs: number): Ending => ({ word: "Completed", afterMs, remains: 0 });
const canceledAfter = (afterMs: number): Ending => ({ word: "Canceled", afterMs, remains: null });

const ORDINARY: Magic = {
  refusal: null,
  slowMs: 0,
  isLost: false,
  submission: { kind: "accept" },
  ending: completedAfter(ORDINARY_MS),
  cancel: "accept",
  refill: "accept",
};

const FIXED: Record<string, Partial<Magic>> = {
  complete: { ending: completedAfter(0) },
  cancel: { ending: canceledAfter(END_MS) },
  fail: { ending: { word: "Failed", afterMs: END_MS, remains: null } },
  refuse: { submission: { kind: "refuse" } },
  pending: { submission: { kind: "unknown" } },
  "pending/complete": {
    submission: { kind: "wait", ms: PLACED_MS },
    ending: completedAfter(END_MS - PLACED_MS),
  },
  "pending/cancel": {
    submission: { kind: "wait", ms: PLACED_MS },
    ending: canceledAfter(END_MS - PLACED_MS),
  },
  "cancel/decline": { cancel: "decline" },
  "cancel/unknown": { cancel: "unknown" },
  "cancel/late": { cancel: "late" },
  "refill/decline": { ending: completedAfter(0), refill: "decline" },
  "refill/unknown": { ending: completedAfter(0), refill: "unknown" },
  "refill/reject": { ending: completedAfter(0), refill: "reject" },
  funds: { refusal: "insufficient_balance" },
  "429": { refusal: "too_many_requests" },
  "503": { refusal: "service_unavailable" },
  "500": { refusal: "internal_error" },
  lost: { isLost: true },
};

/** Returns the behaviour for the link of a test order. A link that is not a magic link gets ordinary delivery. */
export function parseMagicLink(link: string): Magic {
  return findMagic(link) ?? ORDINARY;
}

/** Returns whether a link has the sandbox's host, which only magic links use, but is not exactly one of them. */
export function isMistypedMagicLink(link: string): boolean {
  return SANDBOX_HOST.test(link) && findMagic(link) === null;
}

/** The requirement that a mistyped magic link violates. */
export const MAGIC_LINK_FORM =
  "a link of the sandbox exactly as documented, or of a host other than test.invalid";

function findMagic(link: string): Magic | null {
  if (!link.startsWith(ORIGIN)) return null;
  const path = link.slice(ORIGIN.length);
  if (Object.hasOwn(FIXED, path)) return { ...ORDINARY, ...FIXED[path] };
  const [, name, value = ""] = /^(complete|slow|partial)\/(\w{1,12})$/.exec(path) ?? [];
  if (name === "partial") {
    if (!/^(0|[1-9]\d{0,9})$/.test(value)) return null;
    return { ...ORDINARY, ending: { word: "Partial", afterMs: END_MS, remains: Number(value) } };
  }
  const ms = parseDuration(value);
  if (name === undefined || ms === null || ms < SECOND_MS || ms > DAY_MS) return null;
  return name === "slow"
    ? { ...ORDINARY, slowMs: ms }
    : { ...ORDINARY, ending: completedAfter(ms) };
}

/** The fields of an order that the sandbox needs. */
export interface SandboxOrder {
  providerOrder: string;
  link: string;
  quantity: number;
  placedAt: number;
  /** Whether the sandbox has accepted a request to cancel the order. */
  isCancelled: boolean;
}

export interface SandboxReport {
  word: "In progress" | Ending["word"];
  startCount: number;
  remains: number;
  /** Milliseconds until there is something new to report; null: never. */
  nextInMs: number | null;
}

/** Limit for the number of equal steps in which an order is delivered. No step is shorter than a second. */
const STEPS = 10;

/** Returns the progress of an order. `remains` falls evenly to the quantity that is not delivered at the end. */
export function sandboxReport(
  { link, quantity, placedAt, isCancelled }: SandboxOrder,
  now: number,
): SandboxReport {
  const { ending, cancel } = parseMagicLink(link);
  const { word, afterMs, remains } = isCancelled && cancel === "accept" ? canceledAfter(0) : ending;
  const undelivered = Math.min(remains ?? quantity, quantity);
  const elapsedMs = Math.max(0, now - placedAt);
  const startCount = START_COUNT;
  if (elapsedMs >= afterMs) return { word, startCount, remains: undelivered, nextInMs: null };
  const steps = Math.min(STEPS, Math.floor(afterMs / SECOND_MS));
  const done = Math.floor((elapsedMs * steps) / afterMs);
  return {
    word: "In progress",
    startCount,
    remains: quantity - Math.floor(((quantity - undelivered) * done) / steps),
    nextInMs: Math.ceil(((done + 1) * afterMs) / steps) - elapsedMs,
  };
}

/** The fields of a refill that the sandbox needs. */
export interface SandboxRefill {
  refill: string;
  link: string;
  acceptedAt: number;
}

/** Returns the progress of a refill. Without `pollInMs` it has ended and is not polled again. */
export function sandboxRefillReport({ link, acceptedAt }: SandboxRefill, now: number) {
  const leftMs = acceptedAt + END_MS - now;
  if (leftMs > 0) return { word: "In progress", pollInMs: Math.min(leftMs, END_MS) };
  return { word: parseMagicLink(link).refill === "reject" ? "Rejected" : "Completed" };
}
