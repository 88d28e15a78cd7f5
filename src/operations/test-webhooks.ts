// An event of any type for the endpoints of a test account, without anything that caused it.
// docs/specification.md#post-test-webhook.

import { refusal } from "../domain/refusals.ts";
import type { WebhookEventType } from "../domain/webhook-events.ts";
import { sampleEventData } from "../domain/webhook-samples.ts";
import type { Tx } from "../db/port.ts";
import { listWebhooks } from "../db/webhooks.ts";
import { requireCaller } from "./callers.ts";
import type { Context } from "./context.ts";
import { insertEvent } from "./webhook-events.ts";

export interface SendTestEvent {
  keyId: string;
  type: WebhookEventType;
}

/**
 * To each active endpoint, whatever events it wants. Returns how many that are.
 * Refuses what requireCaller refuses, then not_found.
 */
export function sendTestEvent(tx: Tx, command: SendTestEvent, context: Context): number {
  const key = requireCaller(tx, command.keyId, "webhook", context);
  if (key.testOf === null) throw refusal("not_found");
  const { resellerAccount: account } = key;
  const endpoints = listWebhooks(tx, account).filter(({ active }) => active);
  const data = sampleEventData(command.type, context.createId(), context.now);
  insertEvent(tx, { account, type: command.type, data }, endpoints, context);
  return endpoints.length;
}
