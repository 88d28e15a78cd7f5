// The log: one JSON line an event on stderr. Never a key, never a body.

import pino from "pino";

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Lines wait for this many bytes or milliseconds; a warning or an error goes out at once. */
const BUFFER_BYTES = 8 * 1024;
const FLUSH_MILLISECONDS = 250;

export interface Logger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** Writes what waits. */
  flush(): void;
}

export function createLog(level: LogLevel): Logger {
  const destination = pino.destination({
    dest: 2,
    sync: false,
    minLength: BUFFER_BYTES,
    periodicFlush: FLUSH_MILLISECONDS,
  });
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  const flush = () => destination.flushSync();
  return {
    info: (fields, message) => logger.info(fields, message),
    warn(fields, message) {
      logger.warn(fields, message);
      flush();
    },
    error(fields, message) {
      logger.error(fields, message);
      flush();
    },
    flush,
  };
}
