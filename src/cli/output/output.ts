// Prints results on stdout: text for a person, such as a table (text-table.ts), or one JSON document for a program.

import { formatMicros, type Micros } from "../../domain/ledger/money.ts";
import { showHidden } from "../../domain/values/text.ts";
import { MINUTE_MS, HOUR_MS, DAY_MS } from "../../domain/values/spans.ts";
import { EXIT } from "../kernel/exit-codes.ts";

const BROKEN_PIPE = "EPIPE";

/** Prints `result` as JSON, or the text that `text` makes of it. Invisible characters in that text are made visible. */
export function print<T>(json: true | undefined, result: T, text: (result: T) => string): void {
  process.stdout.write(`${json ? JSON.stringify(result) : showHidden(text(result))}\n`);
}

/** Prints one line on stderr for a person. */
export function printError(message: string): void {
  process.stderr.write(`${showHidden(message)}\n`);
}

/** Prints the error of a command with --json: one JSON document on stderr, in the form of the API's errors. */
export function printFailure(message: string, code: string, rows: readonly string[] = []): void {
  const failure = { status: "error", code, message, ...(rows.length > 0 ? { rows } : {}) };
  process.stderr.write(`${JSON.stringify(failure)}\n`);
}

/** Handles a result that cannot be printed: ends the process. The command has succeeded by then and is not undone. */
let onOutputFailure = (code: string): void => {
  if (code === BROKEN_PIPE) process.exit(EXIT.brokenPipe);
  printError(`error: the result cannot be printed (${code}), but the command succeeded`);
  process.exit(EXIT.refused);
};

/** Handles write errors of stdout and stderr for the whole program. Otherwise they would be uncaught exceptions. */
export function watchOutput(): void {
  process.stdout.on("error", ({ code = "" }: NodeJS.ErrnoException) => onOutputFailure(code));
  process.stderr.on("error", () => {});
}

/** Sets what happens when a result cannot be printed. A server continues instead of exiting. */
export function handleOutputFailure(handle: (code: string) => void): void {
  onOutputFailure = handle;
}

/** Returns a time in ISO 8601, or null for null. */
export function isoTime(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}

/** Formats an amount for a person, with at least two decimals, so that columns align. */
export function dollars(micros: Micros): string {
  const [whole, decimals = ""] = formatMicros(micros).split(".");
  return `${whole}.${decimals.padEnd(2, "0")}`;
}

const AGE_UNITS = [
  ["d", DAY_MS],
  ["h", HOUR_MS],
  ["m", MINUTE_MS],
] as const;

/** Returns `42s`, `5m`, `3h` or `12d`, in the largest unit that fits at least once. */
export function ageText(ms: number): string {
  const [unit, length] = AGE_UNITS.find(([, least]) => ms >= least) ?? ["s", 1000];
  return `${Math.max(Math.floor(ms / length), 0)}${unit}`;
}
