// argv → command.

import { run } from "./cli/program.ts";

/** The reader of our output went away: nothing is left to tell it. */
const READER_GONE = "EPIPE";

// What this process creates is for its owner alone.
process.umask(0o077);

// The result is printed after the command is done: a stdout that fails takes nothing back.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === READER_GONE) process.exit(0);
  process.stderr.write(
    `error: the result cannot be printed (${error.code}); what was asked for was done\n`,
  );
  process.exit(1);
});
process.stderr.on("error", () => {});

const exitCode = await run(process.argv.slice(2));
if (exitCode !== undefined) process.exitCode = exitCode;
