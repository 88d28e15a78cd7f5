// `bun run simulate SEED` prints the trace of one market; `bun run simulate FROM TO` runs many and prints what it found.
// With `--engine postgres` on PostgreSQL.

import { parseArgs } from "node:util";
import { ENGINES } from "./databases.ts";
import { simulate } from "./simulate.ts";

const PROGRESS_SEEDS = 500;

const { positionals, values } = parseArgs({
  options: { engine: { type: "string", default: "sqlite" } },
  allowPositionals: true,
});
const [from, to] = positionals.map(Number);
const engine = ENGINES.find((each) => each === values.engine);
if (from === undefined || !Number.isSafeInteger(from) || !engine) {
  process.stderr.write(
    "usage: bun run simulate SEED, or bun run simulate FROM TO, with [--engine sqlite|postgres]\n",
  );
  process.exit(2);
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

let orders = 0;
let crashes = 0;
let rerouted = 0;
const webhooks = { deliveries: 0, undelivered: 0 };
let found = 0;
const started = performance.now();
for (let seed = from; seed <= to; seed += 1) {
  const outcome = await simulate(seed, undefined, engine);
  orders += outcome.orders;
  crashes += outcome.crashes;
  rerouted += outcome.rerouted;
  webhooks.deliveries += outcome.webhooks.deliveries;
  webhooks.undelivered += outcome.webhooks.undelivered;
  if (outcome.finding !== null) {
    found += 1;
    process.stdout.write(`seed ${seed}: ${outcome.finding}\n`);
  }
  if ((seed - from + 1) % PROGRESS_SEEDS === 0) process.stderr.write(`${seed - from + 1} seeds\n`);
}
const seconds = ((performance.now() - started) / 1000).toFixed(1);
process.stdout.write(
  `${to - from + 1} seeds, ${orders} orders, ${crashes} crashes, ${rerouted} passed on, ${webhooks.deliveries} webhooks (${webhooks.undelivered} listed as undelivered) in ${seconds} s: ${found === 0 ? "all clean" : `${found} with findings`}\n`,
);
process.exit(found === 0 ? 0 : 1);
