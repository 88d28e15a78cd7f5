// Handles SIGTERM, SIGINT, SIGHUP and SIGUSR1.

import type { Service } from "./serve.ts";

/** Exit code 128 + SIGINT, as in shells. */
const SIGNAL_EXIT = 130;
/**
 * Time within which signals count as one: with a script runner a Ctrl-C arrives twice, from the terminal and from the
 * runner.
 */
const SAME_MS = 500;

/** Installs the signal handlers. `onFailure` is called when stopping fails. */
export function handleSignals(
  service: Pick<Service, "stop" | "backUpNow" | "reload">,
  onFailure: (error: unknown) => void,
): void {
  let since: number | null = null;
  const stop = () => {
    // The second signal ends the process at once.
    if (since !== null) {
      if (performance.now() - since >= SAME_MS) process.exit(SIGNAL_EXIT);
      return;
    }
    since = performance.now();
    service.stop().then(() => process.exit(0), onFailure);
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  process.on("SIGUSR1", () => service.backUpNow());
  // With a terminal, SIGHUP means that the terminal was closed; without one it means by convention: reload.
  process.on("SIGHUP", process.stderr.isTTY ? stop : () => service.reload());
}
