// A primary whose only synchronous standby is silent under load for longer than a caller waits: commits wait for it. Writes are
// refused before they begin, and what had begun is never refused. By turns the standby comes back, and the primary is lost
// with what the standby never got.

import { startNodes } from "./pair.ts";
import { Journal } from "./journal.ts";
import { type Report, reportOf, type Scenario } from "./report.ts";

const ORDERS_BEFORE = 200;
const ORDERS_AFTER = 100;
const RESUME_LIMIT_MS = 60_000;
const SILENT_MS = 30_000;

export const runStandby: Scenario = async (run): Promise<Report> => {
  const { rounds, seed, progress } = run;
  const { address, database, ...nodes } = await startNodes(true);
  let { primary, standby } = nodes;
  const load = await run.prepare({ address, seed });
  const journal = new Journal();
  const server = await load.start(journal, 0);
  const figures = {
    /** From the loss of the standby to the first refusal, and from its return, or its promotion, to the next order. */
    refusedMs: [] as number[],
    resumedMs: [] as number[],
    promotedMs: [] as number[],
    sessionsWaiting: [] as number[],
    refusals: 0,
  };
  for (let round = 0; round < rounds; round += 1) {
    await journal.moreAcknowledged(ORDERS_BEFORE, RESUME_LIMIT_MS);
    journal.watchGap();
    const refusals = journal.refusals;
    const silentAt = performance.now();
    standby.freeze();
    await journal.moreRefused(1, RESUME_LIMIT_MS);
    figures.refusedMs.push(performance.now() - silentAt);
    await Bun.sleep(SILENT_MS - (performance.now() - silentAt));
    const [row] = await primary.query(
      "postgres",
      "SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
    );
    figures.sessionsWaiting.push(row!["count"] as number);
    figures.refusals += journal.refusals - refusals;
    const isLost = round % 2 === 1;
    const before = Date.now();
    if (isLost) await primary.kill();
    standby.thaw();
    if (isLost) {
      // With no standby left, nothing would be acknowledged until the killed one is back.
      await standby.setSynchronous(false);
      await standby.promote();
    }
    await journal.moreAcknowledged(ORDERS_AFTER, RESUME_LIMIT_MS);
    const backAt = isLost ? standby.acceptsSince(before) : before;
    (isLost ? figures.promotedMs : figures.resumedMs).push(journal.firstAfter(backAt) - backAt);
    if (isLost) {
      await primary.follow(standby);
      [primary, standby] = [standby, primary];
      await primary.setSynchronous(true);
      await primary.standbyHere("sync");
    }
    progress(round + 1, journal);
  }
  await server.stop();
  await load.settle(journal);
  const report = await reportOf(journal, load, (text) => primary.query(database, text), figures);
  for (const node of [standby, primary]) await node.stop("immediate");
  return report;
};
