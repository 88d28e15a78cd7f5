// The ledger stays correct, every order reaches a final state and every event its receiver, whatever fails. `bun run simulate SEED` prints the trace of one seed.
// Shows docs/specification/README.md#guarantee-once, docs/specification/README.md#guarantee-together.

import { expect, test } from "bun:test";
import { runs } from "../../support/runs.ts";
import { simulate } from "./simulate.ts";

/** `.ci/nightly` simulates more than these. */
const SEEDS = runs(10, 50);
/** Ends a run that hangs. */
const LIMIT_MS = 600_000;

test(
  `${SEEDS} seeded markets with faults, crashes, operators, receivers and a jumping clock lose, double and misreport no order and no money`,
  async () => {
    const findings: string[] = [];
    let crashes = 0;
    let rerouted = 0;
    let webhooks = 0;
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const outcome = await simulate(seed);
      crashes += outcome.crashes;
      rerouted += outcome.rerouted;
      webhooks += outcome.webhooks.deliveries;
      if (outcome.finding !== null) findings.push(`seed ${seed}: ${outcome.finding}`);
    }
    expect(findings).toEqual([]);
    expect(crashes).toBeGreaterThan(SEEDS / 2);
    expect(rerouted).toBeGreaterThan(runs(SEEDS / 2, SEEDS));
    expect(webhooks).toBeGreaterThan(SEEDS * 20);
  },
  LIMIT_MS,
);

test("a seed gives the same run each time", async () => {
  const traces = await Promise.all([traceOf(7), traceOf(7)]);
  expect(traces[0]).toEqual(traces[1]!);
  expect(traces[0]!.length).toBeGreaterThan(20);
});

async function traceOf(seed: number): Promise<string[]> {
  const lines: string[] = [];
  const { finding } = await simulate(seed, (line) => lines.push(line));
  expect(finding).toBeNull();
  return lines;
}
