// Results on stdout: text for a person, such as a table (text-table.ts), or one JSON document for a program.

import { formatMicros, type Micros } from "../domain/money.ts";
import { showHidden } from "../domain/text.ts";

/** 128 + SIGPIPE, the exit code that shells report for a broken pipe: `… | head -1`. */
const BROKEN_PIPE_EXIT = 141;
const BROKEN_PIPE = "EPIPE";

/** Prints `result` as JSON, or the text that `text` makes of it, with invisible characters made visible. */
export function print<T>(json: true | undefined, result: T, text: (result: T) => string): void {
  process.stdout.write(`${json ? JSON.stringify(result) : showHidden(text(result))}\n`);
}

/** One line on stderr for a person. */
export function printError(message: string): void {
  process.stderr.write(`${showHidden(message)}\n`);
}

/** The error of a command with --json: one JSON document on stderr, as the API's errors are. */
export function printFailure(message: string, code: string): void {
  process.stderr.write(`${JSON.stringify({ status: "error", code, message })}\n`);
}

/** A result that cannot be printed ends the process; the command itself is done by then and is not undone. */
let onOutputFailure = (code: string): void => {
  if (code === BROKEN_PIPE) process.exit(BROKEN_PIPE_EXIT);
  printError(`error: the result cannot be printed (${code}); what was asked for was done`);
  process.exit(1);
};

/** Handles write errors of stdout and stderr for the whole program; without it they would be uncaught exceptions. */
export function watchOutput(): void {
  process.stdout.on("error", ({ code = "" }: NodeJS.ErrnoException) => onOutputFailure(code));
  process.stderr.on("error", () => {});
}

/** Replaces the exit: a server continues, because what it prints is not its purpose. */
export function handleOutputFailure(handle: (code: string) => void): void {
  onOutputFailure = handle;
}

/** An amount for a person: at least two decimals, so that columns of them line up. */
export function dollars(micros: Micros): string {
  const [whole, decimals = ""] = formatMicros(micros).split(".");
  return `${whole}.${decimals.padEnd(2, "0")}`;
}

const AGE_UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
] as const;

/** `42s`, `5m`, `3h`, `12d`: the largest unit of which there is a whole one. */
export function ageText(ms: number): string {
  const [unit, length] = AGE_UNITS.find(([, least]) => ms >= least) ?? ["s", 1000];
  return `${Math.max(Math.floor(ms / length), 0)}${unit}`;
}
