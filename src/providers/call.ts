// One HTTP call to a provider, docs/specification.md#provider-calls. The only place that calls fetch.
// It distinguishes what was certainly not sent, or was refused with a 429, from what may have been sent, and limits how much of a reply is read.

import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { errorCode } from "../domain/refusals.ts";

/** The only encoding in Accept-Encoding. */
const GZIP = "gzip";
/** x-gzip is an older name of gzip: RFC 9110, 8.4.1.3. */
const GZIP_NAMES = new Set([GZIP, "x-gzip"]);
const IDENTITY = "identity";
const decompress = promisify(gunzip);

/** The provider's rate limit: the call had no effect, whatever the body of the reply. */
const TOO_MANY_REQUESTS = 429;

/** Maximum length of a reply, unless the call sets another. */
export const REPLY_LIMIT_BYTES = 1024 * 1024;

/**
 * Errors that Bun's fetch raises before a byte of the request was sent: no address, no connection, or an invalid
 * certificate. Any other error may come later: EPROTO means a failed handshake, but also a TLS error within the reply.
 */
const NOT_SENT_CODES = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "CERT_REVOKED",
  "CERT_UNTRUSTED",
  "ERR_TLS_CERT_ALTNAME_INVALID",
]);

export interface CallOptions {
  stop: AbortSignal;
  /** True for a call with an effect: it uses a new connection, because fetch may resend a request on a reused one. */
  once?: boolean;
  limitBytes?: number;
  onBytes?: (bytes: number) => void;
}

/** `json`: the body is JSON and the status is neither a redirect nor 429. `failure`: everything else. */
export type Reply =
  | { kind: "json"; status: number; json: unknown }
  | { kind: "failure"; failure: "not_sent" | "unanswered" | "unreadable"; cause: string };

/** Sends one form and reads the reply. Never rejects. */
export type Send = (form: Record<string, string>, options: CallOptions) => Promise<Reply>;

const utf8 = new TextDecoder("utf-8", { fatal: true });

export function createSender(url: string, timeoutMs: number): Send {
  return async (form, options) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([timeout, options.stop]);
    let answered = false;
    try {
      const response = await fetch(url, {
        method: "POST",
        body: new URLSearchParams(form),
        headers: { accept: "application/json", "accept-encoding": GZIP },
        // Bun itself would print a line on standard error for a reply that cannot be decompressed.
        decompress: false,
        redirect: "manual",
        keepalive: !options.once,
        tls: { rejectUnauthorized: true },
        signal,
      });
      answered = true;
      return await readReply(response, options);
    } catch (error) {
      if (timeout.aborted) return failure("unanswered", `no answer within ${timeoutMs / 1000} s`);
      if (options.stop.aborted) return failure("unanswered", "the service was stopped");
      const code = errorCode(error);
      const isNotSent = !answered && NOT_SENT_CODES.has(code);
      return failure(isNotSent ? "not_sent" : "unanswered", code || "the connection broke");
    }
  };
}

async function readReply(response: Response, options: CallOptions): Promise<Reply> {
  const { status } = response;
  if (status === TOO_MANY_REQUESTS) {
    // Not awaited: the status alone decides, also where the connection breaks in the body.
    response.body?.cancel().catch(() => {});
    return failure("not_sent", `HTTP ${status}`);
  }
  if (status >= 300 && status < 400) {
    await response.body?.cancel();
    return failure("unreadable", `HTTP ${status}, a redirect`);
  }
  const { limitBytes = REPLY_LIMIT_BYTES } = options;
  const tooLong = () => failure("unreadable", `HTTP ${status}, a reply that is too long`);
  const encoding = response.headers.get("content-encoding")?.trim().toLowerCase() ?? IDENTITY;
  const isGzip = GZIP_NAMES.has(encoding);
  if (encoding !== IDENTITY && !isGzip) {
    await response.body?.cancel();
    return failure("unreadable", `HTTP ${status}, a Content-Encoding that was not asked for`);
  }
  let bytes = await readBytes(response, limitBytes, options.onBytes);
  if (!bytes) return tooLong();
  if (isGzip) {
    try {
      bytes = await decompress(bytes, { maxOutputLength: limitBytes });
    } catch (error) {
      if (isTooLong(error)) return tooLong();
      return failure("unreadable", `HTTP ${status}, a reply that is not ${GZIP}`);
    }
  }
  try {
    return { kind: "json", status, json: JSON.parse(utf8.decode(bytes)) };
  } catch {
    return failure("unreadable", `HTTP ${status}, a reply that is not JSON`);
  }
}

function isTooLong(error: unknown): boolean {
  return errorCode(error) === "ERR_BUFFER_TOO_LARGE";
}

/** Null when the body is longer than the limit; the rest of it is not read. */
async function readBytes(
  response: Response,
  limitBytes: number,
  onBytes: CallOptions["onBytes"],
): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.byteLength;
    // Leaving the loop cancels the body, and with it the connection.
    if (length > limitBytes) return null;
    chunks.push(chunk);
    onBytes?.(length);
  }
  return Buffer.concat(chunks);
}

function failure(kind: "not_sent" | "unanswered" | "unreadable", cause: string): Reply {
  return { kind: "failure", failure: kind, cause };
}
