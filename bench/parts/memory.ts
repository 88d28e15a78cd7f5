// Resident memory: idle, under minutes of full load, and after it.

import type { Options } from "../options.ts";
import { reseller } from "../subjects/reseller.ts";
import { placeOrders, RESELLERS, type Running } from "../subjects/subject.ts";
import { load } from "../tools/load.ts";
import { residentMegabytes } from "../tools/processes.ts";
import type { Results } from "../tools/results.ts";
import { say } from "../tools/say.ts";

const CONNECTIONS = 128;
/** How long the process is left alone before it counts as idle. */
const SETTLE_MILLISECONDS = 5000;
const SAMPLE_MILLISECONDS = 1000;
/** Samples are grouped into this many intervals: with flat memory they are alike. */
const PARTS = 5;

export const IDLE = "idle";
export const AFTER = "after the load";

export async function memory(options: Options, results: Results): Promise<void> {
  const running = await reseller.start();
  const note = (what: string, megabytes: number) => {
    results.add("memory", what, reseller.name, "MB", megabytes);
    say(`${what}: ${megabytes.toFixed(0)} MB`);
  };
  try {
    await Bun.sleep(SETTLE_MILLISECONDS);
    note(IDLE, residentMegabytes(running.pids));
    for (let part = 1; part <= PARTS; part += 1) {
      const seconds = Math.round((options.minutes * 60) / PARTS);
      note(
        `under load, part ${part} of ${PARTS}, highest`,
        await highestUnderLoad(running, seconds),
      );
    }
    await Bun.sleep(SETTLE_MILLISECONDS);
    note(AFTER, residentMegabytes(running.pids));
  } finally {
    await running.stop();
  }
}

async function highestUnderLoad(running: Running, seconds: number): Promise<number> {
  let highest = 0;
  const sampling = setInterval(() => {
    highest = Math.max(highest, residentMegabytes(running.pids));
  }, SAMPLE_MILLISECONDS);
  try {
    const shots = placeOrders(running, RESELLERS);
    await load(running.url, { shots, connections: CONNECTIONS, seconds });
    return highest;
  } finally {
    clearInterval(sampling);
  }
}
