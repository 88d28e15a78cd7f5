// Stripe's official package, made fit for a server: loaded when it is first needed, limited replies, no telemetry, no
// redirects, nothing on the console, and no secret in an error.

import type { Stripe } from "stripe";
import { createMask } from "../providers/mask.ts";

/** A session with its payment intent and charge has about 10 kB; a page of 100 refunds 100 kB. */
const REPLY_LIMIT_BYTES = 1024 * 1024;
/** Makes the package write to the console. */
const NOTICE_HEADER = "stripe-notice";

export interface StripeAccess {
  key: string;
  webhookSecret: string;
  timeoutMs: number;
  /** Address of the API; null: Stripe's own. */
  api: URL | null;
}

export interface StripeClient {
  /** True if the key is one of live mode. Objects and events of the other mode are refused. */
  isLive: boolean;
  /** A client whose calls end with `stop`. `retries`: more attempts after a failure, with the same idempotency key. */
  open(stop: AbortSignal, retries?: number): Stripe;
  /** Verifies an event. Rejects if it is not signed by Stripe for this endpoint, or too old. */
  verify(body: Uint8Array, signature: string, now: number): Promise<Stripe.Event>;
  /** Returns the cause of an error, for the log and the operator. */
  causeOf(error: unknown): string;
  /** Whether the request of a rejected call certainly had no effect and would be rejected again. */
  isRefusal(error: unknown): boolean;
}

export async function loadStripe(access: StripeAccess): Promise<StripeClient> {
  const { Stripe } = await import("stripe");
  const { key, webhookSecret, timeoutMs, api } = access;
  const [maskKey, maskSecret] = [createMask(key), createMask(webhookSecret)];
  const { StripeAuthenticationError, StripeInvalidRequestError, StripePermissionError } =
    Stripe.errors;
  return {
    isLive: key.includes("_live_"),
    open: (stop, retries = 0) =>
      new Stripe(key, {
        httpClient: Stripe.createFetchHttpClient(createFetch(stop)),
        timeout: timeoutMs,
        maxNetworkRetries: retries,
        telemetry: false,
        ...(api !== null && addressOf(api)),
      }),
    verify: (body, signature, now) =>
      Stripe.webhooks.constructEventAsync(
        body as Buffer,
        signature,
        webhookSecret,
        Stripe.webhooks.DEFAULT_TOLERANCE,
        undefined,
        now,
      ),
    causeOf: (error) => maskSecret(maskKey(describe(error))),
    isRefusal: (error) =>
      error instanceof StripeAuthenticationError ||
      error instanceof StripePermissionError ||
      error instanceof StripeInvalidRequestError,
  };
}

function addressOf({ protocol, hostname, port }: URL) {
  const isTls = protocol === "https:";
  return {
    protocol: isTls ? ("https" as const) : ("http" as const),
    host: hostname,
    port: port === "" ? (isTls ? 443 : 80) : Number(port),
  };
}

/** Returns a fetch for the package: without redirects, with limited replies, ended by `stop`. */
function createFetch(stop: AbortSignal): typeof fetch {
  const call = async (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const signal = init.signal ? AbortSignal.any([init.signal, stop]) : stop;
    const response = await fetch(url, {
      ...init,
      signal,
      redirect: "manual",
      // Fetch may resend a request on a reused connection.
      keepalive: init.method === "GET",
      tls: { rejectUnauthorized: true },
    });
    const headers = new Headers(response.headers);
    headers.delete(NOTICE_HEADER);
    headers.delete("content-encoding");
    return new Response(await readBody(response), { status: response.status, headers });
  };
  return Object.assign(call, { preconnect: fetch.preconnect });
}

/** Reads the body. Throws if it is longer than the limit. */
async function readBody({ body }: Response): Promise<Uint8Array<ArrayBuffer> | null> {
  if (body === null) return null;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > REPLY_LIMIT_BYTES) throw new Error("the reply is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Errors of the package have a type and a code; those of a connection have the cause in `detail`. */
function describe(error: unknown): string {
  const { type, code, statusCode, message, detail } = error as Partial<Stripe.errors.StripeError>;
  const inner = detail as { code?: unknown; message?: unknown } | string | undefined;
  const cause = typeof inner === "object" ? (inner.code ?? inner.message) : inner;
  const parts = [type, statusCode && `HTTP ${statusCode}`, code, cause, message];
  const [first] = String(
    parts.filter((part) => part !== undefined && part !== "").join(": "),
  ).split("\n");
  return first!;
}
