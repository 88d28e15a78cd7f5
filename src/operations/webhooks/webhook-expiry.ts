// Deletes old rows of webhooks in pieces: attempts, then ended deliveries, then their events, then deleted endpoints.
// Also gives up deliveries that wait for an endpoint that has been disabled for too long, and deletes old alerts.

import { ALERT_RETENTION_MS } from "../../domain/alerts/alerts.ts";
import { DISABLED_RETENTION_MS, WEBHOOK_RETENTION_MS } from "../../domain/webhooks/webhooks.ts";
import { deleteOldAlerts } from "../../db/webhooks/alerts.ts";
import type { Tx } from "../../db/port/port.ts";
import { OUTBOX_LOCK } from "../../db/tables/locks.ts";
import {
  deleteOldAttempts,
  deleteOldDeliveries,
  deleteOldEvents,
  deleteRemovedWebhooks,
  giveUpWaitingDeliveries,
} from "../../db/webhooks/webhook-expiry.ts";
import type { Context } from "../batch/context.ts";

export interface ExpireWebhooks {
  /** Maximum number of rows of each kind, so that no order waits long for this command. */
  limit: number;
}

/** Deletes one piece. Returns the largest number of rows of one kind: if it is below the limit, nothing is left. */
export function expireWebhooks(tx: Tx, { limit }: ExpireWebhooks, { now }: Context): number {
  const before = now - WEBHOOK_RETENTION_MS;
  tx.lock(OUTBOX_LOCK);
  return Math.max(
    giveUpWaitingDeliveries(tx, now - DISABLED_RETENTION_MS, limit),
    deleteOldAttempts(tx, before, limit),
    deleteOldDeliveries(tx, before, limit),
    deleteOldEvents(tx, before, limit),
    deleteRemovedWebhooks(tx, limit),
    deleteOldAlerts(tx, now - ALERT_RETENTION_MS, limit),
  );
}
