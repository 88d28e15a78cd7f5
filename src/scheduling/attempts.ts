// Attempts of one server that are in flight, and those that have ended and are not recorded yet.

export interface Attempts<Due, Ended> {
  begin(due: Due): void;
  /** Returns the number of attempts in flight. */
  count(): number;
  /** Returns the attempts that have ended since the last call. */
  takeEnded(): Ended[];
  /** Resolves when no attempt is in flight. */
  idle(): Promise<void>;
}

/**
 * Creates the attempts of one server, none in flight. `make` makes one, must not reject, and resolves with null if it
 * is not recorded. `onEnded` is called after each attempt.
 */
export function createAttempts<Due, Ended>(
  make: (due: Due) => Promise<Ended | null>,
  onEnded: () => void,
): Attempts<Due, Ended> {
  const inFlight = new Set<Promise<void>>();
  let ended: Ended[] = [];
  return {
    begin(due) {
      const running = make(due)
        .then((each) => {
          if (each !== null) ended.push(each);
        })
        .finally(() => {
          inFlight.delete(running);
          onEnded();
        });
      inFlight.add(running);
    },
    count: () => inFlight.size,
    takeEnded() {
      const taken = ended;
      ended = [];
      return taken;
    },
    async idle() {
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
  };
}
