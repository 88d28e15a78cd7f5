// The cost of an idle server: CPU time and wake-ups, beside a bare `Bun.serve` in the same minutes.

import { cpSync } from "node:fs";
import type { Options } from "../options.ts";
import { bareServe } from "../subjects/limits.ts";
import { BINARY, market, reseller, serve } from "../subjects/reseller.ts";
import type { Running } from "../subjects/subject.ts";
import { freshFolder, removeFolder, runToEnd } from "../tools/children.ts";
import { cpuSeconds, voluntarySwitches } from "../tools/processes.ts";
import type { Results } from "../tools/results.ts";
import { say } from "../tools/say.ts";

/** By then the first backup, a minute after the start, is made, and garbage collection has settled. */
const SETTLE_SECONDS = 90;
const SECONDS = 120;

export const EMPTY = "empty database";
export const MARKET = "resellers, services of a provider and by hand";
const BARE = "no database";

interface Idler {
  what: string;
  subject: string;
  running: Running;
}

export async function idle(_options: Options, results: Results): Promise<void> {
  const idlers: Idler[] = [];
  try {
    idlers.push({ what: EMPTY, subject: reseller.name, running: await startEmpty() });
    idlers.push({ what: MARKET, subject: reseller.name, running: await startMarket() });
    idlers.push({ what: BARE, subject: bareServe.name, running: await bareServe.start() });
    await Bun.sleep(SETTLE_SECONDS * 1000);
    const finish = idlers.map(({ running }) => startMeasurement(running));
    await Bun.sleep(SECONDS * 1000);
    for (const [index, { what, subject }] of idlers.entries()) {
      const { percent, wakeUps } = finish[index]!();
      results.add("idle", what, subject, "% of a core", percent);
      results.add("idle", what, subject, "wake-ups per second", wakeUps);
      say(`${subject}, ${what}: ${percent.toFixed(2)} %, ${wakeUps.toFixed(1)} wake-ups/s`);
    }
  } finally {
    for (const { running } of idlers) await running.stop();
  }
}

function startEmpty(): Promise<Running> {
  const folder = freshFolder();
  return serve(folder, [], {}, () => removeFolder(folder));
}

/** The bench's market and a provider, which is not called: nothing has been ordered. */
async function startMarket(): Promise<Running> {
  const folder = freshFolder();
  const { folder: template, keys } = await market();
  cpSync(template, folder, { recursive: true });
  const admin = (words: string[], input?: string) =>
    runToEnd([BINARY, "admin", ...words, "--data", folder], {}, input);
  const provider = ["provider", "create", "panel", "--url", "http://127.0.0.1:9/"];
  await admin([...provider, "--key-stdin", "--no-check"], "bench-key");
  const service = ["service", "create", "--name", "Likes", "--price", "1", "--min", "1"];
  await admin([...service, "--max", "1000", "--provider", "panel", "--provider-service", "1"]);
  return serve(folder, keys, {}, () => removeFolder(folder));
}

/** Returns what ends it. Threads that end meanwhile are counted in the time, and not in the wake-ups. */
function startMeasurement({ pids }: Running): () => { percent: number; wakeUps: number } {
  const startedAt = performance.now();
  const seconds = cpuSeconds(pids);
  const switches = voluntarySwitches(pids);
  return () => {
    const elapsed = (performance.now() - startedAt) / 1000;
    let wakeUps = 0;
    for (const [thread, now] of voluntarySwitches(pids))
      wakeUps += now - (switches.get(thread) ?? 0);
    return {
      percent: ((cpuSeconds(pids) - seconds) / elapsed) * 100,
      wakeUps: wakeUps / elapsed,
    };
  };
}
