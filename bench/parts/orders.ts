// Orders a second and their latency, at every number of connections, from one reseller (one hot row) and from 16.

import type { Options } from "../options.ts";
import { BARE_SQLITE, bareSqlite } from "../subjects/limits.ts";
import { expressSqlite, fastifyPostgres } from "../subjects/peers.ts";
import { nginxPhp } from "../subjects/php.ts";
import { reseller } from "../subjects/reseller.ts";
import { inTurn, placeOrders, RESELLERS, type Running } from "../subjects/subject.ts";
import { load } from "../tools/load.ts";
import { cpuSeconds } from "../tools/processes.ts";
import type { Results } from "../tools/results.ts";
import { say } from "../tools/say.ts";

const RESELLER_COUNTS = [1, RESELLERS];
/** The number of connections at which the bare loop is compared: its batches are of 128 orders. */
const LOOP_CONNECTIONS = 128;

export async function orders(options: Options, results: Results): Promise<void> {
  const { rounds, seconds } = options;
  const subjects = [reseller, expressSqlite, fastifyPostgres, nginxPhp];
  await inTurn(subjects, rounds, modesOf(options), async (running, subject, mode) => {
    const { name } = subject;
    const what = caseOf(mode.connections, mode.resellers);
    await measureOrders(running, mode, seconds, name, (metric, value) =>
      results.add("orders", what, name, metric, value),
    );
    // In the same round as ours, so that both run under the same conditions.
    if (subject !== reseller || mode.connections !== LOOP_CONNECTIONS) return;
    const perSecond = await bareSqlite(mode.resellers, seconds);
    results.add("orders", what, BARE_SQLITE, "per second", perSecond);
    say(`${what}: ${Math.round(perSecond)} orders/s, ${BARE_SQLITE}`);
  });
}

export interface Mode {
  connections: number;
  resellers: number;
}

/** Every number of connections, with one reseller and with many. */
export function modesOf({ connections }: Options): Mode[] {
  return RESELLER_COUNTS.flatMap((resellers) =>
    connections.map((count) => ({ connections: count, resellers })),
  );
}

export function caseOf(connections: number, resellers: number): string {
  return `${connections} connections, ${resellers} reseller${resellers === 1 ? "" : "s"}`;
}

/** One load of orders, with the processor time it took. */
export async function measureOrders(
  running: Running,
  { connections, resellers }: Mode,
  seconds: number,
  name: string,
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
  say(`${caseOf(connections, resellers)}: ${Math.round(measured.perSecond)} orders/s, ${name}`);
}
