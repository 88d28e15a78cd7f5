// Deletes rows that webhooks no longer need, at most `limit` rows at a time.

import type { Tx } from "../port/port.ts";
import { statement } from "../port/query.ts";
import { number } from "../port/table-definition.ts";
import { webhookAttempts, webhookDeliveries, webhookEvents, webhooks } from "../tables/webhooks.ts";

const TAKES = { before: number, limit: number };

/**
 * Gives up deliveries. Includes those in flight whose lease ended before `before`: their attempt was never recorded.
 */
const GIVE_UP = statement({
  parameters: TAKES,
  writes: [webhookDeliveries],
  text: `UPDATE webhook_deliveries SET state = 'failed', due_at = NULL, server = NULL, replay = 0, failures = tries
    WHERE delivery_id IN (SELECT waiting.delivery_id FROM webhooks
      JOIN webhook_deliveries AS waiting ON waiting.webhook_id = webhooks.webhook_id
      JOIN webhook_events ON webhook_events.event_id = waiting.event_id
      WHERE webhooks.active = 0 AND (webhooks.disabled_at < :before OR webhooks.deleted_at IS NOT NULL)
        AND waiting.due_at IS NOT NULL AND (waiting.state = 'waiting' OR waiting.due_at < :before)
        AND (webhook_events.created_at < :before OR webhooks.deleted_at IS NOT NULL)
      LIMIT :limit)`,
});

const DELETE_ATTEMPTS = statement({
  parameters: TAKES,
  writes: [webhookAttempts],
  text: `DELETE FROM webhook_attempts WHERE seq IN (
    SELECT seq FROM webhook_attempts WHERE at < :before ORDER BY at LIMIT :limit)`,
});

const DELETE_DELIVERIES = statement({
  parameters: TAKES,
  writes: [webhookDeliveries],
  text: `DELETE FROM webhook_deliveries WHERE delivery_id IN (
    SELECT over.delivery_id FROM webhook_events
    JOIN webhook_deliveries AS over ON over.event_id = webhook_events.event_id
    WHERE webhook_events.created_at < :before AND over.due_at IS NULL AND NOT EXISTS (
      SELECT 1 FROM webhook_attempts WHERE webhook_attempts.delivery_id = over.delivery_id)
    LIMIT :limit)`,
});

const DELETE_EVENTS = statement({
  parameters: TAKES,
  writes: [webhookEvents],
  text: `DELETE FROM webhook_events WHERE event_id IN (
    SELECT event_id FROM webhook_events AS old WHERE created_at < :before AND NOT EXISTS (
      SELECT 1 FROM webhook_deliveries WHERE webhook_deliveries.event_id = old.event_id)
    LIMIT :limit)`,
});

const DELETE_ENDPOINTS = statement({
  parameters: { limit: number },
  writes: [webhooks],
  text: `DELETE FROM webhooks WHERE webhook_id IN (
    SELECT removed.webhook_id FROM webhooks AS removed WHERE deleted_at IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM webhook_deliveries WHERE webhook_deliveries.webhook_id = removed.webhook_id)
    LIMIT :limit)`,
});

/**
 * Gives up deliveries of events older than `before` to endpoints that were disabled before that time, and all
 * deliveries that wait for deleted endpoints. Returns how many.
 */
export function giveUpWaitingDeliveries(tx: Tx, before: number, limit: number): number {
  return tx.run(GIVE_UP, { before, limit });
}

export function deleteOldAttempts(tx: Tx, before: number, limit: number): number {
  return tx.run(DELETE_ATTEMPTS, { before, limit });
}

/** Deletes deliveries that have ended, of events from before that time, once their attempts are deleted. */
export function deleteOldDeliveries(tx: Tx, before: number, limit: number): number {
  return tx.run(DELETE_DELIVERIES, { before, limit });
}

export function deleteOldEvents(tx: Tx, before: number, limit: number): number {
  return tx.run(DELETE_EVENTS, { before, limit });
}

/** Deletes the rows of removed endpoints to which no delivery refers any more. */
export function deleteRemovedWebhooks(tx: Tx, limit: number): number {
  return tx.run(DELETE_ENDPOINTS, { limit });
}
