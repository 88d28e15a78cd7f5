// What the server does on SIGTERM, SIGINT, SIGHUP and SIGUSR1.

import type { Service } from "./serve.ts";

/** 128 + SIGINT, as shells count it. */
const SIGNAL_EXIT = 130;

/** `onFailure` is called when stopping fails. */
export function handleSignals(
  service: Pick<Service, "stop" | "backUpNow" | "reload">,
  onFailure: (error: unknown) => void,
): void {
  let stopping = false;
  const stop = () => {
    // The second one ends the process at once.
    if (stopping) process.exit(SIGNAL_EXIT);
    stopping = true;
    service.stop().then(() => process.exit(0), onFailure);
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  process.on("SIGUSR1", () => service.backUpNow());
  // With a terminal SIGHUP means that it was closed; without one it means, by convention, to reload.
  process.on("SIGHUP", process.stderr.isTTY ? stop : () => service.reload());
}
