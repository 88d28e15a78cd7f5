// A Patroni cluster whose etcd is away under load for longer than its ttl, and comes back. Without failsafe_mode the leader
// gives up its role meanwhile.

import { Journal } from "./journal.ts";
import { startWithDatabase } from "./patroni-cluster.ts";
import { type Report, reportOf, type Scenario } from "./report.ts";

const ORDERS_BEFORE = 200;
const RESUME_LIMIT_MS = 180_000;
/** Longer than ttl by this. */
const MORE_MS = 10_000;

export const runEtcd: Scenario = async (run): Promise<Report> => {
  const { rounds, seed, ttl, failsafe, progress } = run;
  const { timing, cluster, ask, address } = await startWithDatabase(ttl, failsafe);
  const load = await run.prepare({ address, seed });
  const journal = new Journal();
  const server = await load.start(journal, 0);
  const figures = {
    ttl: timing.ttl,
    gapMs: [] as number[],
    /** From the return of etcd to the next order. */
    resumedMs: [] as number[],
    acknowledgedMeanwhile: 0,
  };

  for (let round = 0; round < rounds; round += 1) {
    await journal.moreAcknowledged(ORDERS_BEFORE, RESUME_LIMIT_MS);
    journal.watchGap();
    const before = journal.acknowledged;
    await cluster.killEtcd();
    await Bun.sleep(timing.ttl * 1000 + MORE_MS);
    figures.acknowledgedMeanwhile += journal.acknowledged - before;
    const backAt = Date.now();
    cluster.startEtcd();
    await journal.moreAcknowledged(ORDERS_BEFORE, RESUME_LIMIT_MS);
    figures.gapMs.push(journal.longestGapMs());
    figures.resumedMs.push(journal.firstAfter(backAt) - backAt);
    await cluster.ready();
    progress(round + 1, journal);
  }
  await journal.moreAcknowledged(ORDERS_BEFORE, RESUME_LIMIT_MS);
  await server.stop();
  await load.settle(journal);
  const report = await reportOf(journal, load, ask, figures);
  await cluster.stop();
  return report;
};
