// The clock of deliveries, injected so that a simulation can stop it, let it jump and replay it.

export interface Clock {
  /** Milliseconds since 1970. May jump forward or back. */
  now(): number;
  /** Calls back once after this many milliseconds; the returned function cancels the call. */
  after(milliseconds: number, callback: () => void): () => void;
  /** Makes a timer, not set yet, that calls back once each time it is set. */
  timer(callback: () => void): Timer;
}

export interface Timer {
  /** Calls back after this many milliseconds; replaces an earlier setting. */
  set(milliseconds: number): void;
  clear(): void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
  timer(callback) {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const clear = () => clearTimeout(timer);
    return {
      set(milliseconds) {
        clear();
        timer = setTimeout(callback, milliseconds);
      },
      clear,
    };
  },
};

export function sleep(clock: Clock, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(milliseconds, resolve);
  });
}
