// A primary and its synchronous standby: the primary killed under load, the standby promoted, the killed one brought
// back behind it. Every third one is silent at first: its connections stay open, as a lost machine's do. The address names both hosts throughout. Control: the standby asynchronous.
// Shows docs/specification/README.md#guarantee-standby, docs/specification/README.md#guarantee-once.

import { childrenOf } from "../../support/children.ts";
import { below, randomFrom } from "../../support/random/seeded.ts";
import { Journal } from "./journal.ts";
import { Node } from "./node.ts";
import { type Report, reportOf, type Scenario } from "./report.ts";

const DATABASE = "reseller";
/** Minimum number of orders before each kill. */
const ORDERS_BEFORE = 300;
const ORDERS_AFTER = 100;
const RESUME_LIMIT_MS = 60_000;
/** How long the standby lags before a kill, at most. */
const LAG_MS = 300;

export const runPair: Scenario = async (run): Promise<Report> => {
  const { rounds, seed, control, progress } = run;
  const random = randomFrom(seed);
  const isSynchronous = control !== "asynchronous";
  const state = isSynchronous ? "sync" : "async";
  const { address, ...nodes } = await startNodes(isSynchronous);
  let { primary, standby } = nodes;
  const load = await run.prepare({ address, seed });
  const journal = new Journal();
  const server = await load.start(journal, 0);
  const figures = {
    gapMs: [] as number[],
    silentGapMs: [] as number[],
    promotedMs: [] as number[],
    /** From the line of PostgreSQL's log that says it takes writes. */
    ourMs: [] as number[],
    rewound: 0,
    copied: 0,
  };

  for (let round = 0; round < rounds; round += 1) {
    await journal.moreAcknowledged(ORDERS_BEFORE, RESUME_LIMIT_MS);
    await Bun.sleep(below(random, 200));
    // What a network does that is slower than the primary: the acknowledged of an asynchronous pair run ahead.
    if (control === "asynchronous" || round % 2 === 1)
      await lag(primary, 1 + below(random, LAG_MS));
    const isSilent = round % 3 === 2;
    journal.watchGap();
    const killedAt = Date.now();
    if (isSilent) primary.freeze();
    else await primary.kill();
    // With no standby left, nothing would be acknowledged until the killed one is back.
    await standby.setSynchronous(false);
    await standby.promote();
    figures.promotedMs.push(Date.now() - killedAt);
    await journal.moreAcknowledged(ORDERS_AFTER, RESUME_LIMIT_MS);
    (isSilent ? figures.silentGapMs : figures.gapMs).push(journal.longestGapMs());
    const accepts = standby.acceptsSince(killedAt);
    figures.ourMs.push(journal.firstAfter(accepts) - accepts);
    if (isSilent) await primary.kill();
    figures[await primary.follow(standby)] += 1;
    [primary, standby] = [standby, primary];
    await primary.setSynchronous(isSynchronous);
    await primary.standbyHere(state);
    progress(round + 1, journal);
  }
  await journal.moreAcknowledged(ORDERS_BEFORE, RESUME_LIMIT_MS);
  await server.stop();
  await load.settle(journal);
  const report = await reportOf(journal, load, (text) => primary.query(DATABASE, text), figures);
  for (const node of [standby, primary]) await node.stop("immediate");
  return report;
};

/** A primary with its standby, and their address. */
export async function startNodes(isSynchronous: boolean) {
  const primary = await Node.create("one");
  const standby = await Node.standbyOf(primary, "two");
  await primary.query("postgres", `CREATE DATABASE ${DATABASE}`);
  await primary.setSynchronous(isSynchronous);
  await primary.standbyHere(isSynchronous ? "sync" : "async");
  const hosts = [primary, standby].map(({ port }) => `127.0.0.1:${port}`).join();
  const address = `postgres://postgres@${hosts}/${DATABASE}`;
  return { primary, standby, address, database: DATABASE };
}

/** Freezes the processes that send the log: commits go on where they wait for nobody. */
async function lag(primary: Node, ms: number): Promise<void> {
  const senders = (await primary.query("postgres", "SELECT pid FROM pg_stat_replication")).map(
    ({ pid }) => pid as number,
  );
  const own = childrenOf(primary.pid).filter((pid) => senders.includes(pid));
  for (const pid of own) process.kill(pid, "SIGSTOP");
  await Bun.sleep(ms);
}
