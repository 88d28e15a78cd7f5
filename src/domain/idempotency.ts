// Idempotency-Key: one effect for a request and all its duplicates. docs/specification.md#idempotency.

export const KEY_LENGTH_LIMIT = 255;
export const KEY_PATTERN = String.raw`^[\x21-\x7e]+$`;
export const KEY_FORM = `1 to ${KEY_LENGTH_LIMIT} visible ASCII characters`;
const KEY = new RegExp(KEY_PATTERN);

/**
 * How long the service runs before it forgets a used key. The API promises 24 hours; forgetting a key too early
 * would let its retry order twice, so no wall clock has a say in it. Time in which no service runs is not counted.
 */
export const IDEMPOTENCY_RETENTION_MS = 72 * 60 * 60 * 1000;

/** What a request with a key says of itself. */
export interface Claim {
  key: string;
  /** SHA-256 of its method, path and body: tells a duplicate from another request. */
  requestHash: string;
}

/** An answer as it was given, to be given again byte for byte. */
export interface StoredResponse {
  status: number;
  body: string;
}

export function isIdempotencyKey(text: string): boolean {
  return text.length <= KEY_LENGTH_LIMIT && KEY.test(text);
}

/** `path` is without the query; `body` is what was sent, byte for byte. */
export function hashRequest(method: string, path: string, body: Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(`${method} ${path}\n`).update(body).digest("hex");
}
