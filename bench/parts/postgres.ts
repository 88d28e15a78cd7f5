// On PostgreSQL: orders a second beside the peer on PostgreSQL and ours on SQLite, with Idempotency-Keys, with a second
// server, on disks whose fsync takes longer (4 ms: as on a cheap VPS), and by how far away the database is.

import type { Options } from "../options.ts";
import { fastifyPostgres } from "../subjects/peers.ts";
import { delayed, resellerOnPostgres, twoServers } from "../subjects/reseller-postgres.ts";
import { reseller } from "../subjects/reseller.ts";
import { inTurn, placeOrders, RESELLERS, type Running } from "../subjects/subject.ts";
import { slowDisk } from "../tools/fsync.ts";
import { load } from "../tools/load.ts";
import { cpuSeconds } from "../tools/processes.ts";
import type { Results } from "../tools/results.ts";
import { say } from "../tools/say.ts";
import { FSYNC_MILLISECONDS } from "./disk.ts";
import { caseOf } from "./orders.ts";

const CONNECTIONS = 128;
/** How much longer an fsync takes than on this machine, for PostgreSQL and for SQLite, where targets are known. */
export const FSYNCS_MILLISECONDS = [0, 1, FSYNC_MILLISECONDS];
const ROUND_TRIPS_MILLISECONDS = [1, 2, 5];

interface Case {
  resellers: number;
  /** Each order with an Idempotency-Key of its own; the peer has none and does what it always does. */
  keyed: boolean;
  /** In milliseconds, of the option `fsyncs`. */
  fsync: number;
}

function casesOn(fsync: number): readonly Case[] {
  return [
    { resellers: 1, keyed: false, fsync },
    { resellers: RESELLERS, keyed: false, fsync },
    { resellers: RESELLERS, keyed: true, fsync },
  ];
}

export async function postgres(options: Options, results: Results): Promise<void> {
  const { rounds, seconds } = options;
  const beside = [fastifyPostgres, resellerOnPostgres, twoServers, reseller];
  for (const fsync of options.fsyncs) {
    await inTurn(
      beside,
      rounds,
      casesOn(fsync),
      (running, { name }, each) => measure(running, name, each, seconds, results),
      fsync === 0 ? undefined : await slowDisk(fsync),
    );
  }
  if (!options.fsyncs.includes(FSYNC_MILLISECONDS)) return;
  const distances = [resellerOnPostgres, ...ROUND_TRIPS_MILLISECONDS.map(delayed)];
  await inTurn(distances, rounds, casesOn(0).slice(1, 2), (running, { name }, each) =>
    measure(running, `${name} (by distance)`, each, seconds, results),
  );
}

async function measure(
  running: Running,
  name: string,
  each: Case,
  seconds: number,
  results: Results,
): Promise<void> {
  const { resellers, keyed } = each;
  const what = postgresCase(each);
  const urls = "urls" in running ? (running.urls as string[]) : [running.url];
  const shots = placeOrders(running, resellers).map((shot) => ({ ...shot, keyed }));
  const connections = CONNECTIONS / urls.length;
  const before = cpuSeconds(running.pids);
  const loads = await Promise.all(urls.map((url) => load(url, { shots, connections, seconds })));
  const spent = cpuSeconds(running.pids) - before;
  const perSecond = loads.reduce((sum, { perSecond }) => sum + perSecond, 0);
  const requests = loads.reduce((sum, { requests }) => sum + requests, 0);
  results.add("postgres", what, name, "per second", perSecond);
  results.add("postgres", what, name, "p50 ms", Math.max(...loads.map(({ p50 }) => p50)));
  results.add("postgres", what, name, "p99 ms", Math.max(...loads.map(({ p99 }) => p99)));
  results.add("postgres", what, name, "CPU s per 10,000", (spent / requests) * 10_000);
  say(`${what}: ${Math.round(perSecond)} orders/s, ${name}`);
}

export function postgresCase({ resellers, keyed, fsync }: Case): string {
  const disk = fsync === 0 ? "" : `, ${fsync} ms fsync`;
  return `${caseOf(CONNECTIONS, resellers)}${keyed ? ", Idempotency-Key" : ""}${disk}`;
}
