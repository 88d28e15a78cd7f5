// Runs a job that may be requested at any time. Runs do not overlap: all requests during a run lead to one more run.

export interface OneAtATime {
  /** Requests a run; resolves when the run that serves this request has ended. */
  run(): Promise<void>;
  /** Resolves when no run is in progress. */
  idle(): Promise<void>;
}

/** Makes the runner of a job, which must not throw. */
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
