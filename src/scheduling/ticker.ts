// The timer of deliveries. A failed tick is logged and does not stop the timer.

import type { Logger } from "../monitoring/log.ts";
import type { Clock } from "./clock.ts";

/** Shortest time between two ticks: how late a due submission or poll may start. */
const TICK_MS = 250;
/**
 * Longest time between two ticks. A commit of the command line or a jump of the clock is noticed at the latest after
 * this time, because nothing announces them in this process. One tick a second costs an idle process about 0.03 % of a
 * core.
 */
const IDLE_TICK_MS = 1000;
/** A timer that has not ticked for this long counts as dead. */
const TICK_LATE_MS = 10_000;
/** A clock that goes back by more than this was set, not adjusted. */
const CLOCK_BACK_MS = 1000;

/** Starts what is due; resolves with the milliseconds until something else becomes due, or with null. */
export type Tick = (now: number) => Promise<number | null>;

export interface Ticker {
  /** Adds another tick to the same timer; returns a function that removes it. */
  add(tick: Tick): () => void;
  /** Ticks soon, because something may have become due. */
  wake(): void;
  isTicking(): boolean;
  stop(): void;
}

/** Starts the timer. `onClockBack` is called before a tick when the clock was set back. */
export function startTicker(
  { clock, log }: { clock: Clock; log: Pick<Logger, "warn" | "error"> },
  tick: Tick,
  onClockBack: () => void,
): Ticker {
  const ticks = new Set([tick]);
  let lastNow = clock.now();
  let isIdle = false;
  let isRunning = false;
  let isStopped = false;
  let isWoken = false;

  const runOne = async (each: Tick, now: number): Promise<number> => {
    try {
      return (await each(now)) ?? IDLE_TICK_MS;
    } catch (error) {
      log.error({ error: error instanceof Error ? error.stack : String(error) }, "a tick failed");
      return 0;
    }
  };
  const run = async (): Promise<number> => {
    const now = clock.now();
    if (now < lastNow - CLOCK_BACK_MS) {
      log.warn({ milliseconds: lastNow - now }, "the clock was set back");
      onClockBack();
    }
    lastNow = now;
    return Math.min(...(await Promise.all([...ticks].map((each) => runOne(each, now)))));
  };
  // The timer is set again only after a tick has ended, so that ticks do not overlap.
  const timer = clock.timer(async () => {
    isRunning = true;
    isWoken = false;
    const dueInMs = await run();
    isRunning = false;
    if (!isStopped) setTimer(isWoken ? 0 : dueInMs);
  });
  const setTimer = (milliseconds: number) => {
    isIdle = milliseconds > TICK_MS;
    timer.set(Math.min(Math.max(milliseconds, TICK_MS), IDLE_TICK_MS));
  };
  setTimer(0);

  return {
    add(other) {
      ticks.add(other);
      return () => ticks.delete(other);
    },
    wake() {
      if (isRunning) isWoken = true;
      else if (isIdle) setTimer(0);
    },
    isTicking: () => Math.abs(clock.now() - lastNow) <= TICK_LATE_MS,
    stop() {
      isStopped = true;
      isIdle = false;
      timer.clear();
    },
  };
}
