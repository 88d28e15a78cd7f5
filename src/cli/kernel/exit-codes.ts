// The exit codes of the command line. docs/specification/command-line.md#cli-common.

import { CommanderError } from "commander";
import { ConfigError } from "../../config/flags.ts";

export const EXIT = {
  done: 0,
  /** Refused or failed. */
  refused: 1,
  wrongUsage: 2,
  /** `upgrade --check` found a newer release. */
  newerExists: 3,
  /** 128 + SIGPIPE, which shells report for a broken pipe: `… | head -1`. */
  brokenPipe: 141,
} as const;

/** Returns the exit code of a command that threw the error. Commander also throws after it printed help. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.wrongUsage;
  return error instanceof ConfigError ? EXIT.wrongUsage : EXIT.refused;
}
