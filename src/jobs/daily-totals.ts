// The background job that adds new orders, refunds and costs to the totals of their days, in runs of steps. A report
// adds up whatever is not counted yet, so this job may lag behind without making a report wrong.

import { Refusal } from "../domain/values/error-table.ts";
import type { Logger } from "../monitoring/log.ts";
import type { Writer } from "../writer/writer.ts";
import type { BackgroundJob } from "./housekeeping.ts";
import { MINUTE_MS } from "../domain/values/spans.ts";

/** Delay after a run that had nothing to count. */
const INTERVAL_MS = MINUTE_MS;
/**
 * Delay after any other run. It is short, because each report must add up what is not counted yet, while a run of a few
 * steps costs little.
 */
const BUSY_INTERVAL_MS = 5000;
/** Rows of each kind that one command counts: a few milliseconds of the writer's time. */
const STEP = 2000;
/** Delay between two steps, during which the writer is free for orders. */
const DELAY_MS = 40;

export interface DailyTotalsOptions {
  interval?: number;
  busyInterval?: number;
  delay?: number;
  /** Returns whether this server counts on behalf of all servers. */
  isLeader?: () => boolean;
}

/** Starts the job, which begins immediately; after an upgrade it counts everything. */
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
  /** Makes one run; resolves with the milliseconds until the next. */
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
      // The disk or the queue is full, or the database is unreachable: the next run continues.
      if (!(error instanceof Refusal)) {
        log.error({ error: String(error) }, "report totals could not be counted");
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
