// The queue of webhooks: which deliveries are due, the log of attempts, and what is over and may be deleted.

import type { WebhookEventType } from "../domain/webhook-events.ts";
import { type ShownDelivery, type WaitingEndpoint, WEBHOOK_LEASE_MS } from "../domain/webhooks.ts";
import type { Page } from "./pages.ts";
import type { Reader, Tx } from "./port.ts";
import { fields, query, select, statement } from "./query.ts";
import type {
  webhookAttempts as attemptsSchema,
  webhookDeliveries as deliveriesSchema,
} from "./schema.ts";
import { nullable, number, text, textOf } from "./table-definition.ts";
import { webhookAttempts, webhookDeliveries } from "./tables.ts";

export type WebhookDelivery = typeof deliveriesSchema.$inferSelect;
export type WebhookAttempt = typeof attemptsSchema.$inferSelect;

/**
 * The endpoints that have deliveries, each found from the one before it: the cost is that of the endpoints, however many
 * deliveries wait for each. `due_at`: of a disabled one the next replay.
 */
const WAITING = `WITH RECURSIVE waiting (webhook_id) AS (
    SELECT min(webhook_id) FROM webhook_deliveries WHERE due_at IS NOT NULL
    UNION ALL
    SELECT (SELECT min(later.webhook_id) FROM webhook_deliveries AS later
      WHERE later.due_at IS NOT NULL AND later.webhook_id > waiting.webhook_id)
    FROM waiting WHERE waiting.webhook_id IS NOT NULL
  ), due AS (
    SELECT webhooks.webhook_id, webhooks.failures, CASE WHEN webhooks.active = 1
      THEN (SELECT min(due_at) FROM webhook_deliveries AS each
        WHERE each.webhook_id = webhooks.webhook_id AND due_at IS NOT NULL)
      ELSE (SELECT min(due_at) FROM webhook_deliveries AS each
        WHERE each.webhook_id = webhooks.webhook_id AND due_at IS NOT NULL AND replay = 1)
      END AS due_at
    FROM waiting JOIN webhooks ON webhooks.webhook_id = waiting.webhook_id
    WHERE webhooks.deleted_at IS NULL
  )`;

const DUE_ENDPOINTS = query({
  takes: { now: number },
  gives: { webhookId: number, failures: number, dueAt: number },
  text: `${WAITING} SELECT webhook_id AS "webhookId", failures, due_at AS "dueAt" FROM due
    WHERE due_at <= :now ORDER BY due_at, webhook_id`,
});

const NEXT_DUE = query({
  gives: { dueAt: nullable(number) },
  text: `${WAITING} SELECT min(due_at) AS "dueAt" FROM due`,
});

const UNDER_WAY = query({
  takes: { now: number, server: text },
  gives: { webhookId: number, sending: number, own: number, failures: number },
  text: `SELECT webhook_deliveries.webhook_id AS "webhookId", count(*) AS sending,
      count(*) FILTER (WHERE server = :server) AS own, max(webhooks.failures) AS failures
    FROM webhook_deliveries JOIN webhooks ON webhooks.webhook_id = webhook_deliveries.webhook_id
    WHERE state = 'sending' AND due_at > :now
    GROUP BY webhook_deliveries.webhook_id`,
});

const DUE = `SELECT ${select(webhookDeliveries, "deliveryId")} FROM webhook_deliveries
  WHERE webhook_id = :webhookId AND due_at IS NOT NULL AND due_at <= :now`;
const DUE_TAKES = { webhookId: number, now: number, limit: number };

const DUE_OF_ACTIVE = query({
  takes: DUE_TAKES,
  gives: fields(webhookDeliveries, "deliveryId"),
  text: `${DUE} ORDER BY due_at, delivery_id LIMIT :limit`,
});

const DUE_REPLAYS = query({
  takes: DUE_TAKES,
  gives: fields(webhookDeliveries, "deliveryId"),
  text: `${DUE} AND replay = 1 ORDER BY due_at, delivery_id LIMIT :limit`,
});

const INTERRUPTED = query({
  takes: { now: number, server: text },
  gives: fields(webhookDeliveries, "deliveryId"),
  text: `SELECT ${select(webhookDeliveries, "deliveryId")} FROM webhook_deliveries
    WHERE state = 'sending' AND server <> :server AND NOT EXISTS (SELECT 1 FROM servers
      WHERE servers.id = webhook_deliveries.server AND servers.lease_until > :now)
    ORDER BY delivery_id`,
});

// A lease too: of an attempt that a lost connection kept from being begun it is all that has it sent again.
const LATEST_DUE = `CASE WHEN state = 'sending' THEN :leaseEnd WHEN failures = 0 THEN :now ELSE :latest END`;
const CLAMP = statement({
  takes: { now: number, latest: number, leaseEnd: number },
  writes: [webhookDeliveries],
  text: `UPDATE webhook_deliveries SET due_at = ${LATEST_DUE} WHERE due_at > ${LATEST_DUE}`,
});

const RESUME = statement({
  takes: { webhookId: number, now: number },
  writes: [webhookDeliveries],
  text: `UPDATE webhook_deliveries SET due_at = :now, failures = 0
    WHERE webhook_id = :webhookId AND due_at IS NOT NULL AND state = 'waiting'`,
});

const DROP = statement({
  takes: { webhookId: number },
  writes: [webhookDeliveries],
  text: `UPDATE webhook_deliveries SET state = 'failed', due_at = NULL, failures = tries
    WHERE webhook_id = :webhookId AND due_at IS NOT NULL AND state = 'waiting' AND replay = 0`,
});

const REPLAY = statement({
  takes: { webhookId: number, since: number, now: number, active: number },
  writes: [webhookDeliveries],
  text: `UPDATE webhook_deliveries SET state = 'waiting', due_at = :now, replay = 1
    WHERE webhook_id = :webhookId
      AND (state = 'failed' OR (state = 'waiting' AND (attempts > 0 OR :active = 0)))
      AND event_id IN (SELECT event_id FROM webhook_events WHERE created_at >= :since)`,
});

const ATTEMPTS = query({
  takes: { webhookId: number, below: number, limit: number },
  gives: {
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
    ORDER BY webhook_attempts.seq DESC LIMIT :limit`,
});

const ATTEMPTS_OF_ORDER = query({
  takes: { orderId: number, limit: number },
  gives: {
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

/** The attempts to deliver the order's events, newest first, while they are kept; `url`: of the endpoint, as it is now. */
export function listWebhookAttemptsOfOrder(reader: Reader, orderId: number, limit: number) {
  return reader.all(ATTEMPTS_OF_ORDER, { orderId, limit });
}

const COUNT_WAITING = query({
  takes: { webhookId: number },
  gives: { waiting: number },
  text: `SELECT count(*) AS waiting FROM webhook_deliveries
    WHERE webhook_id = :webhookId AND due_at IS NOT NULL`,
});

/** How many deliveries wait for the endpoint or are under way. */
export function countWaiting(reader: Reader, webhookId: number): number {
  return reader.one(COUNT_WAITING, { webhookId })!.waiting;
}

const COUNT_ALL_WAITING = query({
  gives: { waiting: number },
  text: "SELECT count(*) AS waiting FROM webhook_deliveries WHERE due_at IS NOT NULL",
});

/** Deliveries that are neither delivered nor given up. */
export function countAllWaiting(reader: Reader): number {
  return reader.one(COUNT_ALL_WAITING)!.waiting;
}

/** The endpoint's attempts numbered below `below`, newest first. */
export function listWebhookAttempts(
  reader: Reader,
  webhook: { webhookId: number; id: string },
  below: number,
  limit: number,
): Page<ShownDelivery> {
  const { webhookId, id } = webhook;
  const found = reader.all(ATTEMPTS, { webhookId, below, limit: limit + 1 });
  const shown = found.slice(0, limit);
  return {
    rows: shown.map((attempt) => ({ ...attempt, webhookId: id })),
    next: found.length > limit ? shown.at(-1)!.seq : null,
  };
}

/** Endpoints with a delivery that is due, the longest overdue first; `sending`: under way, by any server; `slow`: endpoints that are. */
export function listDueEndpoints(
  reader: Reader,
  now: number,
  server: string,
  slow: ReadonlySet<number>,
): { waiting: WaitingEndpoint[]; underWay: EndpointsUnderWay } {
  const sending = reader.all(UNDER_WAY, { now, server });
  const byEndpoint = new Map(sending.map((each) => [each.webhookId, each.sending]));
  const isTroubled = (each: { webhookId: number; failures: number }) =>
    each.failures > 0 || slow.has(each.webhookId);
  const waiting = reader.all(DUE_ENDPOINTS, { now }).map((each) => ({
    webhookId: each.webhookId,
    dueAt: each.dueAt,
    sending: byEndpoint.get(each.webhookId) ?? 0,
    isTroubled: isTroubled(each),
  }));
  const sum = (counts: readonly { own: number }[]) => counts.reduce((all, { own }) => all + own, 0);
  const troubled = sum(sending.filter(isTroubled));
  return { waiting, underWay: { all: sum(sending), troubled } };
}

/** What a server has under way; `troubled`: to endpoints that fail or are slow. */
export interface EndpointsUnderWay {
  all: number;
  troubled: number;
}

/** The endpoint's deliveries that are due, the longest overdue first; of a disabled one its replays. */
export function listDueDeliveries(
  reader: Reader,
  { webhookId, active }: { webhookId: number; active: boolean },
  now: number,
  limit: number,
): number[] {
  const due = active ? DUE_OF_ACTIVE : DUE_REPLAYS;
  return reader.all(due, { webhookId, now, limit }).map(({ deliveryId }) => deliveryId);
}

/** When a delivery is due next; null: none waits. What is under way is due when its lease ends. */
export function nextWebhookDueAt(reader: Reader): number | null {
  return reader.one(NEXT_DUE)?.dueAt ?? null;
}

/** Under way at servers that are gone. */
export function listInterruptedDeliveries(reader: Reader, now: number, server: string): number[] {
  return reader.all(INTERRUPTED, { now, server }).map(({ deliveryId }) => deliveryId);
}

/** What waits for the endpoint is due now, and has all its attempts again. */
export function resumeWaitingDeliveries(tx: Tx, webhookId: number, now: number): number {
  return tx.run(RESUME, { webhookId, now });
}

/** What waits for the endpoint is given up, but for replays. */
export function dropWaitingDeliveries(tx: Tx, webhookId: number): number {
  return tx.run(DROP, { webhookId });
}

/** What failed of events since a time is due now, as replays; for a disabled endpoint also what was never tried. */
export function replayUndelivered(
  tx: Tx,
  webhookId: number,
  since: number,
  now: number,
  active: boolean,
): number {
  return tx.run(REPLAY, { webhookId, since, now, active: active ? 1 : 0 });
}

/** After the clock was put back: what was never tried is due now, nothing later than `latest`, and no lease is longer than one. */
export function clampWebhookSchedule(tx: Tx, now: number, latest: number): void {
  tx.run(CLAMP, { now, latest, leaseEnd: now + WEBHOOK_LEASE_MS });
}
