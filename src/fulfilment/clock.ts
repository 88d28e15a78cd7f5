// Time as the fulfilment sees it: given, so that a simulation can hold it still, jump it, and replay it.

export interface Clock {
  /** Milliseconds since 1970. May jump either way. */
  now(): number;
  /** Calls back once after that many milliseconds; the returned function calls it off. */
  after(milliseconds: number, callback: () => void): () => void;
  /** Calls back again and again; a call that throws does not end it. */
  every(milliseconds: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
  every(milliseconds, callback) {
    const timer = setInterval(callback, milliseconds);
    return () => clearInterval(timer);
  },
};

export function sleep(clock: Clock, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(milliseconds, resolve);
  });
}
