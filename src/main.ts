// The entry point: runs the command line.

import { watchOutput } from "./cli/output/output.ts";
import { run } from "./cli/kernel/program.ts";

// Files that this process creates are readable by their owner only.
process.umask(0o077);
watchOutput();
// Tells the server that paces this process, if one does, that the process runs (jobs/paced-process.ts).
process.send?.("running");

void run(process.argv.slice(2)).then((exitCode) => {
  if (exitCode !== undefined) process.exitCode = exitCode;
});
