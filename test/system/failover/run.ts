// `bun run test:failover SCENARIO [rounds] [seed] [--control NAME]`: servers under load on PostgreSQL while it fails.
// Whatever happens: every acknowledged order is there exactly once, nothing that was refused is, and the sums agree.
// A control takes away what the promise rests on and must be caught; one that is not fails the run.
// `--load store`: no HTTP and no provider, the store alone. `--ttl SECONDS` is for Patroni, whose own is 30, and
// `--through haproxy` puts that before it; `--failsafe` is its failsafe_mode.

import { parseArgs } from "node:util";
import { describeFindings, isClean } from "./audit.ts";
import { prepareBinaryLoad } from "./binary-servers.ts";
import { runEtcd } from "./etcd.ts";
import { runNetwork } from "./network.ts";
import { runPair } from "./pair.ts";
import { runPatroni } from "./patroni.ts";
import { describeFigures, type Scenario } from "./report.ts";
import { runStandby } from "./standby.ts";
import { prepareStoreLoad } from "./store-servers.ts";
import { runServers } from "./two-servers.ts";
import { runUpgrade } from "./upgrade.ts";

interface Entry {
  run: Scenario;
  rounds: number;
  controls: readonly string[];
}

const SCENARIOS: Record<string, Entry> = {
  etcd: { run: runEtcd, rounds: 1, controls: [] },
  network: { run: runNetwork, rounds: 100, controls: ["forgetful"] },
  pair: { run: runPair, rounds: 3, controls: ["asynchronous"] },
  patroni: { run: runPatroni, rounds: 2, controls: [] },
  servers: { run: runServers, rounds: 10, controls: [] },
  standby: { run: runStandby, rounds: 1, controls: [] },
  upgrade: { run: runUpgrade, rounds: 1, controls: [] },
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    control: { type: "string" },
    load: { type: "string" },
    ttl: { type: "string" },
    through: { type: "string" },
    failsafe: { type: "boolean" },
  },
});
const [name = "", roundsText, seedText] = positionals;
const scenario = SCENARIOS[name];
const control = values.control ?? null;
if (!scenario || (control !== null && !scenario.controls.includes(control))) {
  const known = Object.entries(SCENARIOS).map(
    ([each, { controls }]) => `${each}${controls.map((one) => ` [--control ${one}]`).join("")}`,
  );
  console.error(`which of these: ${known.join(", ")}`);
  process.exit(2);
}
const isStore = values.load === "store" || control === "forgetful";
const rounds = Number(roundsText ?? scenario.rounds);
const seed = Number(seedText ?? Date.now() % 1_000_000);
const title = `${name}${control === null ? "" : `, control: ${control}`}`;
console.log(`${title}: ${rounds} rounds, seed ${seed}`);
const { acknowledged, refused, unknown, unanswered, submitted, findings, figures } =
  await scenario.run({
    rounds,
    seed,
    control,
    ttl: values.ttl === undefined ? null : Number(values.ttl),
    through: values.through ?? null,
    failsafe: values.failsafe ?? false,
    prepare: isStore ? prepareStoreLoad : prepareBinaryLoad,
    progress: (round, journal) =>
      console.log(`${round} rounds, ${journal.acknowledged} acknowledged`),
  });
const answers = `${acknowledged} acknowledged, ${refused} refused, ${unknown} unknown, ${unanswered} unanswered; ${submitted} passed on`;
const isExpected = isClean(findings) === (control === null);
const verdict = isExpected
  ? "ok"
  : control === null
    ? "FAILED"
    : "FAILED: the control was not caught";
console.log(`${verdict}: ${title}, ${rounds} rounds, seed ${seed}\n${answers}`);
console.log(`${describeFindings(findings)}\n${describeFigures(figures)}`);
process.exit(isExpected ? 0 : 1);
