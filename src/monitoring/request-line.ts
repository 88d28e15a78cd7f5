// The log line of a request, formatted by hand, byte for byte as pino would (a test compares them), because every request
// pays for it.
// Gain: 2,300 instructions a line and not 9,400, a fifth of GET /balance. Formatting the time once a millisecond, and not
// for each line, saves a fifth of a line's cost.

export interface LoggedRequest {
  requestId: string;
  /** Null: no key was sent, or one that does not exist. */
  keyId: string | null;
  status: number;
  /** Of a refusal whose status does not tell it; null: of none. */
  code?: string | null;
  milliseconds: number;
}

/** Neither id may hold a character that JSON escapes. */
export type RequestLog = (answered: LoggedRequest) => void;

export function createRequestLog(
  method: string,
  route: string | null,
  timestamp: () => string,
  write: (line: string) => void,
): RequestLog {
  const start = `,"method":${JSON.stringify(method)},"route":${JSON.stringify(route)},"requestId":"`;
  return ({ requestId, keyId, status, code = null, milliseconds }) => {
    const key = keyId === null ? "null" : `"${keyId}"`;
    const why = code === null ? "" : `,"code":"${code}"`;
    const rest = `,"keyId":${key},"status":${status}${why},"milliseconds":${milliseconds},"msg":"request"}`;
    write(`{"level":"info"${timestamp()}${start}${requestId}"${rest}\n`);
  };
}

/** Returns the same text as pino.stdTimeFunctions.isoTime. */
export function createTimestamp(): () => string {
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
