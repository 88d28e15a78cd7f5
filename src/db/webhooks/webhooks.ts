// Endpoints of resellers' webhooks.

import { isCuid } from "../../domain/values/text.ts";
import type { CombinedSubscriptions } from "../../domain/webhooks/webhooks.ts";
import type { Reader, Tx } from "../port/port.ts";
import { fields, listByConditions, query, select } from "../port/query.ts";
import { boolean, number, text } from "../port/table-definition.ts";
import { users } from "../tables/users.ts";
import { type AnyWebhook, type NewWebhook, webhooks } from "../tables/webhooks.ts";

/** An endpoint of a reseller. Endpoints of the operator are in db/webhooks/alerts.ts. */
export interface Webhook extends AnyWebhook {
  resellerAccount: number;
}

export interface ListedWebhook extends Webhook {
  username: string;
}

const OF_RESELLER = query({
  parameters: { resellerAccount: number },
  columns: fields(webhooks),
  restrictedBy: ["resellerAccount"],
  text: `SELECT ${select(webhooks)} FROM webhooks
    WHERE reseller_account = :resellerAccount AND deleted_at IS NULL ORDER BY webhook_id`,
});

const ALL = query({
  columns: fields(webhooks),
  text: `SELECT ${select(webhooks)} FROM webhooks
    WHERE deleted_at IS NULL AND reseller_account IS NOT NULL ORDER BY webhook_id`,
});

/** `username`: the endpoint's user; for a test account, that account's user. */
const NEWEST = listByConditions(
  { ...fields(webhooks), resellerAccount: number, username: text, isTest: boolean },
  (where) => `SELECT ${select(webhooks)}, coalesce(owners.username, users.username) AS "username",
      CASE WHEN users.test_of IS NULL THEN 0 ELSE 1 END AS "isTest"
    FROM webhooks JOIN users ON users.account = webhooks.reseller_account
      LEFT JOIN users AS owners ON owners.account = users.test_of
    ${where} ORDER BY webhooks.webhook_id DESC LIMIT :limit`,
);

export interface AnyonesWebhook extends ListedWebhook {
  isTest: boolean;
}

/** Lists endpoints of all users with numbers lower than `below`, newest first. `active` null: active or not. */
export function listWebhooksBelow(
  reader: Reader,
  active: boolean | null,
  below: number,
  limit: number,
): AnyonesWebhook[] {
  const conditions = ["webhooks.deleted_at IS NULL", "webhooks.webhook_id < :below"];
  const parameters = { below: number, limit: number };
  if (active === null) return reader.all(NEWEST(conditions, parameters), { below, limit });
  const list = NEWEST([...conditions, "webhooks.active = :active"], {
    ...parameters,
    active: boolean,
  });
  return reader.all(list, { below, limit, active });
}

/** Finds a reseller's endpoint by its public id. Returns undefined for a deleted one and for the operator's. */
export function findWebhook(reader: Reader, id: string): Webhook | undefined {
  const webhook = isCuid(id) ? reader.row(webhooks.byId, id) : undefined;
  if (!webhook || webhook.deletedAt !== null || webhook.resellerAccount === null) return undefined;
  return webhook as Webhook;
}

/** Lists the endpoints of one reseller, or of all, oldest first. */
export function listWebhooks(reader: Reader, resellerAccount?: number): Webhook[] {
  if (resellerAccount === undefined) return reader.all(ALL) as Webhook[];
  return reader.all(OF_RESELLER, { resellerAccount }) as Webhook[];
}

export function withUsername(reader: Reader, webhook: Webhook): ListedWebhook {
  return { ...webhook, username: reader.row(users.byKey, webhook.resellerAccount)!.username };
}

export function insertWebhook(
  tx: Tx,
  webhook: Omit<NewWebhook, "resellerAccount"> & { resellerAccount: number },
): Webhook {
  return tx.insert(webhooks, webhook) as Webhook;
}

export function updateWebhook(tx: Tx, webhook: Webhook, changes: Partial<Webhook>): Webhook {
  return tx.update(webhooks, webhook, changes) as Webhook;
}

/** Writes the wanted events into the user's row, which every change of the account reads anyway. */
export function updateWanted(tx: Tx, account: number, wanted: CombinedSubscriptions): void {
  const { wantedEvents, lowBalanceMicros } = wanted;
  tx.update(users, { account }, { wantedEvents, lowBalanceMicros });
}
