// Alerts for the operator: those that were raised, the endpoints that they are sent to, and what is looked at to decide.

import type { AlertKind } from "../domain/alerts.ts";
import { CUID } from "./orders.ts";
import type { Reader, Tx } from "./port.ts";
import { fields, query, select, statement } from "./query.ts";
import type { alerts as schema } from "./schema.ts";
import { number, text } from "./table-definition.ts";
import { alerts, webhooks } from "./tables.ts";
import type { AnyWebhook } from "./webhooks.ts";

export type Alert = typeof schema.$inferSelect;

/** A row of webhooks that belongs to no reseller. */
export interface AlertEndpoint extends AnyWebhook {
  resellerAccount: null;
}

const OPEN = query({
  gives: fields(alerts),
  text: `SELECT ${select(alerts)} FROM alerts WHERE resolved_at IS NULL ORDER BY seq`,
});

const RECENT = query({
  takes: { limit: number },
  gives: fields(alerts),
  text: `SELECT ${select(alerts)} FROM alerts ORDER BY seq DESC LIMIT :limit`,
});

const COUNTS = query({
  gives: { kind: text, open: number },
  text: `SELECT kind, count(*) AS "open" FROM alerts WHERE resolved_at IS NULL GROUP BY kind`,
});

const ENDPOINTS = query({
  gives: fields(webhooks),
  text: `SELECT ${select(webhooks)} FROM webhooks
    WHERE reseller_account IS NULL AND deleted_at IS NULL ORDER BY webhook_id`,
});

const FAILED_WEBHOOKS = query({
  gives: { id: text },
  text: `SELECT webhooks.id AS "id"
    FROM webhooks JOIN users ON users.account = webhooks.reseller_account
    WHERE deleted_at IS NULL AND (disabled_reason = 'failures' OR disabled_reason = 'gone')
      AND users.test_of IS NULL
    ORDER BY webhook_id`,
});

const EXPIRE = statement({
  takes: { before: number, limit: number },
  writes: [alerts],
  text: `DELETE FROM alerts WHERE seq IN (
    SELECT seq FROM alerts WHERE resolved_at < :before ORDER BY resolved_at LIMIT :limit)`,
});

/** Oldest first. */
export function listOpenAlerts(reader: Reader): Alert[] {
  return reader.all(OPEN);
}

/** Newest first, open ones and others. */
export function listRecentAlerts(reader: Reader, limit: number): Alert[] {
  return reader.all(RECENT, { limit });
}

export function countOpenAlerts(reader: Reader): Map<string, number> {
  return new Map(reader.all(COUNTS).map(({ kind, open }) => [kind, open]));
}

/** Oldest first. */
export function listAlertEndpoints(reader: Reader): AlertEndpoint[] {
  return reader.all(ENDPOINTS) as AlertEndpoint[];
}

/** By its public id; undefined for a deleted one, and for a reseller's. */
export function findAlertEndpoint(reader: Reader, id: string): AlertEndpoint | undefined {
  const found = CUID.test(id) ? reader.row(webhooks.byId, id) : undefined;
  if (!found || found.resellerAccount !== null || found.deletedAt !== null) return undefined;
  return found as AlertEndpoint;
}

/** Ids of endpoints of live resellers that failures disabled. */
export function listWebhooksFailed(reader: Reader): string[] {
  return reader.all(FAILED_WEBHOOKS).map(({ id }) => id);
}

export function findOpenAlert(reader: Reader, kind: AlertKind, subject: string): Alert | undefined {
  return reader.row(alerts.byOpen, kind, subject);
}

export function insertAlert(tx: Tx, alert: Omit<Alert, "seq">): Alert {
  return tx.insert(alerts, alert);
}

export function resolveAlert(tx: Tx, alert: Alert, resolvedAt: number): void {
  tx.update(alerts, alert, { resolvedAt });
}

/** Those that ended before; returns how many. */
export function deleteOldAlerts(tx: Tx, before: number, limit: number): number {
  return tx.run(EXPIRE, { before, limit });
}
