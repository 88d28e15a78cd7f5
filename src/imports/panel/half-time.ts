// The pace of an import beside a server: it works at most half of the time, so that requests are not kept waiting.

/** Time for which an import works before it rests. */
const WORK_MS = 2;

/** Returns what an import calls after each piece of work. It rests as long as the import has worked. */
export function halfTime(): () => Promise<void> {
  let workedFrom = performance.now();
  return async () => {
    const worked = performance.now() - workedFrom;
    if (worked < WORK_MS) return;
    await Bun.sleep(worked);
    workedFrom = performance.now();
  };
}
