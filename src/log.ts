// The log: one JSON line an event on stderr, or a line for a person on a terminal. Never a key, never a body:
// callers pass neither, and what a caller of ours chose itself goes through maskKeys first.

import pino from "pino";
import { SonicBoom } from "sonic-boom";

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export const LOG_FORMATS = ["auto", "json", "pretty"] as const;
/** auto: pretty on a terminal, json elsewhere. */
export type LogFormat = (typeof LOG_FORMATS)[number];

/** Lines wait for this many characters or milliseconds; a warning or an error goes out at once. */
const BUFFER_LENGTH = 64 * 1024;
const FLUSH_MILLISECONDS = 250;

const STDERR = 2;

export interface Logger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /**
   * What notes each answered request of a method and a route, in the line that pino would write: every request pays
   * for it, and pino takes 9,400 instructions, a fifth of GET /balance, where this takes 2,300.
   */
  requests(method: string, route: string | null): RequestLog;
  /** Writes what waits. */
  flush(): void;
}

/** Both ids have no character that JSON escapes. */
export interface AnsweredRequest {
  requestId: string;
  /** Null: no key was offered, or one that does not exist. */
  keyId: string | null;
  status: number;
  milliseconds: number;
}

export type RequestLog = (answered: AnsweredRequest) => void;

export function createLog(level: LogLevel, format: LogFormat = "json"): Logger {
  const isPretty = format === "pretty" || (format === "auto" && process.stderr.isTTY);
  const out = standardError();
  const lines = isPretty ? prettily(out) : out;
  const timestamp = createClock();
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
      const start = `,"method":${JSON.stringify(method)},"route":${JSON.stringify(route)},"requestId":"`;
      return ({ requestId, keyId, status, milliseconds }) => {
        const key = keyId === null ? "null" : `"${keyId}"`;
        const rest = `,"keyId":${key},"status":${status},"milliseconds":${milliseconds},"msg":"request"}`;
        lines.write(`{"level":"info"${timestamp()}${start}${requestId}"${rest}\n`);
      };
    },
    flush: () => out.flush(),
  };
}

/** pino's own isoTime, but written anew once a millisecond and not for each line: a fifth of what a line costs. */
function createClock(): () => string {
  let at = 0;
  let text = "";
  return () => {
    const now = Date.now();
    if (now !== at) {
      at = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}

/** For a person, who watches it happen: nothing waits. Loaded here only: a server without a terminal starts without it. */
function prettily(out: { write(line: string): void; flush(): void }) {
  const { prettyFactory } = require("pino-pretty") as typeof import("pino-pretty");
  const lineOf = prettyFactory({
    colorize: process.stderr.isTTY,
    singleLine: true,
    translateTime: "UTC:HH:MM:ss.l",
  });
  return {
    write(line: string) {
      out.write(lineOf(line));
      out.flush();
    },
  };
}

/**
 * Writes in the background: a log reader that stands still holds up no request. Lines are put together before they
 * are handed on: the stream's own counting of each cost as much as making the line.
 */
function standardError() {
  const stream = new SonicBoom({
    fd: STDERR,
    sync: false,
    maxWrite: 2 * BUFFER_LENGTH,
  });
  const urgent = new SonicBoom({ fd: STDERR, sync: true });
  let lines = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  const handOn = () => {
    clearTimeout(timer);
    timer = undefined;
    if (lines !== "") stream.write(lines);
    lines = "";
  };
  return {
    write(line: string) {
      lines += line;
      if (lines.length >= BUFFER_LENGTH) handOn();
      else timer ??= setTimeout(handOn, FLUSH_MILLISECONDS).unref();
    },
    /** Past the background: what is being written there is lost when the process ends right after this. */
    flush() {
      stream.flushSync();
      if (lines !== "") urgent.write(lines);
      lines = "";
    },
  };
}
