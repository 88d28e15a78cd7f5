// Reads: balance, an order by id, a catalogue of 1,000 services; and four reads to each order.

import type { Options } from "../options.ts";
import { bareHeaders, bareServe } from "../subjects/limits.ts";
import { expressSqlite, fastifyPostgres } from "../subjects/peers.ts";
import { nginxPhp } from "../subjects/php.ts";
import { reseller } from "../subjects/reseller.ts";
import { inTurn, placeOrders, read, readOrders, type Running } from "../subjects/subject.ts";
import { load, type Shot } from "../tools/load.ts";
import type { Results } from "../tools/results.ts";
import { say } from "../tools/say.ts";
import { caseOf, modesOf } from "./orders.ts";

export const BALANCE = "GET /balance";
export const ORDER = "GET /orders/:id";
const SERVICES = "GET /services";
const MIX = "80 % reads, 20 % orders";

export async function reads(options: Options, results: Results): Promise<void> {
  const subjects = [reseller, bareServe, bareHeaders, expressSqlite, fastifyPostgres, nginxPhp];
  const cases = modesOf(options).flatMap((mode) =>
    [BALANCE, ORDER, SERVICES, MIX].map((path) => ({ ...mode, path })),
  );
  const { rounds, seconds } = options;
  await inTurn(subjects, rounds, cases, async (running, subject, measured) => {
    const { path, connections, resellers } = measured;
    // The bare servers know these two answers only.
    if ((subject === bareServe || subject === bareHeaders) && path !== BALANCE && path !== ORDER)
      return;
    const shots = await shotsOf(path, running, resellers);
    const { perSecond, p50, p99 } = await load(running.url, { shots, connections, seconds });
    const what = `${path}, ${caseOf(connections, resellers)}`;
    results.add("reads", what, subject.name, "per second", perSecond);
    results.add("reads", what, subject.name, "p50 ms", p50);
    results.add("reads", what, subject.name, "p99 ms", p99);
    say(`${what}: ${Math.round(perSecond)}/s, ${subject.name}`);
  });
}

async function shotsOf(path: string, running: Running, resellers: number): Promise<Shot[]> {
  if (path === SERVICES) return read("/services", running, resellers);
  const balance = read("/balance", running, resellers);
  if (path === BALANCE) return balance;
  const order = await readOrders(running, resellers);
  if (path === ORDER) return order;
  const place = placeOrders(running, resellers);
  return order.flatMap((shot, index) => [
    shot,
    balance[index % balance.length]!,
    order[(index + 1) % order.length]!,
    balance[index % balance.length]!,
    place[index % place.length]!,
  ]);
}
