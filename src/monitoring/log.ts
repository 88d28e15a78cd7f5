// The log: one JSON line for each event on stderr, or a line for a person on a terminal. It never contains a key or a body:
// code that logs passes neither, and values that a client chose go through maskKeys first.

import { format } from "node:util";
import pino from "pino";
import { maskKeys } from "../domain/users/keys.ts";
import { showHidden } from "../domain/values/text.ts";
import { openLogOutput } from "./log-output.ts";
import {
  createRequestLog,
  createTimestamp,
  type ReadRequest,
  REQUEST_END,
  type RequestLog,
  requestText,
} from "./request-line.ts";

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
  /** Lines lost since the start. */
  lostLines(): number;
  /** Called before the process ends. Resolves once the buffered lines are written or lost, at the latest after a second. */
  close(): Promise<void>;
}

/** Opens the log. `isColored`: on a terminal, unless the reader does not want colours. */
export function createLog(
  level: LogLevel,
  logFormat: LogFormat = "json",
  isColored = process.stderr.isTTY,
): Logger {
  const isPretty = logFormat === "pretty" || (logFormat === "auto" && process.stderr.isTTY);
  const timestamp = createTimestamp();
  const textOf = isPretty ? createFormatter(isColored) : (line: string) => line;
  const out = openLogOutput((lost) =>
    textOf(`{"level":"warn"${timestamp()},"lost":${lost},"msg":"${LOSS_MESSAGE}"}\n`),
  );
  const writeAtOnce = (line: string) => {
    out.write(textOf(line));
    out.flush();
  };
  // On a terminal each line is written at once.
  const lines = isPretty ? { write: writeAtOnce } : out;
  const logger = pino(
    {
      level,
      base: null,
      timestamp,
      formatters: { level: (label) => ({ level: label }) },
    },
    lines,
  );
  return {
    info: (fields, message) => logger.info(fields, message),
    warn(fields, message) {
      logger.warn(fields, message);
      out.flush();
    },
    error(fields, message) {
      logger.error(fields, message);
      out.flush();
    },
    requests(method, route) {
      if (!logger.isLevelEnabled("info")) return () => {};
      return createRequestLog(method, route, timestamp, (line) => lines.write(line));
    },
    lostLines: () => out.lostLines(),
    close: () => out.close(),
  };
}

/**
 * Turns output of libraries and the runtime into log lines. Written directly, it would not be JSON, and it would block the
 * process when standard error is a full pipe.
 */
export function logConsole(log: Logger): void {
  for (const method of ["debug", "error", "info", "log", "trace", "warn"] as const) {
    console[method] = (...parts: unknown[]) =>
      log.warn({ text: maskKeys(format(...parts)) }, `console.${method}`);
  }
  process.emitWarning = (warning: string | Error) =>
    log.warn({ text: maskKeys(String(warning)) }, "runtime warning");
}

/** Loads pino-pretty only when needed, because it would slow down the start of a server without a terminal. */
function createFormatter(isColored: boolean): (line: string) => string {
  const { prettyFactory } = require("pino-pretty") as typeof import("pino-pretty");
  const common = { colorize: isColored, singleLine: true, translateTime: "UTC:HH:MM:ss.l" };
  const lineOf = prettyFactory(common);
  const requestLineOf = prettyFactory({
    ...common,
    // If the object is hidden, `singleLine` would leave out the end of the line.
    singleLine: false,
    hideObject: true,
    messageFormat: (line) => requestText(line as unknown as ReadRequest),
  });
  return (line) => (line.endsWith(REQUEST_END) ? requestLineOf : lineOf)(showHidden(line));
}
