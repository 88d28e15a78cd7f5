// Every payment is credited exactly once, with the amount that was received, whatever its provider, a program, customers,
// an operator and crashes do, in any order. `bun run simulate --payments SEED` prints the trace of one seed.

import { expect, test } from "bun:test";
import { runs } from "../../support/runs.ts";
import { simulatePayments } from "./simulate-payments.ts";

/** `.ci/nightly` simulates more than these. */
const SEEDS = runs(60, 500);
/** Ends a run that hangs. */
const LIMIT_MS = 600_000;

test(
  `two servers credit each payment exactly once, with what was received, in ${SEEDS} simulated runs`,
  async () => {
    const findings: string[] = [];
    const sum = { payments: 0, credited: 0, reversed: 0, crashes: 0, notices: 0 };
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const { finding, ...outcome } = await simulatePayments(seed);
      if (finding !== null) findings.push(`seed ${seed}: ${finding}`);
      for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += outcome[name];
    }
    expect(findings).toEqual([]);
    // Without these the runs would prove nothing.
    expect(sum.payments).toBeGreaterThan(SEEDS * 10);
    expect(sum.credited).toBeGreaterThan(SEEDS * 4);
    expect(sum.reversed).toBeGreaterThan(SEEDS);
    expect(sum.crashes).toBeGreaterThan(SEEDS);
    expect(sum.notices).toBeGreaterThan(SEEDS * 10);
  },
  LIMIT_MS,
);

test("the same seed gives the same run of payments", async () => {
  const traces: string[][] = [];
  for (let time = 0; time < 2; time += 1) {
    const lines: string[] = [];
    await simulatePayments(7, (line) => lines.push(line));
    traces.push(lines);
  }
  expect(traces[0]).toEqual(traces[1]!);
  expect(traces[0]!.length).toBeGreaterThan(20);
});
