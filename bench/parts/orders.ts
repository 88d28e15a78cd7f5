// Orders a second and their latency, at every number of connections, from one reseller (one hot row) and from 16.

import type { Options } from "../options.ts";
import { BARE_SQLITE, bareSqlite } from "../subjects/limits.ts";
import { expressSqlite, fastifyPostgres } from "../subjects/peers.ts";
import { reseller } from "../subjects/reseller.ts";
import { inTurn, placeOrders, RESELLERS, type Running } from "../subjects/subject.ts";
import { load } from "../tools/load.ts";
import { cpuSeconds } from "../tools/processes.ts";
import type { Results } from "../tools/results.ts";
import { say } from "../tools/say.ts";

export const RESELLER_COUNTS = [1, RESELLERS];

export async function orders(options: Options, results: Results): Promise<void> {
  const { rounds, seconds, connections } = options;
  await inTurn([reseller, expressSqlite, fastifyPostgres], rounds, async (running, { name }) => {
    for (const resellers of RESELLER_COUNTS) {
      for (const count of connections) {
        const what = caseOf(count, resellers);
        await measureOrders(running, count, resellers, seconds, (metric, value) =>
          results.add("orders", what, name, metric, value),
        );
      }
    }
  });
  for (let round = 0; round < rounds; round += 1) {
    for (const resellers of RESELLER_COUNTS) {
      const perSecond = await bareSqlite(resellers, seconds);
      results.add("orders", caseOf(128, resellers), BARE_SQLITE, "per second", perSecond);
    }
  }
}

export function caseOf(connections: number, resellers: number): string {
  return `${connections} connections, ${resellers} reseller${resellers === 1 ? "" : "s"}`;
}

/** One load of orders, with the processor time it took. */
export async function measureOrders(
  running: Running,
  connections: number,
  resellers: number,
  seconds: number,
  add: (metric: "per second" | "p50 ms" | "p99 ms" | "CPU s per 10,000", value: number) => void,
): Promise<void> {
  const before = cpuSeconds(running.pids);
  const shots = placeOrders(running, resellers);
  const measured = await load(running.url, { shots, connections, seconds });
  const spent = cpuSeconds(running.pids) - before;
  add("per second", measured.perSecond);
  add("p50 ms", measured.p50);
  add("p99 ms", measured.p99);
  add("CPU s per 10,000", (spent / measured.requests) * 10_000);
  say(`${caseOf(connections, resellers)}: ${Math.round(measured.perSecond)} orders/s`);
}
