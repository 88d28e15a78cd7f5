// What the portal costs the API: orders and reads of the same binary with and without --portal, in turn. Nobody looks at
// the portal's pages.

import type { Options } from "../options.ts";
import { reseller, resellerWithPortal } from "../subjects/reseller.ts";
import { inTurn, placeOrders, read } from "../subjects/subject.ts";
import { load } from "../tools/load.ts";
import { cpuSeconds } from "../tools/processes.ts";
import type { Results } from "../tools/results.ts";
import { say } from "../tools/say.ts";
import { caseOf, modesOf } from "./orders.ts";
import { BALANCE } from "./reads.ts";

export const PORTAL_CASES = [BALANCE, "POST /orders"] as const;

export function portalCase(path: string, connections: number, resellers: number): string {
  return `${path}, ${caseOf(connections, resellers)}`;
}

export async function portal(options: Options, results: Results): Promise<void> {
  const cases = modesOf(options).flatMap((mode) => PORTAL_CASES.map((path) => ({ ...mode, path })));
  const { rounds, seconds } = options;
  const subjects = [reseller, resellerWithPortal];
  await inTurn(subjects, rounds, cases, async (running, { name }, measured) => {
    const { path, connections, resellers } = measured;
    const shots =
      path === BALANCE ? read("/balance", running, resellers) : placeOrders(running, resellers);
    const before = cpuSeconds(running.pids);
    const { perSecond, p99 } = await load(running.url, { shots, connections, seconds });
    const cpu = (cpuSeconds(running.pids) - before) / (perSecond * seconds);
    const what = portalCase(path, connections, resellers);
    results.add("portal", what, name, "per second", perSecond);
    results.add("portal", what, name, "p99 ms", p99);
    results.add("portal", what, name, "CPU s per 10,000", cpu * 10_000);
    say(`${what}: ${Math.round(perSecond)}/s, ${name}`);
  });
}
