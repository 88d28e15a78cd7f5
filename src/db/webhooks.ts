// Endpoints of webhooks, and the events that are written for them.

import { CUID } from "./orders.ts";
import type { Wanted } from "../domain/webhooks.ts";
import type { Reader, Tx } from "./port.ts";
import { fields, query, select } from "./query.ts";
import type { webhooks as schema } from "./schema.ts";
import { number } from "./table-definition.ts";
import { users, webhooks } from "./tables.ts";

export type AnyWebhook = Readonly<typeof schema.$inferSelect>;

/** Of a reseller; those of the operator are in db/alerts.ts. */
export interface Webhook extends AnyWebhook {
  resellerAccount: number;
}

export interface ListedWebhook extends Webhook {
  username: string;
}

const OF_RESELLER = query({
  takes: { resellerAccount: number },
  gives: fields(webhooks),
  within: ["resellerAccount"],
  text: `SELECT ${select(webhooks)} FROM webhooks
    WHERE reseller_account = :resellerAccount AND deleted_at IS NULL ORDER BY webhook_id`,
});

const ALL = query({
  gives: fields(webhooks),
  text: `SELECT ${select(webhooks)} FROM webhooks
    WHERE deleted_at IS NULL AND reseller_account IS NOT NULL ORDER BY webhook_id`,
});

/** By its public id; undefined for a deleted one and for one of the operator. */
export function findWebhook(reader: Reader, id: string): Webhook | undefined {
  const webhook = CUID.test(id) ? reader.row(webhooks.byId, id) : undefined;
  if (!webhook || webhook.deletedAt !== null || webhook.resellerAccount === null) return undefined;
  return webhook as Webhook;
}

/** Oldest first, of one reseller or of all. */
export function listWebhooks(reader: Reader, resellerAccount?: number): Webhook[] {
  if (resellerAccount === undefined) return reader.all(ALL) as Webhook[];
  return reader.all(OF_RESELLER, { resellerAccount }) as Webhook[];
}

export function withUsername(reader: Reader, webhook: Webhook): ListedWebhook {
  return { ...webhook, username: reader.row(users.byKey, webhook.resellerAccount)!.username };
}

export function insertWebhook(
  tx: Tx,
  webhook: Omit<typeof schema.$inferInsert, "resellerAccount"> & { resellerAccount: number },
): Webhook {
  return tx.insert(webhooks, webhook) as Webhook;
}

export function updateWebhook(tx: Tx, webhook: Webhook, changes: Partial<Webhook>): Webhook {
  return tx.update(webhooks, webhook, changes) as Webhook;
}

/** On the account's row, which every change of the account reads anyway. */
export function updateWanted(tx: Tx, account: number, wanted: Wanted): void {
  const { wantedEvents, lowBalanceMicros } = wanted;
  tx.update(users, { account }, { wantedEvents, lowBalanceMicros });
}
