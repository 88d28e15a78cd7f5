// Makes HTTP calls to providers: docs/specification/providers.md#provider-calls. Distinguishes calls that certainly had
// no effect (not sent, or refused with a 429) from calls that may have had one. Limits how much of a reply is read.

import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { errorCode } from "../domain/values/error-table.ts";
import { SHORTAGE_CODES } from "../domain/values/shortages.ts";
import { parseList, parseReply, startOfList, UnreadableJson } from "./reply-json.ts";

/** The only encoding in Accept-Encoding. */
const GZIP = "gzip";
/** x-gzip is an older name of gzip: RFC 9110, 8.4.1.3. */
const GZIP_NAMES = new Set([GZIP, "x-gzip"]);
const IDENTITY = "identity";
const decompress = promisify(gunzip);

/** The status of a call refused by the provider's rate limit. Such a call had no effect, whatever its body says. */
const TOO_MANY_REQUESTS = 429;

/** Maximum length of a reply, unless the call sets another. A reply of this length is parsed in a few milliseconds. */
export const REPLY_LIMIT_BYTES = 64 * 1024;

/**
 * Errors that Bun's fetch raises only before a byte of the request was sent: no address, no descriptor or port for a
 * connection, no connection, or an invalid certificate. Other errors may also come later. EPROTO is a failed handshake
 * or a TLS error within the reply; ETIMEDOUT is a connection that was not made or one that broke.
 */
const NOT_SENT_CODES = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EADDRINUSE",
  "EAFNOSUPPORT",
  "EHOSTUNREACH",
  "EHOSTDOWN",
  "ENETUNREACH",
  "ENETDOWN",
  // Refused by this machine's firewall or service manager.
  "EACCES",
  "EPERM",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "CERT_REJECTED",
  "CERT_REVOKED",
  "CERT_UNTRUSTED",
  "CERT_CHAIN_TOO_LONG",
  "CERT_SIGNATURE_FAILURE",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "HOSTNAME_MISMATCH",
  "INVALID_CA",
  "INVALID_PURPOSE",
  "PATH_LENGTH_EXCEEDED",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY",
  "UNABLE_TO_DECRYPT_CERT_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** Classifies an error that came before the reply. */
function unansweredBy(code: string): Failure {
  if (SHORTAGE_CODES.includes(code)) return "not_called";
  // Look-ups of names fail with EAI_AGAIN, EAI_FAIL, EAI_SYSTEM and others.
  return NOT_SENT_CODES.has(code) || code.startsWith("EAI_") ? "not_sent" : "unanswered";
}

export interface CallOptions {
  stop: AbortSignal;
  /** True for a call with an effect. It gets a new connection, because fetch may resend a request on a reused one. */
  once?: boolean;
  limitBytes?: number;
  /**
   * True if the reply may be a list as long as `limitBytes`. A reply that is not a list is limited to REPLY_LIMIT_BYTES
   * anyway.
   */
  isList?: boolean;
  onBytes?: (bytes: number) => void;
}

/** The reply: JSON with a status that is neither a redirect nor 429, or the failure that prevented it. */
export type Reply =
  | { kind: "json"; status: number; json: unknown }
  | { kind: "failure"; failure: Failure; cause: string };

/**
 * Why there is no JSON. A cause may contain the reply, so it is masked before anything else. `not_called`: this machine lacked a resource for the call. `not_sent`: the call had no effect.
 */
export type Failure = "not_called" | "not_sent" | "unanswered" | "unreadable";

/** Sends one form and reads the reply. Never rejects. */
export type Send = (form: Record<string, string>, options: CallOptions) => Promise<Reply>;

/**
 * Number of calls of this process in flight, and its limit. Each takes a file descriptor, and the rest of the process
 * needs some.
 */
const calls = { inFlight: 0, limit: Infinity };

export function limitCalls(limit: number): void {
  calls.limit = limit;
}

/** Answers a form in the name of a provider. Returns JSON. */
export type InnerProvider = (form: URLSearchParams) => unknown;

/** The provider that is part of this process, by its URL, and whether it is the only one that may be called. */
let inner: { url: string; answer: InnerProvider; isOnly: boolean } | null = null;

/**
 * Answers calls to a URL in this process, without a connection. `isOnly`: no other address is called, as in a demo that
 * anybody may use.
 */
export function answerCalls(url: string, answer: InnerProvider, isOnly: boolean): void {
  inner = { url, answer, isOnly };
}

export function createSender(url: string, timeoutMs: number): Send {
  return async (form, options) => {
    if (calls.inFlight >= calls.limit)
      return failure("not_called", "too many calls are in progress");
    calls.inFlight++;
    return send(url, timeoutMs, form, options).finally(() => calls.inFlight--);
  };
}

async function send(
  url: string,
  timeoutMs: number,
  form: Record<string, string>,
  options: CallOptions,
): Promise<Reply> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([timeout, options.stop]);
  let answered = false;
  const body = new URLSearchParams(form);
  if (inner?.url === url) return { kind: "json", status: 200, json: inner.answer(body) };
  if (inner?.isOnly) return failure("not_sent", "this demo calls no other server");
  try {
    const response = await fetch(url, {
      method: "POST",
      body,
      headers: { accept: "application/json", "accept-encoding": GZIP },
      // Off, because Bun prints a line on standard error for a reply that it cannot decompress.
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
    if (options.stop.aborted) return failure("unanswered", "the server was stopped");
    const code = errorCode(error);
    return failure(answered ? "unanswered" : unansweredBy(code), code || "the connection broke");
  }
}

async function readReply(response: Response, options: CallOptions): Promise<Reply> {
  const { status } = response;
  if (status === TOO_MANY_REQUESTS) {
    // Not awaited: the status decides, even if the connection breaks in the body.
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
    return failure("unreadable", `HTTP ${status}, an unexpected Content-Encoding`);
  }
  let bytes = await readBytes(response, limitBytes, options.onBytes);
  if (!bytes) return tooLong();
  if (isGzip) {
    try {
      bytes = await decompress(bytes, { maxOutputLength: limitBytes });
    } catch (error) {
      if (isTooLong(error)) return tooLong();
      return failure("unreadable", `HTTP ${status}, a response that is not ${GZIP}`);
    }
  }
  const isList = options.isList === true && startOfList(bytes) >= 0;
  if (options.isList === true && !isList && bytes.length > REPLY_LIMIT_BYTES) return tooLong();
  try {
    return { kind: "json", status, json: isList ? await parseList(bytes) : parseReply(bytes) };
  } catch (error) {
    if (!(error instanceof UnreadableJson)) throw error;
    const shown = isList ? "" : shownText(bytes);
    return failure("unreadable", `HTTP ${status}, a reply that is ${error.message}${shown}`);
  }
}

// oxlint-disable-next-line no-control-regex -- control characters are what it finds
const NOT_TEXT = /[\u0000-\u0008\u000e-\u001f]/;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Returns a reply that is a text, such as the error page of a proxy, for the operator who must find out what happened.
 * The caller masks the key in it and cuts it (mask.ts). In other encodings the key would not be recognised.
 */
function shownText(bytes: Uint8Array): string {
  try {
    const text = utf8.decode(bytes).trim();
    return text === "" || NOT_TEXT.test(text) ? "" : `: ${text}`;
  } catch {
    return "";
  }
}

function isTooLong(error: unknown): boolean {
  return errorCode(error) === "ERR_BUFFER_TOO_LARGE";
}

/** Reads the body. Returns null as soon as it is longer than the limit. */
async function readBytes(
  response: Response,
  limitBytes: number,
  onBytes: CallOptions["onBytes"],
): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.byteLength;
    // Leaving the loop cancels the body and closes the connection.
    if (length > limitBytes) return null;
    chunks.push(chunk);
    onBytes?.(length);
  }
  return Buffer.concat(chunks);
}

function failure(kind: Failure, cause: string): Reply {
  return { kind: "failure", failure: kind, cause };
}
