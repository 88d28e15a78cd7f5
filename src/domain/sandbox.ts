// The test side: what makes a test account and a test order, the links that ask for an outcome, and how far the sandbox has
// delivered an order. Everything is computed from the order itself, so that every server comes to the same at any time.
// docs/specification.md#sandbox.

import { MICROS_PER_DOLLAR } from "./money.ts";
import { parseDuration } from "./units.ts";

/** The provider that delivers every test order and no other; a migration made its row. */
export const SANDBOX_PROVIDER = 0;
/** What a reseller's test account begins with: 1,000 USD. */
export const TEST_CREDIT_MICROS = 1000 * MICROS_PER_DOLLAR;
/** What orders of the sandbox are counted from. */
const START_COUNT = 1000;

/** Of an account or a key: whether it is one of the test side. */
export function isTest({ testOf }: { testOf: number | null }): boolean {
  return testOf !== null;
}

export function isTestOrder(order: { delivery: { providerId: number } | null }): boolean {
  return order.delivery?.providerId === SANDBOX_PROVIDER;
}

/**
 * The username of a test account. No user can have it, because a username has no colon; where the user's own leaves no
 * room for the prefix, its account's number stands for it.
 */
export function testUsername({ username, account }: { username: string; account: number }): string {
  const text = `test:${username}`;
  return text.length <= 64 ? text : `test:#${account}`;
}

const ORIGIN = "https://test.invalid/";
const SECOND = 1000;
const DAY = 86_400 * SECOND;
/** An order without a magic link is delivered in this time. */
const ORDINARY_MS = 30 * SECOND;
const END_MS = 5 * SECOND;
const PLACED_MS = 2 * SECOND;

export interface Ending {
  /** As a provider would say it. */
  word: "Completed" | "Partial" | "Canceled" | "Failed";
  /** After the order was placed. */
  afterMs: number;
  /** What is not delivered in the end; null: all of it. */
  remains: number | null;
}

/** What becomes of an order: `wait` is answered "not sent" until that time after its creation. */
export type Submission = { kind: "accept" | "refuse" | "unknown" } | { kind: "wait"; ms: number };

/** What a magic link asks for. */
export interface Magic {
  /** In place of an order. */
  refusal:
    "insufficient_balance" | "too_many_requests" | "service_unavailable" | "internal_error" | null;
  /** How long the response waits. */
  slowMs: number;
  /** The connection is closed without a response. */
  isLost: boolean;
  submission: Submission;
  ending: Ending;
  /** What becomes of a request to cancel; late: it is accepted, and the order is delivered all the same. */
  cancel: "accept" | "decline" | "unknown" | "late";
  /** What becomes of a request to refill; reject: it is accepted, and rejected in the end. */
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

/** What the link of a test order asks for; a link that is no magic one, or that is not well formed, asks for nothing. */
export function magicOf(link: string): Magic {
  if (!link.startsWith(ORIGIN)) return ORDINARY;
  const path = link.slice(ORIGIN.length);
  if (Object.hasOwn(FIXED, path)) return { ...ORDINARY, ...FIXED[path] };
  const [, name, value = ""] = /^(complete|slow|partial)\/(\w{1,12})$/.exec(path) ?? [];
  if (name === "partial") {
    if (!/^(0|[1-9]\d{0,9})$/.test(value)) return ORDINARY;
    return { ...ORDINARY, ending: { word: "Partial", afterMs: END_MS, remains: Number(value) } };
  }
  const ms = parseDuration(value);
  if (name === undefined || ms === null || ms < SECOND || ms > DAY) return ORDINARY;
  return name === "slow"
    ? { ...ORDINARY, slowMs: ms }
    : { ...ORDINARY, ending: completedAfter(ms) };
}

/** An order as the sandbox finds it. */
export interface SandboxOrder {
  providerOrder: string;
  link: string;
  quantity: number;
  placedAt: number;
  /** The sandbox has accepted a request to cancel it. */
  isCancelled: boolean;
}

export interface SandboxReport {
  word: "In progress" | Ending["word"];
  startCount: number;
  remains: number;
  /** When there is something new to report; null: never. */
  nextInMs: number | null;
}

/** An order is delivered in so many equal steps, none shorter than a second. */
const STEPS = 10;

/** How far an order is. `remains` falls evenly to what is not delivered in the end. */
export function sandboxReport(
  { link, quantity, placedAt, isCancelled }: SandboxOrder,
  now: number,
): SandboxReport {
  const { ending, cancel } = magicOf(link);
  const { word, afterMs, remains } = isCancelled && cancel === "accept" ? canceledAfter(0) : ending;
  const undelivered = Math.min(remains ?? quantity, quantity);
  const elapsedMs = Math.max(0, now - placedAt);
  const startCount = START_COUNT;
  if (elapsedMs >= afterMs) return { word, startCount, remains: undelivered, nextInMs: null };
  const steps = Math.min(STEPS, Math.floor(afterMs / SECOND));
  const done = Math.floor((elapsedMs * steps) / afterMs);
  return {
    word: "In progress",
    startCount,
    remains: quantity - Math.floor(((quantity - undelivered) * done) / steps),
    nextInMs: Math.ceil(((done + 1) * afterMs) / steps) - elapsedMs,
  };
}

/** A refill as the sandbox finds it. */
export interface SandboxRefill {
  refill: string;
  link: string;
  acceptedAt: number;
}

/** How far a refill is; one that has ended is not asked about again. */
export function sandboxRefillReport({ link, acceptedAt }: SandboxRefill, now: number) {
  const leftMs = acceptedAt + END_MS - now;
  if (leftMs > 0) return { word: "In progress", pollInMs: Math.min(leftMs, END_MS) };
  return { word: magicOf(link).refill === "reject" ? "Rejected" : "Completed" };
}
