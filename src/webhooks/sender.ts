// One request of a webhook: docs/specification.md#webhook-deliveries. It goes to the one address that was judged, with
// no redirect and no proxy, and takes at most EXCHANGE_MS from the look-up of the name to the end of the reply.

import { isIP } from "node:net";
import { errorCode } from "../domain/refusals.ts";
import { parseRetryAfter } from "../domain/webhook-schedule.ts";
import { signatureHeader } from "./signing.ts";
import { findTarget, nameOf, type Resolve, type TargetPolicy } from "./targets.ts";

export const EXCHANGE_MS = 15_000;
/** How much of a reply is read, and how much of that is kept. */
const REPLY_READ_BYTES = 16 * 1024;
const REPLY_KEPT_BYTES = 1024;

/** Why an attempt failed: one stable word each, shown to the reseller. */
export type WebhookFailure =
  /** The URL is not one that may be requested: plain http is not allowed any more. */
  | "url_not_allowed"
  /** The name has no address. */
  | "dns"
  /** The name has an address that is not public. */
  | "blocked_address"
  /** No connection, or it broke, or what came was not HTTP. */
  | "connection"
  | "tls"
  | "timeout"
  | "redirect"
  /** Any other status than 2xx. */
  | "status"
  /** An error of this service, see its log. */
  | "internal"
  /** The service was stopped meanwhile: nothing is recorded, the attempt is made again. */
  | "stopped";

/** An address of the operator: its URL may be in any network, or it is a chat of Telegram, and the secret the bot's token. */
export interface AlertTarget {
  telegramChat: string | null;
}

export interface WebhookRequest {
  url: string;
  secrets: readonly string[];
  eventId: string;
  /** JSON as it was stored with the event. */
  body: string;
  /** Of an alert to the operator. */
  alert?: AlertTarget;
}

export interface WebhookReply {
  /** Null: no reply came. */
  httpStatus: number | null;
  /** Null: delivered. */
  error: WebhookFailure | null;
  /** The beginning of the reply's body. */
  response: string | null;
  retryAfterSeconds: number | null;
}

/** Never rejects. */
export type SendWebhook = (request: WebhookRequest, stop: AbortSignal) => Promise<WebhookReply>;

export interface SenderOptions {
  policy: TargetPolicy;
  now: () => number;
  resolve?: Resolve;
  /** Certificates (PEM) to trust in place of the system's. */
  ca?: string;
  timeoutMs?: number;
}

export function createWebhookSender(options: SenderOptions): SendWebhook {
  const { policy, now, resolve, timeoutMs = EXCHANGE_MS } = options;
  return async (request, stop) => {
    const exchange = new AbortController();
    const timer = setTimeout(() => exchange.abort(), timeoutMs);
    const abort = () => exchange.abort();
    stop.addEventListener("abort", abort);
    if (stop.aborted) abort();
    const failedBy = (failure: WebhookFailure): WebhookReply =>
      failed(stop.aborted ? "stopped" : exchange.signal.aborted ? "timeout" : failure);
    try {
      const target = await unlessAborted(findTarget(request.url, policy, resolve), exchange.signal);
      if ("refused" in target) return failedBy(target.refused);
      const response = await post(target.address, request, options, exchange.signal);
      return await readReply(response, now());
    } catch (error) {
      return failedBy(isTlsError(errorCode(error)) ? "tls" : "connection");
    } finally {
      clearTimeout(timer);
      stop.removeEventListener("abort", abort);
    }
  };
}

/**
 * The URL names the address, so that nothing is resolved again; the name is in Host, in the TLS handshake, and is what the
 * certificate is checked against. A connection serves one request: a pool is keyed by address, and another name's
 * certificate was checked for a connection in it.
 */
function post(
  address: string,
  { url, secrets, eventId, body }: WebhookRequest,
  { now, ca }: SenderOptions,
  signal: AbortSignal,
): Promise<Response> {
  const named = new URL(url);
  const serverName = nameOf(named);
  const direct = new URL(url);
  direct.hostname = address.includes(":") ? `[${address}]` : address;
  const bytes = new TextEncoder().encode(body);
  const timestamp = Math.floor(now() / 1000);
  return fetch(direct, {
    method: "POST",
    body: bytes,
    headers: {
      host: named.host,
      connection: "close",
      accept: "*/*",
      "accept-encoding": "identity",
      "content-type": "application/json",
      "user-agent": "reseller-webhooks/1",
      "webhook-id": eventId,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": signatureHeader(secrets, eventId, timestamp, bytes),
    },
    tls: {
      rejectUnauthorized: true,
      // An address is no name for the handshake; its certificate is checked against the address in the URL.
      ...(isIP(serverName) === 0 && { serverName }),
      ...(ca !== undefined && { ca }),
    },
    redirect: "manual",
    proxy: false,
    keepalive: false,
    decompress: false,
    signal,
  });
}

async function readReply(response: Response, now: number): Promise<WebhookReply> {
  const { status, headers } = response;
  if (status < 100) return failed("connection");
  const text = await readText(response);
  return {
    httpStatus: status,
    error: failureOf(status),
    response: text,
    retryAfterSeconds: parseRetryAfter(headers.get("retry-after"), now),
  };
}

export function failureOf(status: number): WebhookFailure | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? "redirect" : "status";
}

/** The beginning of the body. The status has decided already: a body that breaks, hangs or does not end changes nothing. */
export async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk.subarray(0, REPLY_KEPT_BYTES));
      length += chunk.byteLength;
      // Leaving the loop cancels the body, and with it the connection.
      if (length >= REPLY_READ_BYTES) break;
    }
  } catch {
    // What has come is kept.
  }
  return textOf(Buffer.concat(chunks).subarray(0, REPLY_KEPT_BYTES));
}

/** PostgreSQL takes no NUL in a text. A character that the end cuts is left out; others that are not UTF-8 become `?`. */
function textOf(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes, { stream: true });
  return text.replace(/[\0\uFFFD]/g, "?");
}

export function failed(error: WebhookFailure): WebhookReply {
  return { httpStatus: null, error, response: null, retryAfterSeconds: null };
}

/** Names of OpenSSL's errors of certificates, as Bun's fetch gives them; EPROTO: the handshake failed. */
const TLS_CODE = /CERT|SIGNED|ISSUER|SIGNATURE|CRL|^ERR_TLS|^ERR_SSL|^EPROTO$/;

export function isTlsError(code: string): boolean {
  return TLS_CODE.test(code);
}

/** A look-up cannot be aborted: it is left alone. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const reject = () => aborted.reject(new Error("aborted"));
  signal.addEventListener("abort", reject, { once: true });
  if (signal.aborted) reject();
  return Promise.race([promise, aborted.promise]).finally(() =>
    signal.removeEventListener("abort", reject),
  );
}
