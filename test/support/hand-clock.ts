// A clock that stands still until a test moves it, and that a test may set, as an administrator sets a machine's.

import type { Clock } from "../../src/scheduling/clock.ts";

export interface HandClock extends Clock {
  /** Lets that much time pass: every timer that is due calls back, in order, each with all that follows from it. */
  pass(milliseconds: number): Promise<void>;
  /** Lets that much time pass at once, as on a machine that was suspended: timers that became due are late. */
  leap(milliseconds: number): void;
  /** Sets the wall clock; timers do not notice. */
  jump(milliseconds: number): void;
}

interface ClockOptions {
  start?: number;
  /** Awaited before each timer and at the end, until everything that began has ended. */
  settle?: () => Promise<void>;
}

export function createHandClock({
  start = Date.UTC(2026, 0, 1),
  settle = () => turns(5),
}: ClockOptions = {}): HandClock {
  let elapsed = 0;
  let offset = start;
  const timers = new Set<{ at: number; callback: () => void }>();
  const after = (milliseconds: number, callback: () => void) => {
    const timer = { at: elapsed + Math.max(0, milliseconds), callback };
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  return {
    now: () => offset + elapsed,
    after,
    timer(callback) {
      let cancel = () => {};
      return {
        set(milliseconds) {
          cancel();
          cancel = after(milliseconds, callback);
        },
        clear: () => cancel(),
      };
    },
    async pass(milliseconds) {
      const end = elapsed + milliseconds;
      for (;;) {
        await settle();
        const [next] = [...timers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at);
        if (!next) break;
        timers.delete(next);
        elapsed = Math.max(elapsed, next.at);
        next.callback();
      }
      elapsed = end;
    },
    leap: (milliseconds) => void (elapsed += milliseconds),
    jump: (milliseconds) => void (offset += milliseconds),
  };
}

/** Lets promises and what they lead to go on. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate);
}
