// The log: one JSON line for each event on stderr, or a line for a person on a terminal. It never contains a key or a
// body: code that logs passes neither, and values that a client chose go through maskKeys first.

import { format } from "node:util";
import { maskKeys } from "../domain/users/keys.ts";
import { openLogOutput } from "./log-output.ts";
import { prettyLine } from "./pretty-line.ts";
import { createRequestLog, createTimestamp, type RequestLog } from "./request-line.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export const LOG_FORMATS = ["auto", "json", "pretty"] as const;
/** `auto` is pretty on a terminal and json elsewhere. */
export type LogFormat = (typeof LOG_FORMATS)[number];

const LOSS_MESSAGE = "log lines were lost: standard error did not accept them";

export interface Logger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** Logs each answered request of a method and a route. */
  requests(method: string, route: string | null): RequestLog;
  lostLines(): number;
  /**
   * Called before the process ends. Resolves once the buffered lines are written or lost, at the latest after a second.
   */
  close(): Promise<void>;
}

/** Opens the log. `isColored`: whether lines for a person have colours. */
export function createLog(
  level: LogLevel,
  logFormat: LogFormat = "json",
  isColored = process.stderr.isTTY,
): Logger {
  const isPretty = logFormat === "pretty" || (logFormat === "auto" && process.stderr.isTTY);
  const timestamp = createTimestamp();
  const textOf = (line: string) => (isPretty ? prettyLine(line, isColored) : line);
  const out = openLogOutput((lost) =>
    textOf(`{"level":"warn"${timestamp()},"lost":${lost},"msg":"${LOSS_MESSAGE}"}\n`),
  );
  const writeAtOnce = (line: string) => {
    out.write(textOf(line));
    out.flush();
  };
  // On a terminal each line is written at once.
  const lines = isPretty ? { write: writeAtOnce } : out;
  const isLogged = (which: LogLevel) => LOG_LEVELS.indexOf(which) >= LOG_LEVELS.indexOf(level);
  const log = (which: LogLevel, fields: object, message: string) => {
    if (!isLogged(which)) return;
    const rest = JSON.stringify({ ...fields, msg: message }, textOfBigInt).slice(1);
    lines.write(`{"level":"${which}"${timestamp()},${rest}\n`);
    if (which !== "info") out.flush();
  };
  return {
    info: (fields, message) => log("info", fields, message),
    warn: (fields, message) => log("warn", fields, message),
    error: (fields, message) => log("error", fields, message),
    requests(method, route) {
      if (!isLogged("info")) return () => {};
      return createRequestLog(method, route, timestamp, (line) => lines.write(line));
    },
    lostLines: () => out.lostLines(),
    close: () => out.close(),
  };
}

/**
 * Turns output of libraries and the runtime into log lines. Written directly, it would not be JSON, and it would block
 * the process when standard error is a full pipe.
 */
export function logConsole(log: Logger): void {
  for (const method of ["debug", "error", "info", "log", "trace", "warn"] as const) {
    console[method] = (...parts: unknown[]) =>
      log.warn({ text: maskKeys(format(...parts)) }, `console.${method}`);
  }
  process.emitWarning = (warning: string | Error) =>
    log.warn({ text: maskKeys(String(warning)) }, "runtime warning");
}

/** Replaces a BigInt, which JSON cannot hold, with its text. */
function textOfBigInt(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
