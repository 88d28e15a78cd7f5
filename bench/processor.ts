// `bun run build && bun bench/processor.ts [ROUNDS] [SECONDS] [OTHER_BINARY]`: where the processor time of an order goes, by thread and
// process, of ours on PostgreSQL, of the peer on it and of ours on SQLite, at 128 connections. The load generator shares the
// processors: what all of it takes together bounds orders a second, and other load on the machine changes it less than those.

import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { fastifyPostgres } from "./subjects/peers.ts";
import { onPostgres, resellerOnPostgres } from "./subjects/reseller-postgres.ts";
import { reseller } from "./subjects/reseller.ts";
import { inTurn, placeOrders, RESELLERS, type Running } from "./subjects/subject.ts";
import { stopEverything } from "./tools/children.ts";
import { load } from "./tools/load.ts";
import { partMicroseconds } from "./tools/processes.ts";
import { median } from "./tools/results.ts";
import { say } from "./tools/say.ts";
import { print, tableOf } from "./tools/table.ts";

const CONNECTIONS = 128;
/** Compilation of the hot code takes most of a processor for the first seconds. */
const WARM_UP_SECONDS = 6;
/** Parts that take less are one. */
const LEAST_MICROSECONDS = 2;
const CASES = [
  { what: "one reseller", resellers: 1, keyed: false },
  { what: `${RESELLERS} resellers`, resellers: RESELLERS, keyed: false },
  { what: `${RESELLERS} resellers, Idempotency-Key`, resellers: RESELLERS, keyed: true },
];
const LOAD = "load generator";
const PER_SECOND = "orders/s";

const [rounds = "3", seconds = "4", other] = process.argv.slice(2);
/** Beside another binary that one alone. */
const SUBJECTS = other
  ? [onPostgres("other", 1, 0, resolve(other)), resellerOnPostgres]
  : [fastifyPostgres, resellerOnPostgres, reseller];
/** By case, subject and part: a value for each round. */
const measured = new Map<string, number[]>();
const parts = new Set<string>();
const warm = new Set<Running>();

try {
  await inTurn(SUBJECTS, Number(rounds), CASES, async (running, { name }, each) => {
    const shotsOf = ({ resellers, keyed }: (typeof CASES)[number]) =>
      placeOrders(running, resellers).map((shot) => ({ ...shot, keyed }));
    if (!warm.has(running)) {
      for (const other of CASES) {
        const shots = shotsOf(other);
        await load(running.url, { shots, connections: CONNECTIONS, seconds: WARM_UP_SECONDS / 2 });
      }
    }
    warm.add(running);
    const before = partMicroseconds(running.pids);
    const { requests, perSecond, ownMicroseconds } = await load(running.url, {
      shots: shotsOf(each),
      connections: CONNECTIONS,
      seconds: Number(seconds),
    });
    const after = partMicroseconds(running.pids);
    const add = (part: string, value: number) => {
      const key = `${each.what}\n${name}\n${part}`;
      measured.set(key, [...(measured.get(key) ?? []), value]);
    };
    add(PER_SECOND, perSecond);
    add(LOAD, ownMicroseconds / requests);
    for (const [part, microseconds] of Object.entries(after)) {
      parts.add(part);
      add(part, (microseconds - (before[part] ?? 0)) / requests);
    }
    say(`${each.what}, ${name}: ${Math.round(perSecond)} orders/s`);
  });
  for (const { what } of CASES) print(tableOfCase(what));
} finally {
  await stopEverything();
}

/** Microseconds an order, medians of the rounds. */
function tableOfCase(what: string): string {
  const valueOf = (name: string, part: string) => {
    const found = measured.get(`${what}\n${name}\n${part}`);
    return found ? median(found) : 0;
  };
  const all = [LOAD, ...parts].filter((part) =>
    SUBJECTS.some(({ name }) => valueOf(name, part) >= LEAST_MICROSECONDS),
  );
  const others = [...parts].filter((part) => !all.includes(part));
  const sumOf = (name: string, of: readonly string[]) =>
    of.reduce((sum, part) => sum + valueOf(name, part), 0);
  const line = (title: string, value: (name: string) => number, digits = 1) => [
    title,
    "",
    ...SUBJECTS.map(({ name }) => value(name).toFixed(digits)),
  ];
  const whole = (name: string) => sumOf(name, [LOAD, ...parts]);
  const processors = availableParallelism();
  return tableOf([
    [what, "", ...SUBJECTS.map(({ name }) => name)],
    ...all.map((part) => line(part, (name) => valueOf(name, part))),
    line("others", (name) => sumOf(name, others)),
    line("together", whole),
    line(`${processors} processors / together`, (name) => (processors * 1e6) / whole(name), 0),
    line(PER_SECOND, (name) => valueOf(name, PER_SECOND), 0),
  ]);
}
