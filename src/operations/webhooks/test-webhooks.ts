// Sends an event of any type to the endpoints of a test account, without anything that caused it.
// docs/specification/sandbox.md#post-test-webhook.

import { refusal } from "../../domain/values/error-table.ts";
import type { WebhookEventType } from "../../domain/webhooks/webhook-events.ts";
import { sampleEventData } from "../../domain/webhooks/webhook-samples.ts";
import type { Tx } from "../../db/port/port.ts";
import { listWebhooks } from "../../db/webhooks/webhooks.ts";
import { requireCaller } from "../batch/callers.ts";
import type { Context } from "../batch/context.ts";
import { insertEvent } from "./webhook-events.ts";

export interface SendTestEvent {
  keyId: string;
  type: WebhookEventType;
}

/**
 * Sends an event to each active endpoint, even if it does not subscribe to the type. Returns the number of endpoints.
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
