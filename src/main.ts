// argv → command.

import { watchOutput } from "./cli/output.ts";
import { run } from "./cli/program.ts";

// What this process creates is for its owner alone.
process.umask(0o077);
watchOutput();

const exitCode = await run(process.argv.slice(2));
if (exitCode !== undefined) process.exitCode = exitCode;
