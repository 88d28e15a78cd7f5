// A background job that makes one run after the other. A run says how long to wait until the next.

import { Refusal } from "../domain/values/error-table.ts";
import type { Logger } from "../monitoring/log.ts";
import type { BackgroundJob } from "./housekeeping.ts";

export interface RepeatedJob {
  /** Makes one run. Returns the milliseconds until the next. `isStopped`: the run should end. */
  run: (isStopped: () => boolean) => Promise<number>;
  /** Milliseconds until the next run after one that failed. */
  interval: number;
  /** Logged when a run fails. */
  failure: string;
}

/** Starts the job, which begins immediately. */
export function startRepeatedJob(
  { run, interval, failure }: RepeatedJob,
  log: Logger,
): BackgroundJob {
  let stopped = false;
  let timer: Timer | undefined;
  const runOnce = async (): Promise<number> => {
    try {
      return await run(() => stopped);
    } catch (error) {
      // The disk or the queue is full, or the database is unreachable: the next run continues.
      if (!(error instanceof Refusal)) log.error({ error: String(error) }, failure);
      return interval;
    }
  };
  const repeat = async (): Promise<void> => {
    const next = await runOnce();
    if (!stopped) timer = setTimeout(() => (running = repeat()), next);
  };
  let running = repeat();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
