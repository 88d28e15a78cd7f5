// What the portal costs the API: orders and reads of the same binary with and without --portal, in turn. Nobody looks at
// the portal's pages.

import type { Options } from "../options.ts";
import { reseller, resellerWithPortal } from "../subjects/reseller.ts";
import { inTurn, placeOrders, read, type Running } from "../subjects/subject.ts";
import { load } from "../tools/load.ts";
import { cpuSeconds } from "../tools/processes.ts";
import type { Results } from "../tools/results.ts";
import { say } from "../tools/say.ts";
import { caseOf, type Mode, modesOf } from "./orders.ts";
import { BALANCE } from "./reads.ts";

export const PORTAL_CASES = [BALANCE, "POST /orders"] as const;

export function portalCase(path: string, connections: number, resellers: number): string {
  return `${path}, ${caseOf(connections, resellers)}`;
}

/** One server runs at a time: what the other still has to do after its load takes processor time. */
export async function portal(options: Options, results: Results): Promise<void> {
  const cases = modesOf(options).flatMap((mode) => PORTAL_CASES.map((path) => ({ ...mode, path })));
  const subjects = [reseller, resellerWithPortal];
  for (let round = 0; round < options.rounds; round += 1) {
    for (const subject of round % 2 ? subjects.toReversed() : subjects)
      await inTurn([subject], 1, cases, (running, { name }, each) =>
        measure(running, name, each, options.seconds, results),
      );
  }
}

async function measure(
  running: Running,
  name: string,
  { path, connections, resellers }: Mode & { path: string },
  seconds: number,
  results: Results,
): Promise<void> {
  const shots =
    path === BALANCE ? read("/balance", running, resellers) : placeOrders(running, resellers);
  const before = cpuSeconds(running.pids);
  const { perSecond, requests, p99 } = await load(running.url, { shots, connections, seconds });
  const cpu = (cpuSeconds(running.pids) - before) / requests;
  const what = portalCase(path, connections, resellers);
  results.add("portal", what, name, "per second", perSecond);
  results.add("portal", what, name, "p99 ms", p99);
  results.add("portal", what, name, "CPU s per 10,000", cpu * 10_000);
  say(`${what}: ${Math.round(perSecond)}/s, ${name}`);
}
