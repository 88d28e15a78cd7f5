// Replays: sends one delivery, or all that failed, once more, with the same id and body, signed with the current
// secret. docs/specification/webhooks.md#webhook-replay.

import { refusal } from "../../domain/values/error-table.ts";
import { parseAttemptId } from "../../domain/webhooks/webhooks.ts";
import type { Tx } from "../../db/port/port.ts";
import { OUTBOX_LOCK } from "../../db/tables/locks.ts";
import {
  webhookAttempts,
  webhookDeliveries,
  type WebhookDelivery,
  webhookEvents,
} from "../../db/tables/webhooks.ts";
import type { Webhook } from "../../db/webhooks/webhooks.ts";
import { replayUndelivered } from "../../db/webhooks/webhook-deliveries.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import { type OfWebhook, requireWebhook } from "./webhooks.ts";

export interface ReplayWebhook extends OfWebhook {
  /** One delivery by its public id, or all failed ones of events since a time, at most REPLAY_LIMIT_MS ago. */
  what: { delivery: string } | { since: number };
}

/**
 * Queues replays. Returns how many deliveries are due now. A disabled endpoint receives them too. Their failures are
 * not added to the failures of the endpoint. Refuses what requireWebhook refuses, then: delivery_not_found.
 */
export function replayWebhook(tx: Tx, command: ReplayWebhook, context: Context): number {
  const webhook = requireWebhook(tx, command, context);
  const { what } = command;
  const queued =
    "since" in what
      ? replaySince(tx, webhook, what.since, context.now)
      : replayOne(tx, requireDelivery(tx, webhook, what.delivery), context.now);
  audit(tx, context, {
    actor: command.actor,
    action: "webhook.replay",
    subject: webhook.id,
    account: webhook.resellerAccount,
    before: null,
    after: { ...("since" in what ? { sinceAt: what.since } : what), queued },
  });
  return queued;
}

function replaySince(tx: Tx, { webhookId, active }: Webhook, since: number, now: number): number {
  tx.lock(OUTBOX_LOCK);
  return replayUndelivered(tx, webhookId, since, now, active);
}

/** Queues one delivery, unless it is being sent already. */
function replayOne(tx: Tx, delivery: WebhookDelivery, now: number): number {
  if (delivery.state === "sending") return 0;
  // If it fails again, an ended delivery is not retried. A waiting one continues with its next retry.
  const failures = delivery.state === "waiting" ? delivery.failures : delivery.tries;
  tx.update(webhookDeliveries, delivery, { state: "waiting", dueAt: now, replay: true, failures });
  return 1;
}

function requireDelivery(tx: Tx, { webhookId }: Webhook, id: string): WebhookDelivery {
  const parts = parseAttemptId(id);
  const event = parts && tx.row(webhookEvents.byId, parts.eventId);
  const delivery = event && tx.row(webhookDeliveries.byEvent, webhookId, event.eventId);
  const isThere =
    delivery && tx.row(webhookAttempts.byAttempt, delivery.deliveryId, parts!.attempt);
  if (!isThere) throw refusal("delivery_not_found");
  return delivery;
}
