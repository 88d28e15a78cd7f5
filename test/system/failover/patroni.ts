// A Patroni cluster of three: its leader killed under load, by turns with its whole machine and PostgreSQL alone; now
// and then a switchover as before maintenance. The address names all hosts, or HAProxy alone.

import { below, randomFrom } from "../../support/random/seeded.ts";
import { startHaproxy } from "./haproxy.ts";
import { Journal } from "./journal.ts";
import { startWithDatabase } from "./patroni-cluster.ts";
import { type Report, reportOf, type Scenario } from "./report.ts";

const ORDERS_BEFORE = 200;
const ORDERS_AFTER = 50;
const RESUME_LIMIT_MS = 180_000;
const ROUNDS_PER_SWITCHOVER = 5;

export const runPatroni: Scenario = async (run): Promise<Report> => {
  const { rounds, seed, ttl, through, failsafe, progress } = run;
  const random = randomFrom(seed);
  const { timing, cluster, ask, address, addressAt } = await startWithDatabase(ttl, failsafe);
  const proxy = through === "haproxy" ? await startHaproxy(cluster.members) : null;
  const load = await run.prepare({
    address,
    seed,
    ...(proxy && { serverAddress: addressAt(`127.0.0.1:${proxy.port}`) }),
  });
  const journal = new Journal();
  const server = await load.start(journal, 0);
  const figures = {
    ttl: timing.ttl,
    machineGapMs: [] as number[],
    serverGapMs: [] as number[],
    switchoverGapMs: [] as number[],
    /** From the kill to a PostgreSQL that takes writes, from there to its synchronous standby, and from there to us. */
    promotedMs: [] as number[],
    standbyMs: [] as number[],
    ourMs: [] as number[],
    leaderChanges: 0,
  };

  for (let round = 0; round < rounds; round += 1) {
    await journal.moreAcknowledged(ORDERS_BEFORE, RESUME_LIMIT_MS);
    await Bun.sleep(below(random, 500));
    const leader = await cluster.leader();
    journal.watchGap();
    const killedAt = Date.now();
    const isMachine = round % 2 === 0;
    if (isMachine) await cluster.killMachine(leader);
    else await cluster.killServer(leader);
    await journal.moreAcknowledged(ORDERS_AFTER, RESUME_LIMIT_MS);
    (isMachine ? figures.machineGapMs : figures.serverGapMs).push(journal.longestGapMs());
    const { accepts, acknowledges } = await cluster.promotedAt(killedAt);
    figures.promotedMs.push(accepts - killedAt);
    figures.standbyMs.push(acknowledges - accepts);
    figures.ourMs.push(journal.firstAfter(acknowledges) - acknowledges);
    if (isMachine) cluster.startMachine(leader);
    await cluster.ready();
    if ((await cluster.leader()) !== leader) figures.leaderChanges += 1;
    if (round % ROUNDS_PER_SWITCHOVER === ROUNDS_PER_SWITCHOVER - 1) {
      journal.watchGap();
      await cluster.switchOver();
      await journal.moreAcknowledged(ORDERS_AFTER, RESUME_LIMIT_MS);
      figures.switchoverGapMs.push(journal.longestGapMs());
      await cluster.ready();
    }
    progress(round + 1, journal);
  }
  await journal.moreAcknowledged(ORDERS_BEFORE, RESUME_LIMIT_MS);
  await server.stop();
  await load.settle(journal);
  const report = await reportOf(journal, load, ask, figures);
  await proxy?.stop();
  await cluster.stop();
  return report;
};
