// What webhooks leave behind, deleted in pieces: attempts, then deliveries that are over, then their events, then deleted
// endpoints. And what waits for an endpoint that has been disabled for too long is given up.

import { ALERT_RETENTION_MS } from "../domain/alerts.ts";
import { DISABLED_RETENTION_MS, WEBHOOK_RETENTION_MS } from "../domain/webhooks.ts";
import { deleteOldAlerts } from "../db/alerts.ts";
import type { Tx } from "../db/port.ts";
import { WEBHOOK_QUEUE_LOCK } from "../db/tables.ts";
import {
  deleteOldAttempts,
  deleteOldDeliveries,
  deleteOldEvents,
  deleteRemovedWebhooks,
  giveUpWaitingDeliveries,
} from "../db/webhook-expiry.ts";
import type { Context } from "./context.ts";

export interface ExpireWebhooks {
  /** How many rows of each kind at most, so that no order waits long for this command. */
  limit: number;
}

/** Returns the most rows of one kind: below the limit, nothing is left. */
export function expireWebhooks(tx: Tx, { limit }: ExpireWebhooks, { now }: Context): number {
  const before = now - WEBHOOK_RETENTION_MS;
  tx.lock(WEBHOOK_QUEUE_LOCK);
  return Math.max(
    giveUpWaitingDeliveries(tx, now - DISABLED_RETENTION_MS, limit),
    deleteOldAttempts(tx, before, limit),
    deleteOldDeliveries(tx, before, limit),
    deleteOldEvents(tx, before, limit),
    deleteRemovedWebhooks(tx, limit),
    deleteOldAlerts(tx, now - ALERT_RETENTION_MS, limit),
  );
}
