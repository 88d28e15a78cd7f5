// Time as the fulfilment sees it: given, so that a simulation can hold it still, jump it, and replay it.

export interface Clock {
  /** Milliseconds since 1970. May jump either way. */
  now(): number;
  /** Calls back once after that many milliseconds; the returned function calls it off. */
  after(milliseconds: number, callback: () => void): () => void;
  /** A timer that is not set yet and calls back once each time it is. */
  timer(callback: () => void): Timer;
}

export interface Timer {
  /** Calls back after that many milliseconds, in place of what was set before. */
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
