// `bun run simulate SEED` prints the trace of one market; `bun run simulate FROM TO` runs many and prints what it found.
// With `--engine postgres` on PostgreSQL.

import { parseArgs } from "node:util";
import { ENGINES } from "./databases.ts";
import { simulate } from "./simulate.ts";
import { simulatePayments } from "./simulate-payments.ts";

const PROGRESS_SEEDS = 100;

const { positionals, values } = parseArgs({
  options: {
    engine: { type: "string", default: "sqlite" },
    payments: { type: "boolean", default: false },
  },
  allowPositionals: true,
});
const [from, to] = positionals.map(Number);
const engine = ENGINES.find((each) => each === values.engine);
if (from === undefined || !Number.isSafeInteger(from) || !engine) {
  process.stderr.write(
    "usage: bun run simulate SEED, or bun run simulate FROM TO, with [--engine sqlite|postgres] [--payments]\n",
  );
  process.exit(2);
}

if (values.payments) await runPayments(from, to ?? from, engine);

/** Simulates only payments, then exits. */
async function runPayments(first: number, last: number, on: typeof engine): Promise<never> {
  const sums: Record<string, number> = {};
  let wrong = 0;
  const trace = first === last ? (line: string) => process.stdout.write(`${line}\n`) : undefined;
  for (let seed = first; seed <= last; seed += 1) {
    const { finding, ...outcome } = await simulatePayments(
      seed,
      trace && ((line) => void trace(line)),
      on,
    );
    if (finding !== null) {
      wrong += 1;
      process.stdout.write(`seed ${seed}: ${finding}\n`);
    }
    for (const [name, count] of Object.entries(outcome))
      sums[name] = (sums[name] ?? 0) + Number(count);
  }
  process.stdout.write(
    `${JSON.stringify(sums)}: ${wrong === 0 ? "all clean" : `${wrong} with findings`}\n`,
  );
  process.exit(wrong === 0 ? 0 : 1);
}

if (to === undefined) {
  const { finding, ...outcome } = await simulate(
    from,
    (line) => process.stdout.write(`${line}\n`),
    engine,
  );
  process.stdout.write(`${JSON.stringify(outcome)}\n${finding ?? "clean"}\n`);
  process.exit(finding === null ? 0 : 1);
}

const total = { orders: 0, tests: 0, crashes: 0, rerouted: 0, deliveries: 0, undelivered: 0 };
let found = 0;
const started = performance.now();
const summary = (seeds: number) => {
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const { orders, tests, crashes, rerouted, deliveries, undelivered } = total;
  return `${seeds} seeds, ${orders} orders, ${tests} test orders, ${crashes} crashes, ${rerouted} passed on, ${deliveries} webhooks (${undelivered} listed as undelivered) in ${seconds} s: ${found === 0 ? "all clean" : `${found} with findings`}\n`;
};
const note = (seed: number, finding: string) => {
  found += 1;
  process.stdout.write(`seed ${seed}: ${finding}\n`);
};
for (let seed = from; seed <= to; seed += 1) {
  try {
    const outcome = await simulate(seed, undefined, engine);
    total.orders += outcome.orders;
    total.tests += outcome.tests;
    total.crashes += outcome.crashes;
    total.rerouted += outcome.rerouted;
    total.deliveries += outcome.webhooks.deliveries;
    total.undelivered += outcome.webhooks.undelivered;
    if (outcome.finding !== null) note(seed, outcome.finding);
  } catch (error) {
    // Runs the other seeds anyway.
    note(seed, error instanceof Error ? `${error.stack}` : String(error));
  }
  const seeds = seed - from + 1;
  if (seeds % PROGRESS_SEEDS === 0) process.stderr.write(summary(seeds));
}
process.stdout.write(summary(to - from + 1));
process.exit(found === 0 ? 0 : 1);
