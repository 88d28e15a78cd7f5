// Sends one request of a webhook: docs/specification/webhooks.md#webhook-deliveries. The request goes only to the
// address that was checked: redirects are not followed and no proxy is used.

import { errorCode } from "../domain/values/error-table.ts";
import { SHORTAGE_CODES } from "../domain/values/shortages.ts";
import { parseRetryAfter } from "../domain/webhooks/webhook-schedule.ts";
import { exchange, type ExchangeReply } from "./exchange.ts";
import { signatureHeader } from "./signing.ts";
import { findTarget, type Resolve, type TargetPolicy } from "./targets.ts";

/** Limit in milliseconds from the look-up of the name to the end of the reply. */
export const EXCHANGE_MS = 15_000;
/** Limit for the bytes of a reply that are read. */
export const REPLY_READ_BYTES = 16 * 1024;
/** Limit for the bytes of its body that are kept. */
const REPLY_KEPT_BYTES = 1024;

/** Why an attempt failed: one stable word each, shown to the reseller. */
export type WebhookFailure =
  /** The URL may not be requested: plain http is no longer allowed. */
  | "url_not_allowed"
  /** The name has no address. */
  | "dns"
  /** The name has an address that is not public. */
  | "blocked_address"
  /** No connection, or it broke, or the reply was not HTTP. */
  | "connection"
  | "tls"
  | "timeout"
  | "redirect"
  /** A status that is neither 2xx nor 3xx. */
  | "status"
  /** An error of this server (see its log), or this machine had no file descriptor or port for a connection. */
  | "internal"
  /** The server was stopped during the attempt. Nothing is recorded; the attempt is made again. */
  | "stopped";

/** Where an alert goes: to a Telegram chat, with the bot's token as its secret. Null: to the URL, in any network. */
export interface AlertTarget {
  telegramChat: string | null;
}

export interface WebhookRequest {
  url: string;
  secrets: readonly string[];
  eventId: string;
  /** JSON as it was stored with the event. */
  body: string;
  /** Set for an alert to the operator. */
  alert?: AlertTarget;
}

export interface WebhookReply {
  /** Null if no reply arrived. */
  httpStatus: number | null;
  /** Null if delivered. */
  error: WebhookFailure | null;
  /** The beginning of the reply's body. */
  response: string | null;
  retryAfterSeconds: number | null;
}

/** Sends one request. Never rejects. */
export type SendWebhook = (request: WebhookRequest, stop: AbortSignal) => Promise<WebhookReply>;

export interface SenderOptions {
  policy: TargetPolicy;
  now: () => number;
  resolve?: Resolve;
  /** Certificates (PEM) to trust instead of the system's. */
  ca?: string;
  timeoutMs?: number;
}

export function createWebhookSender(options: SenderOptions): SendWebhook {
  const { policy, now, resolve, timeoutMs = EXCHANGE_MS } = options;
  return async (request, stop) => {
    const giveUp = new AbortController();
    const abort = () => giveUp.abort();
    const timer = setTimeout(abort, timeoutMs);
    stop.addEventListener("abort", abort);
    if (stop.aborted) abort();
    const failedBy = (failure: WebhookFailure): WebhookReply =>
      failed(stop.aborted ? "stopped" : giveUp.signal.aborted ? "timeout" : failure);
    try {
      const target = await unlessAborted(findTarget(request.url, policy, resolve), giveUp.signal);
      if ("refused" in target) return failedBy(target.refused);
      const response = await post(target.address, request, options, giveUp.signal);
      return replyOf(response, now());
    } catch (error) {
      return failedBy(failureOfError(error));
    } finally {
      clearTimeout(timer);
      stop.removeEventListener("abort", abort);
    }
  };
}

/** Sends to the address that was checked. The name is not resolved again, and each request has its own connection. */
function post(
  address: string,
  { url, secrets, eventId, body }: WebhookRequest,
  { now, ca }: SenderOptions,
  signal: AbortSignal,
): Promise<ExchangeReply> {
  const bytes = new TextEncoder().encode(body);
  const timestamp = Math.floor(now() / 1000);
  const request = {
    url: new URL(url),
    address,
    body: bytes,
    headers: {
      accept: "*/*",
      "accept-encoding": "identity",
      "content-type": "application/json",
      "user-agent": "reseller-webhooks/1",
      "webhook-id": eventId,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": signatureHeader(secrets, eventId, timestamp, bytes),
    },
    ...(ca !== undefined && { ca }),
    limitBytes: REPLY_READ_BYTES,
  };
  return exchange(request, signal);
}

function replyOf({ status, headers, body }: ExchangeReply, now: number): WebhookReply {
  return {
    httpStatus: status,
    error: failureOf(status),
    response: readText(body),
    retryAfterSeconds: parseRetryAfter(headers.get("retry-after") ?? null, now),
  };
}

export function failureOf(status: number): WebhookFailure | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? "redirect" : "status";
}

/** Returns the beginning of the body as text. Whether an attempt succeeded never depends on how its body ends. */
export function readText(body: Uint8Array): string {
  return textOf(body.subarray(0, REPLY_KEPT_BYTES));
}

/**
 * Decodes text without NULs, which PostgreSQL refuses. A character cut at the end is left out. Other bytes that are not
 * UTF-8 become `?`.
 */
function textOf(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes, { stream: true });
  return text.replace(/[\0\uFFFD]/g, "?");
}

export function failed(error: WebhookFailure): WebhookReply {
  return { httpStatus: null, error, response: null, retryAfterSeconds: null };
}

/** Names of OpenSSL's certificate errors as Bun's fetch reports them. EPROTO means that the handshake failed. */
const TLS_CODE = /CERT|SIGNED|ISSUER|SIGNATURE|CRL|^ERR_TLS|^ERR_SSL|^EPROTO$/;

export function failureOfError(error: unknown): WebhookFailure {
  const code = errorCode(error);
  if (SHORTAGE_CODES.includes(code)) return "internal";
  return TLS_CODE.test(code) ? "tls" : "connection";
}

/** Rejects when `signal` is aborted. The look-up itself cannot be aborted and is abandoned. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const reject = () => aborted.reject(new Error("aborted"));
  signal.addEventListener("abort", reject, { once: true });
  if (signal.aborted) reject();
  return Promise.race([promise, aborted.promise]).finally(() =>
    signal.removeEventListener("abort", reject),
  );
}
