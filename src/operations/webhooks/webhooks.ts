// Webhook endpoints. The reseller's key, its member or the operator creates, changes, enables, disables and deletes them.
// docs/specification/webhooks.md#webhooks.

import type { AuditAction, AuditFacts } from "../../domain/administrators/audit.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { memberOf } from "../../domain/members/members.ts";
import { refusal } from "../../domain/values/error-table.ts";
import {
  isDisabledByFailures,
  NO_EARLIER_SECRETS,
  refuseTooManyWebhooks,
  rotatedSecrets,
  combineSubscriptions,
} from "../../domain/webhooks/webhooks.ts";
import { findPortalSettings } from "../../db/members/members.ts";
import type { Tx } from "../../db/port/port.ts";
import { OUTBOX_LOCK } from "../../db/tables/locks.ts";
import {
  findWebhook,
  insertWebhook,
  listWebhooks,
  updateWanted,
  updateWebhook as writeWebhook,
  type Webhook,
} from "../../db/webhooks/webhooks.ts";
import {
  dropWaitingDeliveries,
  resumeWaitingDeliveries,
} from "../../db/webhooks/webhook-deliveries.ts";
import { audit } from "../batch/audit.ts";
import { requireCaller } from "../batch/callers.ts";
import { requireActingMember } from "../members/acting.ts";
import type { Context } from "../batch/context.ts";
import { requireUser } from "../users/users.ts";
import { insertEvent } from "./webhook-events.ts";

/** The fields of an endpoint that its owner may set. */
export interface WebhookTerms {
  /** Checked by parseWebhookUrl. */
  url: string;
  /** The events as parseEvents returns them, separated by commas. */
  events: string;
  balanceLowBelow: number | null;
}

export interface CreateWebhook extends WebhookTerms {
  /** Null: the reseller of the actor's key, or of the member. */
  username: string | null;
  secret: string;
  actor: Actor;
}

/**
 * Creates an endpoint. Refuses what requireCaller refuses, then: user_not_found, child_cannot_hold_webhook,
 * webhooks_too_many.
 */
export function createWebhook(tx: Tx, command: CreateWebhook, context: Context): Webhook {
  const { username, actor, url, events, balanceLowBelow, secret } = command;
  const account = findOwnerAccount(tx, username, actor, context);
  const others = listWebhooks(tx, account);
  refuseTooManyWebhooks(others.length);
  // Nothing is refused from here on.
  const webhook = insertWebhook(tx, {
    id: context.createId(),
    resellerAccount: account,
    url,
    events,
    balanceLowBelow,
    secret,
    active: true,
    createdAt: context.now,
  });
  noteWanted(tx, account, [...others, webhook]);
  auditWebhook(tx, context, actor, "webhook.create", null, webhook);
  return webhook;
}

/** A change by the operator, or by a key or a member of the reseller that owns the endpoint. */
export interface OfWebhook {
  id: string;
  actor: Actor;
}

export interface UpdateWebhook extends OfWebhook {
  /** Absent fields stay as they are. */
  changes: Partial<WebhookTerms>;
}

/** Changes an endpoint. Refuses what requireCaller refuses, then: webhook_not_found. */
export function updateWebhook(tx: Tx, command: UpdateWebhook, context: Context): Webhook {
  const webhook = requireWebhook(tx, command, context);
  return change(tx, webhook, command.changes, "webhook.update", command.actor, context);
}

/**
 * Deletes an endpoint. Returns it as it was. Its waiting events are never sent; they are kept until they expire.
 * Refuses what updateWebhook refuses.
 */
export function deleteWebhook(tx: Tx, command: OfWebhook, context: Context): Webhook {
  const webhook = requireWebhook(tx, command, context);
  const others = listOtherWebhooks(tx, webhook);
  const disabledReason = isOperator(command.actor) ? "operator" : "owner";
  writeWebhook(tx, webhook, {
    active: false,
    disabledReason,
    disabledAt: context.now,
    deletedAt: context.now,
    secret: "",
    ...NO_EARLIER_SECRETS,
  });
  noteWanted(tx, webhook.resellerAccount, others);
  auditWebhook(tx, context, command.actor, "webhook.delete", webhook, null);
  return webhook;
}

/**
 * Disables an endpoint: waiting events are not sent, and no new ones are written for it. Refuses what updateWebhook
 * refuses.
 */
export function disableWebhook(tx: Tx, command: OfWebhook, context: Context): Webhook {
  const webhook = requireWebhook(tx, command, context);
  if (!webhook.active && !isDisabledByFailures(webhook)) return webhook;
  const { actor } = command;
  const disabledReason = isOperator(actor) ? "operator" : "owner";
  const changes = { active: false, disabledReason, disabledAt: context.now } as const;
  return change(tx, webhook, changes, "webhook.disable", actor, context);
}

export interface EnableWebhook extends OfWebhook {
  /** Whether events kept while it was disabled are sent now. Otherwise they are given up, and can be replayed. */
  replay: boolean;
}

/** Enables an endpoint and resets its failures. Refuses what updateWebhook refuses. */
export function enableWebhook(tx: Tx, command: EnableWebhook, context: Context): Webhook {
  const webhook = requireWebhook(tx, command, context);
  if (webhook.active) return webhook;
  const others = listOtherWebhooks(tx, webhook);
  tx.lock(OUTBOX_LOCK);
  if (command.replay) resumeWaitingDeliveries(tx, webhook.webhookId, context.now);
  else dropWaitingDeliveries(tx, webhook.webhookId);
  const changes = {
    active: true,
    disabledReason: null,
    disabledAt: null,
    failures: 0,
    failingSince: null,
  };
  const enabled = writeWebhook(tx, webhook, changes);
  noteWanted(tx, webhook.resellerAccount, [...others, enabled]);
  auditWebhook(tx, context, command.actor, "webhook.enable", webhook, enabled);
  return enabled;
}

export interface RotateWebhook extends OfWebhook {
  secret: string;
  /** How long the old secret also signs; 0: no earlier secret signs any more. */
  graceMs: number;
}

/** Replaces the secret. Refuses what updateWebhook refuses, then: webhook_secrets_too_many. */
export function rotateWebhook(tx: Tx, command: RotateWebhook, context: Context): Webhook {
  const webhook = requireWebhook(tx, command, context);
  const { secret, graceMs, actor } = command;
  const secrets = rotatedSecrets(webhook, secret, graceMs, context.now);
  const { previousUntil } = secrets;
  const rotated = writeWebhook(tx, webhook, secrets);
  audit(tx, context, {
    actor,
    action: "webhook.rotate",
    subject: webhook.id,
    account: webhook.resellerAccount,
    before: null,
    after: { previousUntilAt: previousUntil },
  });
  return rotated;
}

/** Sends a `webhook.test` event in one attempt, even to a disabled endpoint. Refuses what updateWebhook refuses. */
export function testWebhook(tx: Tx, command: OfWebhook, context: Context): number {
  const webhook = requireWebhook(tx, command, context);
  const { resellerAccount: account } = webhook;
  const event = { account, type: "webhook.test", data: {} } as const;
  insertEvent(tx, event, [webhook], context, { tries: 1, replay: true });
  return 1;
}

/**
 * Returns the endpoint, if the actor may use it. Refuses what requireCaller refuses, or for a member what
 * requireActingMember refuses, then: webhook_not_found.
 */
export function requireWebhook(tx: Tx, { id, actor }: OfWebhook, context: Context): Webhook {
  const owner = isOperator(actor) ? null : accountOf(tx, actor, context);
  const webhook = findWebhook(tx, id);
  if (!webhook || (owner !== null && webhook.resellerAccount !== owner)) {
    throw refusal("webhook_not_found");
  }
  return webhook;
}

function findOwnerAccount(tx: Tx, username: string | null, actor: Actor, context: Context): number {
  if (username === null) return accountOf(tx, actor, context);
  const user = requireUser(tx, username);
  if (user.parentAccount !== null) throw refusal("child_cannot_hold_webhook");
  return user.account;
}

/** Returns whether the author may change the endpoints of every reseller. */
function isOperator({ keyId, operator }: Actor): boolean {
  return keyId === null && memberOf(operator) === null;
}

/** Returns the account of the key, or the one that the member acts on. */
function accountOf(tx: Tx, actor: Actor, context: Context): number {
  if (actor.keyId === null) return requireActingMember(tx, actor, "keys").account;
  return requireCaller(tx, actor.keyId, "webhook", context).resellerAccount;
}

function listOtherWebhooks(tx: Tx, { resellerAccount, webhookId }: Webhook): Webhook[] {
  return listWebhooks(tx, resellerAccount).filter((other) => other.webhookId !== webhookId);
}

function change(
  tx: Tx,
  webhook: Webhook,
  changes: Partial<Webhook>,
  action: AuditAction,
  actor: Actor,
  context: Context,
): Webhook {
  const others = listOtherWebhooks(tx, webhook);
  const changed = writeWebhook(tx, webhook, changes);
  noteWanted(tx, webhook.resellerAccount, [...others, changed]);
  auditWebhook(tx, context, actor, action, webhook, changed);
  return changed;
}

/** Stores in the account's row to which events its endpoints and members subscribe (combineSubscriptions). */
export function noteWanted(tx: Tx, account: number, endpoints: readonly Webhook[]): void {
  const { lowBalanceMicros } = findPortalSettings(tx, account);
  updateWanted(tx, account, combineSubscriptions(endpoints, lowBalanceMicros));
}

function auditWebhook(
  tx: Tx,
  context: Context,
  actor: Actor,
  action: AuditAction,
  before: Webhook | null,
  after: Webhook | null,
): void {
  const { id, resellerAccount } = (after ?? before)!;
  audit(tx, context, {
    actor,
    action,
    subject: id,
    account: resellerAccount,
    before: before && webhookFacts(before),
    after: after && webhookFacts(after),
  });
}

/** Returns the fields of an endpoint that the audit log records: no secret. */
function webhookFacts(webhook: Webhook): AuditFacts {
  const { url, events, balanceLowBelow, active, disabledReason } = webhook;
  return { url, events, balanceLowMicros: balanceLowBelow, active, disabledReason };
}
