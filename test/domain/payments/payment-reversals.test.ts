// Refunds and disputes that come, fail and are won in any order: the state is what the provider holds, what is decided on
// never hides what is not, and money that came back is told exactly as long as it is neither credited nor reversed again.

import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  isRefunded,
  planReversals,
  type Reversals,
} from "../../../src/domain/payments/payment-reversals.ts";
import { effectOf, type PaymentPhase } from "../../../src/domain/payments/payment-states.ts";
import { runs } from "../../support/runs.ts";

const RECEIVED = 10;
const RUNS = { numRuns: runs(1000, 20_000) };
const START: Reversals = {
  refundedMicros: 0,
  disputedMicros: 0,
  settledMicros: 0,
  reportedRefundMicros: 0,
  nettedMicros: 0,
};

interface Run extends Reversals {
  phase: PaymentPhase;
  debited: number;
  /** Money that came back and is not decided on. */
  open: number;
}

/** Applies a reading as recordReversals does. */
function read(run: Run, refunded: number, disputed: number, isNewest = true): Run {
  const { after, events, returned, takenMicros } = planReversals(
    run,
    { refundedMicros: refunded, disputedMicros: disputed },
    { isNewest, debitedMicros: run.debited, openMicros: run.open },
  );
  let { phase } = run;
  for (const { event } of events) {
    const effect = effectOf(phase, event);
    expect(effect).not.toBe("refuse");
    if (effect !== "stay") phase = effect as PaymentPhase;
  }
  const back = returned.reduce((sum, { micros }) => sum + micros, 0);
  return { ...run, ...after, phase, open: run.open + back - takenMicros };
}

/** The operator decides, and debits all or nothing. */
function decide(run: Run, isDebited: boolean): Run {
  const sum = run.refundedMicros + run.disputedMicros;
  const debited = isDebited ? Math.max(run.debited, sum - run.nettedMicros) : run.debited;
  return { ...run, settledMicros: sum, debited };
}

const reversed = fc
  .tuple(fc.integer({ min: 0, max: RECEIVED }), fc.integer({ min: 0, max: RECEIVED }))
  .map(([refunded, disputed]) => [refunded, Math.min(disputed, RECEIVED - refunded)] as const);
const step = fc.oneof(
  reversed.map((amounts) => ({ act: "read" as const, amounts })),
  reversed.map((amounts) => ({ act: "stale" as const, amounts })),
  fc.constantFrom({ act: "debit" as const }, { act: "leave" as const }),
);
const steps = fc.array(step, { maxLength: 12 });
/** What was refunded before the credit. */
const netted = fc.integer({ min: 0, max: RECEIVED - 1 });
const begin = (micros: number): Run => ({
  ...START,
  refundedMicros: micros,
  settledMicros: micros,
  reportedRefundMicros: micros,
  nettedMicros: micros,
  phase: "paid",
  debited: 0,
  open: 0,
});

test("the state is disputed, refunded or paid as the provider last reported, whatever came before", () => {
  fc.assert(
    fc.property(netted, steps, (before, all) => {
      let run = begin(before);
      for (const { act, ...given } of all) {
        const [refunded, disputed] = "amounts" in given ? given.amounts : [0, 0];
        if (act === "read") {
          run = read(run, refunded, disputed);
          expect([run.refundedMicros, run.disputedMicros]).toEqual([refunded, disputed]);
        } else if (act === "stale") {
          const earlier = run;
          run = read(run, refunded, disputed, false);
          // An older reading takes nothing back.
          expect(run.refundedMicros).toBe(Math.max(earlier.refundedMicros, refunded));
          expect(run.disputedMicros).toBe(Math.max(earlier.disputedMicros, disputed));
          expect(run.open).toBeLessThanOrEqual(earlier.open);
        } else run = decide(run, act === "debit");
        expect(run.phase).toBe(
          run.disputedMicros > 0 ? "disputed" : isRefunded(run) ? "refunded" : "paid",
        );
      }
    }),
    RUNS,
  );
});

test("all that came back after it was debited, or had not been credited, is open until it is reversed again", () => {
  fc.assert(
    fc.property(netted, steps, (before, all) => {
      let run = begin(before);
      for (const { act, ...given } of all) {
        const [refunded, disputed] = "amounts" in given ? given.amounts : [0, 0];
        if (act === "read") run = read(run, refunded, disputed);
        else if (act === "debit" || act === "leave") run = decide(run, act === "debit");
        const sum = run.refundedMicros + run.disputedMicros;
        // What was decided on is never more than there is, so nothing later is hidden.
        expect(run.settledMicros).toBeLessThanOrEqual(sum);
        expect(run.open).toBeGreaterThanOrEqual(0);
        expect(run.open).toBeLessThanOrEqual(RECEIVED);
        if (run.debited === 0 && before === 0) expect(run.open).toBe(0);
      }
      // The provider holds everything again: all that is missing in the balance is open.
      const isMissing = run.debited > 0 || before > 0;
      const end = read(run, 0, 0);
      if (isMissing && run.debited === 0) expect(end.open).toBe(before);
      if (run.debited > 0) expect(end.open).toBeGreaterThan(0);
      expect(end.phase).toBe("paid");
      // And nothing is, once it is all given back after all.
      const gone = read(end, RECEIVED, 0);
      expect(gone.open).toBe(0);
    }),
    RUNS,
  );
});

// A won dispute after a partial refund: part of the money was given back, so the payment stays refunded.
const CASES: [string, readings: [refunded: number, disputed: number][], phase: PaymentPhase][] = [
  ["a dispute that was won", [[0, 10], [0, 0]], "paid"],
  ["a dispute that was won after a partial refund", [[4, 0], [4, 6], [4, 0]], "refunded"],
  ["one of two disputes that was won", [[0, 10], [0, 4]], "disputed"],
  ["a refund that failed", [[10, 0], [0, 0]], "paid"],
  ["one of two refunds that failed", [[10, 0], [4, 0]], "refunded"],
  ["a refund that failed beside a dispute", [[4, 6], [0, 6]], "disputed"],
  ["a refund that failed and a dispute that was won at once", [[4, 6], [0, 0]], "paid"],
]; // prettier-ignore

test.each(CASES)("after %s the payment is as its provider holds it", (_, readings, phase) => {
  const end = readings.reduce(
    (run, [refunded, disputed]) => read(run, refunded, disputed),
    begin(0),
  );
  expect(end.phase).toBe(phase);
  expect(end.open).toBe(0);
  const decided = readings.reduce((run, [refunded, disputed], index) => {
    const after = read(run, refunded, disputed);
    return index < readings.length - 1 ? decide(after, true) : after;
  }, begin(0));
  const back = readings.at(-2)![0] + readings.at(-2)![1] - (readings.at(-1)![0] + readings.at(-1)![1]); // prettier-ignore
  expect([decided.phase, decided.open]).toEqual([phase, back]);
});

test("what the operator gave back without a report is not taken for a refund that failed", () => {
  const by: Run = { ...begin(0), refundedMicros: 10, settledMicros: 10, debited: 10, phase: "refunded" }; // prettier-ignore
  expect(read(by, 0, 0)).toEqual(by);
  // Once the provider reports it, nothing is left to decide on; and it may fail.
  const reported = read(by, 10, 0);
  expect(reported).toEqual({ ...by, reportedRefundMicros: 10 });
  expect(read(reported, 0, 0)).toMatchObject({ phase: "paid", open: 10, refundedMicros: 0 });
});
