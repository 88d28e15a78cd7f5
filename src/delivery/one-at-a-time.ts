// A job that is requested at any time: one run is under way at a time, and requests meanwhile are one more run after it.

export interface OneAtATime {
  /** Resolves when the run that this request led to has ended. `job` must not throw. */
  run(): Promise<void>;
  /** Resolves when no run is under way. */
  idle(): Promise<void>;
}

export function oneAtATime(job: () => Promise<void>): OneAtATime {
  let running: Promise<void> | null = null;
  let isRequested = false;
  const runAll = async () => {
    try {
      do {
        isRequested = false;
        await job();
      } while (isRequested);
    } finally {
      running = null;
    }
  };
  return {
    run() {
      isRequested = true;
      return (running ??= runAll());
    },
    idle: async () => running ?? undefined,
  };
}
