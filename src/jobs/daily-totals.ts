// The background job that counts new orders, refunds and costs into the totals of their days, once a minute, a step at a
// time. What it has not counted yet a report adds up by itself: it may lag behind without making a report wrong.

import { Refusal } from "../domain/refusals.ts";
import type { Logger } from "../monitoring/log.ts";
import type { Writer } from "../writer/writer.ts";
import type { BackgroundJob } from "./expiry.ts";

const INTERVAL_MS = 60_000;
/** Rows of each kind that one command counts: some milliseconds of the writer's time. */
const STEP = 2000;
/** Between two steps: the writer belongs to orders. */
const DELAY_MS = 40;

export interface DailyTotalsOptions {
  interval?: number;
  delay?: number;
  /** Whether this server is the one that counts for all. */
  isLeader?: () => boolean;
}

/** Begins at once: after an upgrade with everything there is. */
export function startDailyTotals(
  writer: Pick<Writer, "submit">,
  log: Logger,
  { interval = INTERVAL_MS, delay = DELAY_MS, isLeader = () => true }: DailyTotalsOptions = {},
): BackgroundJob {
  let stopped = false;
  const count = async (): Promise<void> => {
    if (!isLeader()) return;
    try {
      while (!stopped && (await writer.submit("countDailyTotals", { limit: STEP })) === "again") {
        await Bun.sleep(delay);
      }
    } catch (error) {
      // The disk or the queue is full, or the database is away: the next run goes on.
      if (!(error instanceof Refusal)) {
        log.error({ error: String(error) }, "totals of reports could not be counted");
      }
    }
  };
  let running = count();
  const timer = setInterval(() => {
    running = running.then(count);
  }, interval);
  return {
    async stop() {
      stopped = true;
      clearInterval(timer);
      await running;
    },
  };
}
