// One server and one PostgreSQL with a network between them that is cut at any byte, or where it
// would have said that a transaction is committed; now and then a backend that stops
// answering, and a PostgreSQL that is restarted. Control: a lost COMMIT is not asked after.
// Shows docs/specification/README.md#guarantee-refused.

import { startCluster, type Cluster } from "../../support/databases/postgres.ts";
import { startProxy } from "../../support/http/proxy.ts";
import { below, type Random, randomFrom } from "../../support/random/seeded.ts";
import { Journal } from "./journal.ts";
import { type Report, reportOf, type Scenario } from "./report.ts";

const DATABASE = "reseller";
/** Bytes until a cut: up to some batches' worth. */
const CUT_WITHIN = 60_000;
/** One of these rounds also freezes a backend, another restarts PostgreSQL. */
const ROUNDS_PER_FAULT = 25;
const RESUME_LIMIT_MS = 60_000;
const ORDERS_AFTER = 30;

export const runNetwork: Scenario = async (run): Promise<Report> => {
  const { rounds, seed, control, progress } = run;
  const random = randomFrom(seed);
  const cluster = await startCluster({ fsync: "off" });
  const proxy = await startProxy(cluster.port);
  await cluster.query("postgres", `CREATE DATABASE ${DATABASE}`);
  const load = await run.prepare({
    address: addressOf(cluster.port),
    serverAddress: addressOf(proxy.port),
    seed,
    isForgetful: control !== null,
  });
  const journal = new Journal();
  const server = await load.start(journal, 0);
  const figures = {
    cuts: 0,
    frozenGapMs: [] as number[],
    restartGapMs: [] as number[],
    voided: 0,
  };

  for (let round = 0; round < rounds; round += 1) {
    if (round % 2 === 0) proxy.cutAfter(1 + below(random, CUT_WITHIN));
    else proxy.cutAtCommit();
    while (proxy.isArmed()) await Bun.sleep(2);
    if (round % ROUNDS_PER_FAULT === 10) {
      figures.frozenGapMs.push(
        await gapOf(journal, () => freezeBackend(cluster, random, load.frozenMs)),
      );
    }
    if (round % ROUNDS_PER_FAULT === 20) {
      figures.restartGapMs.push(await gapOf(journal, () => restart(cluster, random)));
    }
    if ((round + 1) % 50 === 0) progress(round + 1, journal);
  }
  figures.cuts = proxy.cuts();
  await journal.moreAcknowledged(ORDERS_AFTER, RESUME_LIMIT_MS);
  await server.stop();
  await load.settle(journal);
  proxy.stop();
  const ask = (text: string) => cluster.query(DATABASE, text);
  const [row] = await ask("SELECT count(*)::int AS count FROM batches WHERE void");
  figures.voided = row!["count"] as number;
  const report = await reportOf(journal, load, ask, figures);
  cluster.stop("immediate");
  return report;
};

const addressOf = (port: number): string => `postgres://postgres@127.0.0.1:${port}/${DATABASE}`;

async function gapOf(journal: Journal, fault: () => Promise<void> | void): Promise<number> {
  await journal.moreAcknowledged(ORDERS_AFTER, RESUME_LIMIT_MS);
  journal.watchGap();
  await fault();
  await journal.moreAcknowledged(ORDERS_AFTER, RESUME_LIMIT_MS);
  return journal.longestGapMs();
}

/** Whatever it is about: it keeps its locks, and commits or not once it goes on. */
async function freezeBackend(cluster: Cluster, random: Random, ms: number): Promise<void> {
  const backends = await cluster.query(
    "postgres",
    `SELECT pid FROM pg_stat_activity WHERE datname = '${DATABASE}' AND backend_type = 'client backend'`,
  );
  if (backends.length === 0) return;
  const pid = backends[below(random, backends.length)]!["pid"] as number;
  process.kill(pid, "SIGSTOP");
  await Bun.sleep(ms);
  process.kill(pid, "SIGCONT");
}

function restart(cluster: Cluster, random: Random): void {
  cluster.stop(random() < 0.5 ? "fast" : "immediate");
  cluster.start();
}
