// `bun run build && bun bench/instructions.ts`: what a request costs in instructions, by thread, beside bare Bun.serve.
// Unlike times they hardly depend on the load of the machine. Needs `perf` (Debian: linux-perf) and a processor with
// performance counters.

import { bareHeaders, bareServe } from "./subjects/limits.ts";
import { reseller } from "./subjects/reseller.ts";
import {
  placeOrders,
  read,
  readOrders,
  RESELLERS,
  type Running,
  type Subject,
} from "./subjects/subject.ts";
import { stopEverything } from "./tools/children.ts";
import { load, type Shot } from "./tools/load.ts";
import { print, tableOf } from "./tools/table.ts";

const CONNECTIONS = 128;
const WARM_UP_SECONDS = 2;
const SECONDS = 3;
/** Time for perf to attach to the threads of an idle server. */
const ATTACH_MILLISECONDS = 300;
/** Threads with fewer instructions are not shown. */
const SHOWN = 1000;

const REQUESTS: [what: string, shots: (running: Running) => Shot[] | Promise<Shot[]>][] = [
  ["GET /balance", (running) => read("/balance", running, RESELLERS)],
  ["GET /orders/:id", (running) => readOrders(running, RESELLERS)],
  ["GET /services", (running) => read("/services", running, RESELLERS)],
  ["POST /orders", (running) => placeOrders(running, RESELLERS)],
];

interface Counted {
  user: number;
  kernel: number;
}

try {
  if (!Bun.which("perf")) throw new Error("perf is missing: apt-get install linux-perf");
  const rows = [["request", "subject, thread", "user", "kernel"]];
  for (const [what, shotsOf] of REQUESTS) {
    for (const subject of [bareServe, bareHeaders, reseller])
      rows.push(...(await measure(what, shotsOf, subject)));
  }
  print(tableOf(rows));
} finally {
  await stopEverything();
}

async function measure(
  what: string,
  shotsOf: (typeof REQUESTS)[number][1],
  subject: Subject,
): Promise<string[][]> {
  const running = await subject.start();
  const shots = await shotsOf(running);
  const { url, pids } = running;
  await load(url, { shots, connections: CONNECTIONS, seconds: WARM_UP_SECONDS });
  const perf = Bun.spawn(
    `perf stat -x , --per-thread -e instructions:u,instructions:k -p ${pids[0]}`.split(" "),
    { stderr: "pipe" },
  );
  await Bun.sleep(ATTACH_MILLISECONDS);
  const { requests } = await load(url, { shots, connections: CONNECTIONS, seconds: SECONDS });
  perf.kill("SIGINT");
  const threads = countedIn(await new Response(perf.stderr).text());
  await running.stop();
  return [...threads]
    .map(([thread, { user, kernel }]) => ({
      thread,
      user: user / requests,
      kernel: kernel / requests,
    }))
    .filter(({ user, kernel }) => user + kernel >= SHOWN)
    .map(({ thread, user, kernel }) => [
      what,
      `${subject.name}, ${thread}`,
      thousands(user),
      thousands(kernel),
    ]);
}

/** By the threads' names; those of one name together. */
function countedIn(report: string): Map<string, Counted> {
  const threads = new Map<string, Counted>();
  for (const line of report.split("\n")) {
    const [name, count, , event] = line.split(",");
    if (!event) continue;
    if (count === "<not supported>") throw new Error(`perf cannot count here: ${line}`);
    // A thread that did nothing.
    if (count === "<not counted>") continue;
    const thread = name!.replace(/-\d+$/, "");
    const counted = threads.get(thread) ?? { user: 0, kernel: 0 };
    counted[event.endsWith(":u") ? "user" : "kernel"] += Number(count);
    threads.set(thread, counted);
  }
  return threads;
}

function thousands(instructions: number): string {
  return `${(instructions / 1000).toFixed(1)}k`;
}
