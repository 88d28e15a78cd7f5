// Figures of webhooks, for the metrics and `doctor`.

import { DISABLED_REASONS, type DisabledReason } from "../../domain/webhooks/webhook-events.ts";
import type { Reader } from "../port/port.ts";
import { query } from "../port/query.ts";
import { nullable, number, text } from "../port/table-definition.ts";

/** SQL condition that excludes the webhooks of test accounts, which only their developers monitor. */
const IS_LIVE =
  "webhooks.reseller_account NOT IN (SELECT account FROM users WHERE test_of IS NOT NULL)";

/** Finds the oldest event by its number. Leaves out events that wait only for disabled endpoints. */
const OLDEST_UNDELIVERED = query({
  columns: { createdAt: nullable(number) },
  text: `SELECT created_at AS "createdAt" FROM webhook_events WHERE event_id = (
    SELECT min(webhook_deliveries.event_id) FROM webhook_deliveries
      JOIN webhooks ON webhooks.webhook_id = webhook_deliveries.webhook_id
      WHERE webhook_deliveries.due_at IS NOT NULL AND webhooks.active = 1 AND ${IS_LIVE})`,
});

const DISABLED = query({
  columns: { reason: text, endpoints: number },
  text: `SELECT disabled_reason AS reason, count(*) AS endpoints FROM webhooks
    WHERE deleted_at IS NULL AND active = 0 AND ${IS_LIVE} GROUP BY disabled_reason`,
});

/** SQL for the number of endpoints that were disabled because they failed. `gone`: the endpoint answered 410. */
export const FAILED_WEBHOOKS = `SELECT count(*) FROM webhooks
  WHERE deleted_at IS NULL AND (disabled_reason = 'failures' OR disabled_reason = 'gone') AND ${IS_LIVE}`;

export interface FailedWebhooks {
  username: string;
  /** Endpoints that were disabled because they failed. */
  disabled: number;
  /** Number of active endpoints that have failed since their last success. */
  failing: number;
  /** Start of the longest failure among them. */
  failingSince: number | null;
}

/** Limit for users in the list. */
const FAILED_LIMIT = 20;

const FAILED_BY_USER = query({
  columns: { username: text, disabled: number, failing: number, failingSince: nullable(number) },
  text: `SELECT users.username AS "username", count(disabled_reason) AS "disabled",
      count(*) - count(disabled_reason) AS "failing",
      min(CASE WHEN disabled_reason IS NULL THEN failing_since END) AS "failingSince"
    FROM webhooks JOIN users ON users.account = webhooks.reseller_account
    WHERE deleted_at IS NULL AND users.test_of IS NULL AND (disabled_reason = 'failures'
      OR disabled_reason = 'gone' OR (webhooks.active = 1 AND failing_since IS NOT NULL))
    GROUP BY users.account, users.username ORDER BY users.account LIMIT ${FAILED_LIMIT}`,
});

export function listFailedWebhooks(reader: Reader): FailedWebhooks[] {
  return reader.all(FAILED_BY_USER);
}

/** Returns the time of the oldest event that waits for an active endpoint; null if none waits. */
export function oldestUndeliveredAt(reader: Reader): number | null {
  return reader.one(OLDEST_UNDELIVERED)?.createdAt ?? null;
}

export function countDisabledWebhooks(reader: Reader): Record<DisabledReason, number> {
  const counts = new Map(reader.all(DISABLED).map((row) => [row.reason, row.endpoints]));
  return Object.fromEntries(
    DISABLED_REASONS.map((reason) => [reason, counts.get(reason) ?? 0]),
  ) as Record<DisabledReason, number>;
}
