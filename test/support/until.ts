// Waits for a condition, for as long as it takes: no test fails because a machine is slow. One that hangs is ended by the
// limit of all tests.

const POLL_MS = 5;
/** From then on it is told what is waited for: the end of a test that hangs does not say it. */
const LONG_MS = 120_000;

export async function until(holds: () => boolean | Promise<boolean>, what = String(holds)) {
  const report = setInterval(() => console.error(`still waiting: ${what}`), LONG_MS);
  try {
    while (!(await holds())) await Bun.sleep(POLL_MS);
  } finally {
    clearInterval(report);
  }
}
