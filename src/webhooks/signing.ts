// Signatures of Standard Webhooks 1.0.0: HMAC-SHA256 over `{webhook-id}.{webhook-timestamp}.{body}`.

import { createHmac } from "node:crypto";
import { SECRET_PREFIX } from "../domain/webhooks/webhooks.ts";

const VERSION = "v1";

/** Returns one signature for each secret: while a secret is being replaced, a receiver may know either. */
export function signatureHeader(
  secrets: readonly string[],
  id: string,
  timestamp: number,
  body: Uint8Array,
): string {
  return secrets.map((secret) => `${VERSION},${signature(secret, id, timestamp, body)}`).join(" ");
}

function signature(secret: string, id: string, timestamp: number, body: Uint8Array): string {
  if (!secret.startsWith(SECRET_PREFIX))
    throw new Error("a webhook's secret has an unexpected form");
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), "base64");
  return createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
}
