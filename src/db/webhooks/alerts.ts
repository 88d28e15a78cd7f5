// Alerts for the operator: the raised alerts, the endpoints that receive them, and facts that raise some of them.

import type { AlertKind } from "../../domain/alerts/conditions.ts";
import { isCuid } from "../../domain/values/text.ts";
import type { Reader, Tx } from "../port/port.ts";
import { fields, query, select, statement } from "../port/query.ts";
import { number, text } from "../port/table-definition.ts";
import { type Alert, alerts, type AnyWebhook, webhooks } from "../tables/webhooks.ts";

/** An endpoint of the operator, which receives alerts: a row of `webhooks` without a reseller. */
export interface AlertEndpoint extends AnyWebhook {
  resellerAccount: null;
}

const OPEN = query({
  columns: fields(alerts),
  text: `SELECT ${select(alerts)} FROM alerts WHERE resolved_at IS NULL ORDER BY seq`,
});

const RECENT = query({
  parameters: { limit: number },
  columns: fields(alerts),
  text: `SELECT ${select(alerts)} FROM alerts ORDER BY seq DESC LIMIT :limit`,
});

const COUNTS = query({
  columns: { kind: text, open: number },
  text: `SELECT kind, count(*) AS "open" FROM alerts WHERE resolved_at IS NULL GROUP BY kind`,
});

const ENDPOINTS = query({
  columns: fields(webhooks),
  text: `SELECT ${select(webhooks)} FROM webhooks
    WHERE reseller_account IS NULL AND deleted_at IS NULL ORDER BY webhook_id`,
});

const FAILED_WEBHOOKS = query({
  columns: { id: text },
  text: `SELECT webhooks.id AS "id"
    FROM webhooks JOIN users ON users.account = webhooks.reseller_account
    WHERE deleted_at IS NULL AND (disabled_reason = 'failures' OR disabled_reason = 'gone')
      AND users.test_of IS NULL
    ORDER BY webhook_id`,
});

const LIMITED_KEYS = query({
  parameters: { from: number, to: number },
  columns: { id: text },
  text: `SELECT id FROM keys WHERE recharge_refused_at BETWEEN :from AND :to
      AND active = 1 AND ended = 0 AND test_of IS NULL
    ORDER BY created_at, id`,
});

const EXPIRE = statement({
  parameters: { before: number, limit: number },
  writes: [alerts],
  text: `DELETE FROM alerts WHERE seq IN (
    SELECT seq FROM alerts WHERE resolved_at < :before ORDER BY resolved_at LIMIT :limit)`,
});

/** Lists all open alerts, oldest first. */
export function listOpenAlerts(reader: Reader): Alert[] {
  return reader.all(OPEN);
}

/** Lists the newest alerts, open and resolved, newest first. */
export function listRecentAlerts(reader: Reader, limit: number): Alert[] {
  return reader.all(RECENT, { limit });
}

export function countOpenAlerts(reader: Reader): Map<string, number> {
  return new Map(reader.all(COUNTS).map(({ kind, open }) => [kind, open]));
}

/** Lists all alert endpoints, oldest first. */
export function listAlertEndpoints(reader: Reader): AlertEndpoint[] {
  return reader.all(ENDPOINTS) as AlertEndpoint[];
}

/** Finds an alert endpoint by its public id. Returns undefined for a deleted one and for a reseller's. */
export function findAlertEndpoint(reader: Reader, id: string): AlertEndpoint | undefined {
  const found = isCuid(id) ? reader.row(webhooks.byId, id) : undefined;
  if (!found || found.resellerAccount !== null || found.deletedAt !== null) return undefined;
  return found as AlertEndpoint;
}

/** Returns the ids of endpoints that were disabled because they failed, without those of test accounts. */
export function listWebhooksFailed(reader: Reader): string[] {
  return reader.all(FAILED_WEBHOOKS).map(({ id }) => id);
}

/** Returns the ids of keys whose recharges were refused because of a limit within the window, without test keys. */
export function listLimitedKeys(reader: Reader, window: { from: number; to: number }): string[] {
  return reader.all(LIMITED_KEYS, window).map(({ id }) => id);
}

export function findOpenAlert(reader: Reader, kind: AlertKind, subject: string): Alert | undefined {
  return reader.row(alerts.byOpen, kind, subject);
}

export function insertAlert(
  tx: Tx,
  alert: Omit<Alert, "seq" | "notifiedAmount" | "notifiedAt"> & Partial<Alert>,
): Alert {
  return tx.insert(alerts, alert);
}

export function resolveAlert(tx: Tx, alert: Alert, resolvedAt: number): void {
  tx.update(alerts, alert, { resolvedAt });
}

export function updateAlert(
  tx: Tx,
  alert: Alert,
  changes: Partial<Pick<Alert, "message" | "notifiedAmount" | "notifiedAt">>,
): void {
  tx.update(alerts, alert, changes);
}

/** Deletes alerts that were resolved before that time, at most `limit`. Returns how many. */
export function deleteOldAlerts(tx: Tx, before: number, limit: number): number {
  return tx.run(EXPIRE, { before, limit });
}
