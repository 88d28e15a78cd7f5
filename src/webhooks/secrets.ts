// Makes the secrets that sign webhooks and alerts.

import { randomBytes } from "node:crypto";
import { formatSecret, WEBHOOK_SECRET_BYTES } from "../domain/webhooks/webhooks.ts";

export function newSecret(): string {
  return formatSecret(randomBytes(WEBHOOK_SECRET_BYTES));
}
