// The timer of the deliveries. A tick that fails is logged and does not stop the timer.

import type { Logger } from "../monitoring/log.ts";
import type { Clock } from "./clock.ts";

/** The shortest time between two ticks: how late a due submission or poll may start. */
const TICK_MS = 250;
/**
 * The longest: how late a commit of the command line or a jump of the clock is noticed, which nothing in this process
 * announces. A tick a second costs an idle process about 0.03 % of a core.
 */
const IDLE_TICK_MS = 1000;
/** A timer that has not ticked for so long counts as dead. */
const TICK_LATE_MS = 10_000;
/** A clock that goes back by more than this was set, not adjusted. */
const CLOCK_BACK_MS = 1000;

export interface Ticker {
  /** Ticks soon: something may have become due. */
  wake(): void;
  isTicking(): boolean;
  stop(): void;
}

/**
 * `tick` returns in how many milliseconds something becomes due, or null. `onClockBack` is called before it when the
 * clock was set back.
 */
export function startTicker(
  { clock, log }: { clock: Clock; log: Pick<Logger, "warn" | "error"> },
  tick: (now: number) => Promise<number | null>,
  onClockBack: () => void,
): Ticker {
  let lastNow = clock.now();
  let isIdle = false;
  let isRunning = false;
  let isStopped = false;
  let isWoken = false;

  const run = async (): Promise<number | null> => {
    const now = clock.now();
    if (now < lastNow - CLOCK_BACK_MS) {
      log.warn({ milliseconds: lastNow - now }, "the clock went back");
      onClockBack();
    }
    lastNow = now;
    return tick(now);
  };
  // The timer is set again only after a tick has ended: one is under way at a time.
  const timer = clock.timer(async () => {
    isRunning = true;
    isWoken = false;
    let dueInMs: number | null = 0;
    try {
      dueInMs = await run();
    } catch (error) {
      log.error({ error: error instanceof Error ? error.stack : String(error) }, "a tick failed");
    }
    isRunning = false;
    if (!isStopped) setTimer(isWoken ? 0 : (dueInMs ?? IDLE_TICK_MS));
  });
  const setTimer = (milliseconds: number) => {
    isIdle = milliseconds > TICK_MS;
    timer.set(Math.min(Math.max(milliseconds, TICK_MS), IDLE_TICK_MS));
  };
  setTimer(0);

  return {
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
