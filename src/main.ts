// argv → command.

import { run } from "./cli/program.ts";

// What this process creates is for its owner alone.
process.umask(0o077);
const exitCode = await run(process.argv.slice(2));
if (exitCode !== undefined) process.exitCode = exitCode;
