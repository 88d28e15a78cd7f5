// `bun run build && bun bench/threads.ts OTHER_BINARY [ROUNDS]`: orders of dist/reseller beside those of another binary,
// with the processor time of an order by thread. For work that moves from one thread to another.

import { resolve } from "node:path";
import { reseller, serveCopy } from "./subjects/reseller.ts";
import { inTurn, placeOrders, RESELLERS, type Running, type Subject } from "./subjects/subject.ts";
import { stopEverything } from "./tools/children.ts";
import { load } from "./tools/load.ts";
import { threadMicroseconds } from "./tools/processes.ts";
import { Results } from "./tools/results.ts";
import { say } from "./tools/say.ts";
import { print, tableOf } from "./tools/table.ts";

const CONNECTIONS = [1, 128];
/** Compilation of the hot code takes most of a processor for the first seconds. */
const WARM_UP_SECONDS = 6;
const SECONDS = 3;
const METRICS = ["per second", "p50 ms", "main µs", "writer µs"] as const;
/** As the kernel names the threads; the main one has the name of the program. */
const WRITER = "Worker";

const [binary, rounds = "4"] = process.argv.slice(2);
if (!binary) throw new Error("which other binary? bun bench/threads.ts OTHER_BINARY [ROUNDS]");
const other: Subject = { name: "other", start: (env) => serveCopy(env, resolve(binary)) };
const results = new Results();
const warm = new Set<Running>();

try {
  await inTurn(
    [other, reseller],
    Number(rounds),
    CONNECTIONS,
    async (running, { name }, connections) => {
      const shots = placeOrders(running, RESELLERS);
      const { url, pids } = running;
      if (!warm.has(running))
        await load(url, { shots, connections: 128, seconds: WARM_UP_SECONDS });
      warm.add(running);
      const before = threadMicroseconds(pids[0]!);
      const { requests, perSecond, p50 } = await load(url, {
        shots,
        connections,
        seconds: SECONDS,
      });
      const after = threadMicroseconds(pids[0]!);
      const spent = (thread: string) => (after[thread]! - before[thread]!) / requests;
      const values = [perSecond, p50, spent("main"), spent(WRITER)];
      for (const [index, metric] of METRICS.entries())
        results.add("threads", `${connections}`, name, metric, values[index]!);
      say(
        `${connections} connections, ${name}: ${values.map((value) => value.toFixed(2)).join(" ")}`,
      );
    },
  );
  const rows = CONNECTIONS.flatMap((connections) =>
    METRICS.map((metric) => {
      const [old, ours] = [other, reseller].map(({ name }) =>
        results.median("threads", `${connections}`, name, metric),
      ) as [number, number];
      return [
        `${connections} connections`,
        metric,
        old.toFixed(2),
        ours.toFixed(2),
        (ours / old).toFixed(2),
      ];
    }),
  );
  print(tableOf([["", "", "other", "reseller", "ratio"], ...rows]));
} finally {
  await stopEverything();
}
