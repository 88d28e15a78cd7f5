// Reads: balance, an order by id, a catalogue of 1,000 services; and four reads to each order.

import type { Options } from "../options.ts";
import { bareServe } from "../subjects/limits.ts";
import { expressSqlite, fastifyPostgres } from "../subjects/peers.ts";
import { reseller } from "../subjects/reseller.ts";
import {
  inTurn,
  placeOrders,
  read,
  readOrders,
  RESELLERS,
  type Running,
  type Subject,
} from "../subjects/subject.ts";
import { load, type Shot } from "../tools/load.ts";
import type { Results } from "../tools/results.ts";
import { say } from "../tools/say.ts";
import { caseOf, RESELLER_COUNTS } from "./orders.ts";

export const BALANCE = "GET /balance";
export const ORDER = "GET /orders/:id";
const SERVICES = "GET /services";
const MIX = "80 % reads, 20 % orders";

export async function reads(options: Options, results: Results): Promise<void> {
  const subjects = [reseller, bareServe, expressSqlite, fastifyPostgres];
  await inTurn(subjects, options.rounds, async (running, subject) => {
    for (const resellers of RESELLER_COUNTS) {
      for (const [path, shots] of await shotsOf(running, resellers, subject)) {
        for (const connections of options.connections) {
          const { seconds } = options;
          const { perSecond, p50, p99 } = await load(running.url, { shots, connections, seconds });
          const what = `${path}, ${caseOf(connections, resellers)}`;
          results.add("reads", what, subject.name, "per second", perSecond);
          results.add("reads", what, subject.name, "p50 ms", p50);
          results.add("reads", what, subject.name, "p99 ms", p99);
          say(`${what}: ${Math.round(perSecond)}/s`);
        }
      }
    }
  });
}

async function shotsOf(running: Running, resellers: number, subject: Subject) {
  const balance = read("/balance", running, resellers);
  const order = await readOrders(running, resellers);
  const shots: [string, Shot[]][] = [
    [BALANCE, balance],
    [ORDER, order],
  ];
  // The bare server knows these two answers only.
  if (subject === bareServe) return shots;
  shots.push([SERVICES, read("/services", running, resellers)]);
  const place = placeOrders(running, RESELLERS);
  const mixed = order.flatMap((shot, index) => [
    shot,
    balance[index % balance.length]!,
    order[(index + 1) % order.length]!,
    balance[index % balance.length]!,
    place[index % resellers]!,
  ]);
  shots.push([MIX, mixed]);
  return shots;
}
