// The entry point: runs the command line.

import { watchOutput } from "./cli/output/output.ts";
import { run } from "./cli/kernel/program.ts";

// Files that this process creates are readable by their owner only.
process.umask(0o077);
watchOutput();
// If a server started this process and paces it, tells it that the process is running (jobs/paced-process.ts).
process.send?.("running");

void run(process.argv.slice(2)).then((exitCode) => {
  if (exitCode !== undefined) process.exitCode = exitCode;
});
