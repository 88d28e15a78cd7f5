// The queue of webhooks: deliveries that are due, the log of attempts, and changes of many deliveries at once.

import type { WebhookEventType } from "../../domain/webhooks/webhook-events.ts";
import {
  type ShownAttempt,
  type WaitingEndpoint,
  WEBHOOK_LEASE_MS,
} from "../../domain/webhooks/webhooks.ts";
import type { Page } from "../port/pages.ts";
import type { Reader, TimeWindow, Tx } from "../port/port.ts";
import { fields, query, select, statement } from "../port/query.ts";
import { nullable, number, text, textOf } from "../port/table-definition.ts";
import { webhookAttempts, webhookDeliveries } from "../tables/webhooks.ts";

/**
 * SQL for the endpoints that have deliveries to send. Each endpoint is found from the one before it, so the cost
 * depends on the number of endpoints, not of deliveries. `due_at`: when the next delivery is due; for a disabled
 * endpoint, the next replay.
 */
const WAITING = `WITH RECURSIVE waiting (webhook_id) AS (
    SELECT min(webhook_id) FROM webhook_deliveries WHERE due_at IS NOT NULL
    UNION ALL
    SELECT (SELECT min(later.webhook_id) FROM webhook_deliveries AS later
      WHERE later.due_at IS NOT NULL AND later.webhook_id > waiting.webhook_id)
    FROM waiting WHERE waiting.webhook_id IS NOT NULL
  ), due AS (
    SELECT webhooks.webhook_id, webhooks.failures, webhooks.reseller_account, CASE WHEN webhooks.active = 1
      THEN (SELECT min(due_at) FROM webhook_deliveries AS each
        WHERE each.webhook_id = webhooks.webhook_id AND due_at IS NOT NULL)
      ELSE (SELECT min(due_at) FROM webhook_deliveries AS each
        WHERE each.webhook_id = webhooks.webhook_id AND due_at IS NOT NULL AND replay = 1)
      END AS due_at
    FROM waiting JOIN webhooks ON webhooks.webhook_id = waiting.webhook_id
    WHERE webhooks.deleted_at IS NULL
  )`;

/** SQL for the live account of an endpoint's reseller; 0: the operator. */
const ownerOf = (table: string) =>
  `coalesce((SELECT coalesce(test_of, account) FROM users WHERE account = ${table}.reseller_account), 0)`;

const DUE_ENDPOINTS = query({
  parameters: { now: number },
  columns: { webhookId: number, owner: number, failures: number, dueAt: number },
  text: `${WAITING} SELECT webhook_id AS "webhookId", ${ownerOf("due")} AS "owner", failures, due_at AS "dueAt" FROM due
    WHERE due_at <= :now ORDER BY due_at, webhook_id`,
});

const NEXT_DUE = query({
  columns: { dueAt: nullable(number) },
  text: `${WAITING} SELECT min(due_at) AS "dueAt" FROM due`,
});

const UNDER_WAY = query({
  parameters: { now: number, server: text },
  columns: { webhookId: number, owner: number, sending: number, own: number, failures: number },
  text: `SELECT webhook_deliveries.webhook_id AS "webhookId", min(${ownerOf("webhooks")}) AS "owner", count(*) AS sending,
      count(*) FILTER (WHERE server = :server) AS own, max(webhooks.failures) AS failures
    FROM webhook_deliveries JOIN webhooks ON webhooks.webhook_id = webhook_deliveries.webhook_id
    WHERE state = 'sending' AND due_at > :now
    GROUP BY webhook_deliveries.webhook_id`,
});

const DUE = `SELECT ${select(webhookDeliveries, "deliveryId")} FROM webhook_deliveries
  WHERE webhook_id = :webhookId AND due_at IS NOT NULL AND due_at <= :now`;
const DUE_TAKES = { webhookId: number, now: number, limit: number };

const DUE_OF_ACTIVE = query({
  parameters: DUE_TAKES,
  columns: fields(webhookDeliveries, "deliveryId"),
  text: `${DUE} ORDER BY due_at, delivery_id LIMIT :limit`,
});

const DUE_REPLAYS = query({
  parameters: DUE_TAKES,
  columns: fields(webhookDeliveries, "deliveryId"),
  text: `${DUE} AND replay = 1 ORDER BY due_at, delivery_id LIMIT :limit`,
});

const INTERRUPTED = query({
  parameters: { server: text },
  columns: fields(webhookDeliveries, "deliveryId"),
  text: `SELECT ${select(webhookDeliveries, "deliveryId")} FROM webhook_deliveries
    WHERE state = 'sending' AND server <> :server 
      AND NOT EXISTS (SELECT 1 FROM servers WHERE servers.id = webhook_deliveries.server)
    ORDER BY delivery_id`,
});

// After the clock was set back, no due time may be later than this. The due time of a delivery in flight is the end of
// its lease.
const LATEST_DUE = `CASE WHEN state = 'sending' THEN :leaseEnd WHEN failures = 0 THEN :now ELSE :latest END`;
const CLAMP = statement({
  parameters: { now: number, latest: number, leaseEnd: number },
  writes: [webhookDeliveries],
  text: `UPDATE webhook_deliveries SET due_at = ${LATEST_DUE} WHERE due_at > ${LATEST_DUE}`,
});

const RESUME = statement({
  parameters: { webhookId: number, now: number },
  writes: [webhookDeliveries],
  text: `UPDATE webhook_deliveries SET due_at = :now, failures = 0
    WHERE webhook_id = :webhookId AND due_at IS NOT NULL AND state = 'waiting'`,
});

const DROP = statement({
  parameters: { webhookId: number },
  writes: [webhookDeliveries],
  text: `UPDATE webhook_deliveries SET state = 'failed', due_at = NULL, failures = tries
    WHERE webhook_id = :webhookId AND due_at IS NOT NULL AND state = 'waiting' AND replay = 0`,
});

const REPLAY = statement({
  parameters: { webhookId: number, since: number, now: number, active: number },
  writes: [webhookDeliveries],
  text: `UPDATE webhook_deliveries SET state = 'waiting', due_at = :now, replay = 1
    WHERE webhook_id = :webhookId
      AND (state = 'failed' OR (state = 'waiting' AND (attempts > 0 OR :active = 0)))
      AND event_id IN (SELECT event_id FROM webhook_events WHERE created_at >= :since)`,
});

const ATTEMPTS = query({
  parameters: { webhookId: number, below: number, from: number, to: number, limit: number },
  columns: {
    ...fields(
      webhookAttempts,
      "seq",
      "attempt",
      "at",
      "durationMs",
      "httpStatus",
      "error",
      "response",
    ),
    eventId: text,
    type: textOf<WebhookEventType>(),
  },
  text: `SELECT ${select(webhookAttempts, "seq", "attempt", "at", "durationMs", "httpStatus", "error", "response")},
      webhook_events.id AS "eventId", webhook_events.type AS type
    FROM webhook_attempts
    JOIN webhook_deliveries ON webhook_deliveries.delivery_id = webhook_attempts.delivery_id
    JOIN webhook_events ON webhook_events.event_id = webhook_deliveries.event_id
    WHERE webhook_attempts.webhook_id = :webhookId AND webhook_attempts.seq < :below
      AND webhook_attempts.at BETWEEN :from AND :to
    ORDER BY webhook_attempts.seq DESC LIMIT :limit`,
});

const ATTEMPTS_OF_ORDER = query({
  parameters: { orderId: number, limit: number },
  columns: {
    ...fields(webhookAttempts, "at", "attempt", "httpStatus", "error"),
    type: textOf<WebhookEventType>(),
    url: text,
  },
  text: `SELECT ${select(webhookAttempts, "at", "attempt", "httpStatus", "error")},
      webhook_events.type AS type, webhooks.url AS url
    FROM webhook_events
    JOIN webhook_deliveries ON webhook_deliveries.event_id = webhook_events.event_id
    JOIN webhook_attempts ON webhook_attempts.delivery_id = webhook_deliveries.delivery_id
    JOIN webhooks ON webhooks.webhook_id = webhook_attempts.webhook_id
    WHERE webhook_events.order_id = :orderId
    ORDER BY webhook_attempts.seq DESC LIMIT :limit`,
});

/** Lists the attempts to deliver an order's events that are still kept, newest first. `url`: the present URL. */
export function listWebhookAttemptsOfOrder(reader: Reader, orderId: number, limit: number) {
  return reader.all(ATTEMPTS_OF_ORDER, { orderId, limit });
}

const COUNT_WAITING = query({
  parameters: { webhookId: number },
  columns: { waiting: number },
  text: `SELECT count(*) AS waiting FROM webhook_deliveries
    WHERE webhook_id = :webhookId AND due_at IS NOT NULL`,
});

/** Counts the endpoint's deliveries that are waiting or in flight. */
export function countWaiting(reader: Reader, webhookId: number): number {
  return reader.one(COUNT_WAITING, { webhookId })!.waiting;
}

const COUNT_ALL_WAITING = query({
  columns: { waiting: number },
  text: "SELECT count(*) AS waiting FROM webhook_deliveries WHERE due_at IS NOT NULL",
});

/** Counts all deliveries that are waiting or in flight. */
export function countAllWaiting(reader: Reader): number {
  return reader.one(COUNT_ALL_WAITING)!.waiting;
}

/** Lists the endpoint's attempts with numbers lower than `below`, newest first. */
export function listWebhookAttempts(
  reader: Reader,
  webhook: { webhookId: number; id: string },
  below: number,
  limit: number,
  window: TimeWindow = { from: null, to: null },
): Page<ShownAttempt> {
  const { webhookId, id } = webhook;
  const { from, to } = { from: window.from ?? 0, to: window.to ?? Number.MAX_SAFE_INTEGER };
  const found = reader.all(ATTEMPTS, { webhookId, below, from, to, limit: limit + 1 });
  const shown = found.slice(0, limit);
  return {
    rows: shown.map((attempt) => ({ ...attempt, webhookId: id })),
    next: found.length > limit ? shown.at(-1)!.seq : null,
  };
}

/**
 * Lists endpoints with due deliveries (`waiting`), most overdue first, and counts this server's deliveries in flight.
 * `sending`: deliveries in flight on any server. `slow`: the webhookIds of slow endpoints.
 */
export function listDueEndpoints(
  reader: Reader,
  now: number,
  server: string,
  slow: ReadonlySet<number>,
): { waiting: WaitingEndpoint[]; inFlight: EndpointsInFlight } {
  const sending = reader.all(UNDER_WAY, { now, server });
  const byEndpoint = new Map(sending.map((each) => [each.webhookId, each.sending]));
  const isTroubled = (each: { webhookId: number; failures: number }) =>
    each.failures > 0 || slow.has(each.webhookId);
  const waiting = reader.all(DUE_ENDPOINTS, { now }).map((each) => ({
    webhookId: each.webhookId,
    owner: each.owner,
    dueAt: each.dueAt,
    sending: byEndpoint.get(each.webhookId) ?? 0,
    isTroubled: isTroubled(each),
  }));
  const sum = (counts: readonly { own: number }[]) => counts.reduce((all, { own }) => all + own, 0);
  const troubled = sum(sending.filter(isTroubled));
  const byOwner = new Map<number, number>();
  for (const { owner, own } of sending) byOwner.set(owner, (byOwner.get(owner) ?? 0) + own);
  return { waiting, inFlight: { all: sum(sending), troubled, byOwner } };
}

/** Counts of a server's deliveries in flight. `troubled`: those to endpoints that fail or are slow. */
export interface EndpointsInFlight {
  all: number;
  troubled: number;
  /** Counts by the reseller's account. */
  byOwner: ReadonlyMap<number, number>;
}

/** Lists the endpoint's due deliveries, most overdue first. For a disabled endpoint, only replays. */
export function listDueDeliveries(
  reader: Reader,
  { webhookId, active }: { webhookId: number; active: boolean },
  now: number,
  limit: number,
): number[] {
  const due = active ? DUE_OF_ACTIVE : DUE_REPLAYS;
  return reader.all(due, { webhookId, now, limit }).map(({ deliveryId }) => deliveryId);
}

/** Returns when the next delivery is due; null if none waits. A delivery in flight is due when its lease ends. */
export function nextWebhookDueAt(reader: Reader): number | null {
  return reader.one(NEXT_DUE)?.dueAt ?? null;
}

/** Lists deliveries in flight on servers that no longer exist. */
export function listInterruptedDeliveries(reader: Reader, server: string): number[] {
  return reader.all(INTERRUPTED, { server }).map(({ deliveryId }) => deliveryId);
}

/** Makes the endpoint's waiting deliveries due now, and gives them the attempts of a new delivery. Returns how many. */
export function resumeWaitingDeliveries(tx: Tx, webhookId: number, now: number): number {
  return tx.run(RESUME, { webhookId, now });
}

/** Gives up the endpoint's waiting deliveries, except replays. Returns how many. */
export function dropWaitingDeliveries(tx: Tx, webhookId: number): number {
  return tx.run(DROP, { webhookId });
}

/**
 * Schedules for now, as replays, the failed and the retried deliveries of all events since `since`. For a disabled
 * endpoint, also deliveries that were never tried. Returns how many.
 */
export function replayUndelivered(
  tx: Tx,
  webhookId: number,
  since: number,
  now: number,
  active: boolean,
): number {
  return tx.run(REPLAY, { webhookId, since, now, active: active ? 1 : 0 });
}

/**
 * Corrects the schedule after the clock was set back. Makes deliveries without a failure due now and other deliveries
 * due at `latest` or earlier. No lease lasts longer than normal.
 */
export function clampWebhookSchedule(tx: Tx, now: number, latest: number): void {
  tx.run(CLAMP, { now, latest, leaseEnd: now + WEBHOOK_LEASE_MS });
}
