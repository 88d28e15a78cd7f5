// The background job that counts new orders, refunds and costs into the totals of their days, in runs of steps. What it
// has not counted yet a report adds up by itself: it may lag behind without making a report wrong.

import { Refusal } from "../domain/refusals.ts";
import type { Logger } from "../monitoring/log.ts";
import type { Writer } from "../writer/writer.ts";
import type { BackgroundJob } from "./expiry.ts";

/** After a run that had nothing to count. */
const INTERVAL_MS = 60_000;
/** After another: each report adds up what is not counted yet, and a run of a few steps costs little. */
const BUSY_INTERVAL_MS = 5000;
/** Rows of each kind that one command counts: some milliseconds of the writer's time. */
const STEP = 2000;
/** Between two steps: the writer belongs to orders. */
const DELAY_MS = 40;

export interface DailyTotalsOptions {
  interval?: number;
  busyInterval?: number;
  delay?: number;
  /** Whether this server is the one that counts for all. */
  isLeader?: () => boolean;
}

/** Begins at once: after an upgrade with everything there is. */
export function startDailyTotals(
  writer: Pick<Writer, "submit">,
  log: Logger,
  {
    interval = INTERVAL_MS,
    busyInterval = BUSY_INTERVAL_MS,
    delay = DELAY_MS,
    isLeader = () => true,
  }: DailyTotalsOptions = {},
): BackgroundJob {
  let stopped = false;
  let timer: Timer | undefined;
  /** One run; resolves with the milliseconds until the next. */
  const count = async (): Promise<number> => {
    if (!isLeader()) return interval;
    try {
      while (!stopped) {
        const state = await writer.submit("countDailyTotals", { limit: STEP });
        if (state === "done") return interval;
        if (state !== "again") return busyInterval;
        await Bun.sleep(delay);
      }
    } catch (error) {
      // The disk or the queue is full, or the database is away: the next run goes on.
      if (!(error instanceof Refusal)) {
        log.error({ error: String(error) }, "totals of reports could not be counted");
      }
    }
    return interval;
  };
  const run = async (): Promise<void> => {
    const next = await count();
    if (!stopped) timer = setTimeout(() => (running = run()), next);
  };
  let running = run();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
