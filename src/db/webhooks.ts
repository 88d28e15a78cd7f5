// Endpoints of webhooks, and the events that are written for them.

import { CUID } from "./orders.ts";
import type { Wanted } from "../domain/webhooks.ts";
import type { Reader, Tx } from "./port.ts";
import { fields, query, select } from "./query.ts";
import type { webhooks as schema } from "./schema.ts";
import { number } from "./table-definition.ts";
import { users, webhooks } from "./tables.ts";

export type Webhook = typeof schema.$inferSelect;

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
  text: `SELECT ${select(webhooks)} FROM webhooks WHERE deleted_at IS NULL ORDER BY webhook_id`,
});

/** By its public id; undefined for a deleted one. */
export function findWebhook(reader: Reader, id: string): Webhook | undefined {
  const webhook = CUID.test(id) ? reader.row(webhooks.byId, id) : undefined;
  return webhook && webhook.deletedAt === null ? webhook : undefined;
}

/** Oldest first, of one reseller or of all. */
export function listWebhooks(reader: Reader, resellerAccount?: number): Webhook[] {
  if (resellerAccount === undefined) return reader.all(ALL);
  return reader.all(OF_RESELLER, { resellerAccount });
}

export function withUsername(reader: Reader, webhook: Webhook): ListedWebhook {
  return { ...webhook, username: reader.row(users.byKey, webhook.resellerAccount)!.username };
}

/** On the account's row, which every change of the account reads anyway. */
export function updateWanted(tx: Tx, account: number, wanted: Wanted): void {
  const { wantedEvents, lowBalanceMicros } = wanted;
  tx.update(users, { account }, { wantedEvents, lowBalanceMicros });
}
