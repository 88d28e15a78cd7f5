// What a provider's report does to an order, docs/specification/delivery.md#polling, with every deviation that panels show.

import { describe, expect, test } from "bun:test";
import {
  POLL_BACKOFF_LIMIT_INTERVALS,
  decideReport,
  type PolledOrder,
  LATE_POLL_MS,
  nextPollAt,
  type Report,
} from "../../../src/domain/delivery/polling.ts";
import { type ReportedStatus, statusOfWord } from "../../../src/domain/delivery/reported-status.ts";
import { ORDER_STATUSES } from "../../../src/domain/orders/order-statuses.ts";

const ORDER: PolledOrder = {
  status: "PROCESSING",
  quantity: 100,
  chargeMicros: 1_000_001,
  refundedMicros: 0,
  remains: 40,
  startCount: 7,
  reported: null,
};
const report = (
  word: string | null,
  remains: number | null = null,
  startCount: number | null = null,
) => ({ word, remains, startCount, text: "" }) satisfies Report;

describe("words", () => {
  test.each([
    [
      "PROCESSING",
      "Pending",
      "pending",
      "Processing",
      "In progress",
      "In-progress",
      "IN_PROGRESS",
      "inprogress",
    ],
    ["COMPLETED", "Completed", "completed", " COMPLETED "],
    ["PARTIAL", "Partial", "partial"],
    ["CANCELLED", "Canceled", "Cancelled", "cancelled", "Refunded"],
    ["FAILED", "Fail", "Failed", "Error", "error"],
  ] as [ReportedStatus, ...string[]][])("%s", (status, ...words) => {
    for (const word of words) expect([word, statusOfWord(word)]).toEqual([word, status]);
  });

  test.each([
    "",
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
    "Complete",
    "Delivered",
    "success",
    "constructor",
    "Отменён",
  ])("%p is not a status and changes nothing", (word) => {
    expect(statusOfWord(word)).toBeNull();
    expect(decideReport(ORDER, report(word, 10, 10))).toEqual({ kind: "ignore" });
  });
});

test.each([null, 101, 1_000_000])(
  "a PARTIAL whose remains read as %p changes nothing",
  (remains) => {
    expect(decideReport(ORDER, report("Partial", remains, 9))).toEqual({ kind: "ignore" });
  },
);

test.each([
  [0, 0],
  [1, 10_000],
  [33, 330_000],
  [100, 1_000_001],
])("a PARTIAL with %d of 100 refunds %d micros", (remains, refundMicros) => {
  const decision = decideReport(ORDER, report("Partial", remains));
  expect(decision).toMatchObject({
    kind: "transition",
    transition: { status: "PARTIAL", remains, refundMicros },
  });
});

test.each([
  ["Canceled", "CANCELLED"],
  ["Fail", "FAILED"],
])("%s refunds the rest of the charge, whatever `remains` is reported", (word, status) => {
  for (const remains of [null, 0, 100, 101]) {
    expect(decideReport(ORDER, report(word, remains))).toMatchObject({
      kind: "transition",
      transition: { status, refundMicros: 1_000_001 },
    });
  }
});

test("with another status invalid counts are ignored and valid ones applied", () => {
  expect(decideReport(ORDER, report("Pending", 101, null))).toMatchObject({
    startCount: 7,
    remains: 40,
  });
  expect(decideReport(ORDER, report("Pending", 12, 3572))).toMatchObject({
    startCount: 3572,
    remains: 12,
  });
  expect(decideReport(ORDER, report("Completed", 12))).toMatchObject({
    transition: { remains: 0, refundMicros: 0 },
  });
});

test("after the end of an order no report changes its status; a new status is a late report", () => {
  for (const status of ORDER_STATUSES.filter(
    (other) => !["PENDING", "PROCESSING"].includes(other),
  )) {
    for (const word of ["Pending", "Completed", "Partial", "Canceled", "Fail"]) {
      const reported = statusOfWord(word)!;
      const ended: PolledOrder = { ...ORDER, status, reported: "PROCESSING" };
      const { kind } = decideReport(ended, report(word, 5));
      const isNew = reported !== status && reported !== "PROCESSING";
      expect([status, word, kind]).toEqual([status, word, isNew ? "late" : "progress"]);
      // The same status again is not late, but for PARTIAL: another number may remain by now.
      const again = decideReport({ ...ended, reported }, report(word, 5)).kind;
      const isPartial = reported === "PARTIAL" && status !== "PARTIAL";
      expect(again).toBe(isPartial ? "late" : "progress");
    }
  }
});

describe("the next poll", () => {
  const POLL = 60_000;
  const at = (
    unchangedMs: number,
    jitter: number,
    status: "PROCESSING" | "COMPLETED" = "PROCESSING",
  ) =>
    nextPollAt({ status, changedAt: 1e12 }, 1e12 + unchangedMs, POLL, jitter)! - 1e12 - unchangedMs;

  test("is one to thirty poll intervals away, later the longer nothing changed", () => {
    let last = 0;
    for (let unchanged = -1e9; unchanged < 1e9; unchanged += 1e6) {
      const pause = at(unchanged, 0);
      expect(pause).toBeGreaterThanOrEqual(Math.max(POLL, last));
      expect(at(unchanged, 1)).toBeLessThanOrEqual(POLL * POLL_BACKOFF_LIMIT_INTERVALS);
      expect(at(unchanged, 0.5)).toBeGreaterThan(pause);
      last = pause;
    }
  });

  test("ends three days after the order did", () => {
    expect(at(LATE_POLL_MS, 0, "COMPLETED")).toBeGreaterThan(POLL);
    const after = 1e12 + LATE_POLL_MS + 1;
    expect(nextPollAt({ status: "FAILED", changedAt: 1e12 }, after, POLL, 0)).toBeNull();
    expect(nextPollAt({ status: "PROCESSING", changedAt: 1e12 }, after, POLL, 0)).not.toBeNull();
  });
});
