// Two servers on one PostgreSQL: one of them killed under load, or frozen for longer than the other would wait.

import { startCluster } from "../../support/databases/postgres.ts";
import { below, randomFrom } from "../../support/random/seeded.ts";
import { Journal } from "./journal.ts";
import { type Report, reportOf, type Scenario } from "./report.ts";

const DATABASE = "reseller";
const SERVERS = 2;
const ORDERS_BEFORE = 150;
const ORDERS_AFTER = 50;
const RESUME_LIMIT_MS = 60_000;
/** A frozen server keeps its locks until PostgreSQL ends its transaction. */
const FREEZE_MS = 8000;
const ROUNDS_PER_FREEZE = 10;

export const runServers: Scenario = async (run): Promise<Report> => {
  const { rounds, seed, progress } = run;
  const random = randomFrom(seed);
  const cluster = await startCluster({ fsync: "off" });
  await cluster.query("postgres", `CREATE DATABASE ${DATABASE}`);
  const address = `postgres://postgres@127.0.0.1:${cluster.port}/${DATABASE}`;
  const load = await run.prepare({ address, seed });
  const journal = new Journal();
  const servers = await Promise.all(
    Array.from({ length: SERVERS }, (_, place) => load.start(journal, place)),
  );
  const figures = { killGapMs: [] as number[], freezeGapMs: [] as number[], deadlocks: 0 };

  for (let round = 0; round < rounds; round += 1) {
    await journal.moreAcknowledged(ORDERS_BEFORE, RESUME_LIMIT_MS);
    await Bun.sleep(below(random, 200));
    const place = below(random, SERVERS);
    const server = servers[place]!;
    journal.watchGap();
    if (round % ROUNDS_PER_FREEZE === ROUNDS_PER_FREEZE - 1) {
      server.freeze();
      await Bun.sleep(FREEZE_MS);
      figures.freezeGapMs.push(journal.longestGapMs());
      server.thaw();
    } else {
      await server.kill();
      await journal.moreAcknowledged(ORDERS_AFTER, RESUME_LIMIT_MS);
      figures.killGapMs.push(journal.longestGapMs());
      servers[place] = await load.start(journal, place);
    }
    if ((round + 1) % 10 === 0) progress(round + 1, journal);
  }
  await journal.moreAcknowledged(ORDERS_BEFORE, RESUME_LIMIT_MS);
  for (const server of servers) await server.stop();
  await load.settle(journal);
  const ask = (text: string) => cluster.query(DATABASE, text);
  const [row] = await ask(
    `SELECT deadlocks::int AS count FROM pg_stat_database WHERE datname = '${DATABASE}'`,
  );
  figures.deadlocks = row!["count"] as number;
  const report = await reportOf(journal, load, ask, figures);
  cluster.stop("immediate");
  return report;
};
