// Idempotency-Key: one effect for a request and all its duplicates. docs/specification/http.md#idempotency.

import { HOUR_MS } from "./spans.ts";

export const KEY_LENGTH_LIMIT = 255;
export const KEY_PATTERN = String.raw`^[\x21-\x7e]+$`;
export const KEY_FORM = `1 to ${KEY_LENGTH_LIMIT} visible ASCII characters`;
const KEY = new RegExp(KEY_PATTERN);

/**
 * Uptime for which an idempotency record is stored; the API promises 24 hours. Uptime excludes the time in which the
 * service does not run. The wall clock is not used: if it jumped, a record could expire early and a retry order twice.
 */
export const IDEMPOTENCY_RETENTION_MS = 72 * HOUR_MS;

/** The Idempotency-Key of a request, and the hash that identifies the request. */
export interface Claim {
  key: string;
  /** SHA-256 of the request's method, path and body, which distinguishes a duplicate from another request. */
  requestHash: string;
}

/** A response as it was sent, to be replayed byte for byte. */
export interface StoredResponse {
  status: number;
  body: string;
}

export function isIdempotencyKey(text: string): boolean {
  return text.length <= KEY_LENGTH_LIMIT && KEY.test(text);
}

/** Hashes a request. `path`: without the query string. `body`: the bytes as received. */
export function hashRequest(method: string, path: string, body: Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(`${method} ${path}\n`).update(body).digest("hex");
}
