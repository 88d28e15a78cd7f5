// Two servers under load, upgraded to the next version as docs/postgres.md says: a server of that version migrates with
// the owner's address while they serve, then each is replaced. They go on, but do not start again.

import { nextBinary } from "../../support/databases/next-version.ts";
import { startCluster } from "../../support/databases/postgres.ts";
import { BINARY, runBinary, startServerProcess } from "../../support/binary.ts";
import { freshFolder } from "../../support/folders.ts";
import { makeServiceRole } from "./binary-servers.ts";
import { Journal } from "./journal.ts";
import { type Report, reportOf, type Scenario } from "./report.ts";

const DATABASE = "reseller";
const ORDERS = 300;
const RESUME_LIMIT_MS = 60_000;
const REFUSED = /written by a newer version/;

export const runUpgrade: Scenario = async (run): Promise<Report> => {
  const { seed, progress } = run;
  const next = await nextBinary();
  const cluster = await startCluster({ fsync: "off" });
  await cluster.query("postgres", `CREATE DATABASE ${DATABASE}`);
  const address = `postgres://postgres@127.0.0.1:${cluster.port}/${DATABASE}`;
  const binaries = [BINARY, BINARY];
  const load = await run.prepare({ address, seed, binaryOf: (place) => binaries[place]! });
  const journal = new Journal();
  const servers = [await load.start(journal, 0), await load.start(journal, 1)];
  const more = () => journal.moreAcknowledged(ORDERS, RESUME_LIMIT_MS);
  const ask = (text: string) => cluster.query(DATABASE, text);
  const version = async () => (await ask("SELECT max(version)::int AS v FROM migrations"))[0]!["v"];
  const figures: Report["figures"] = { from: (await version()) as number };
  await more();

  journal.watchGap();
  const owner = ["--database", address];
  const setup = await startServerProcess({
    binary: next,
    data: freshFolder(),
    arguments: [...owner, "--server", "setup"],
  });
  await setup.stop();
  await makeServiceRole(address);
  await more();
  figures["to"] = (await version()) as number;
  figures["migrationGapMs"] = [journal.longestGapMs()];
  progress(0, journal);

  const again = ["--server", "again"];
  const started = await startServerProcess({
    data: freshFolder(),
    arguments: [...owner, ...again],
  }).then(
    (server) => server.kill().then(() => "it started"),
    (error: Error) => error.message,
  );
  if (!REFUSED.test(started)) journal.faults.push(`the old version: ${started}`);
  const list = ["admin", "user", "list", ...owner, "--data", freshFolder()];
  const { exitCode, stderr } = await runBinary(list);
  if (exitCode !== 1 || !REFUSED.test(stderr)) journal.faults.push(`the old command: ${stderr}`);

  const replacedGapMs: number[] = [];
  for (const [place, server] of servers.entries()) {
    journal.watchGap();
    await server.stop();
    binaries[place] = next;
    servers[place] = await load.start(journal, place);
    await more();
    replacedGapMs.push(journal.longestGapMs());
    progress(place + 1, journal);
  }
  figures["replacedGapMs"] = replacedGapMs;
  for (const server of servers) await server.stop();
  await load.settle(journal);
  const report = await reportOf(journal, load, ask, figures);
  cluster.stop("immediate");
  return report;
};
