// The reseller's own webhook endpoints. docs/specification/webhooks.md#webhooks-api.

import { after, type Awaitable, type Reader, type ReadStore } from "../../db/port/port.ts";
import { listWebhookAttempts } from "../../db/webhooks/webhook-deliveries.ts";
import { findWebhook, listWebhooks, type Webhook } from "../../db/webhooks/webhooks.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { publicAttempt, publicWebhook } from "../../domain/webhooks/webhooks.ts";
import { newSecret } from "../../webhooks/secrets.ts";
import type { CheckWebhookUrl } from "../../domain/webhooks/webhook-urls.ts";
import type { Writer } from "../../writer/writer.ts";
import { readBody, readOptionalBody } from "../read/body.ts";
import type { Call } from "../server/endpoint.ts";
import { cursorFilter, formatCursor, limitFilter } from "../read/paging.ts";
import { queryOf } from "../read/query.ts";
import { changedTerms, graceField, newTerms, replayFields } from "../read/webhook-fields.ts";
import * as describe from "../../api-docs/endpoints/webhooks.ts";
import { WEBHOOK, type Route } from "../server/api-route.ts";

export interface WebhookDeps {
  /** Milliseconds since 1970. */
  now: () => number;
  store: ReadStore;
  writer: Writer;
  checkWebhookUrl: CheckWebhookUrl;
}

function getWebhooks({ store }: WebhookDeps, { key }: Call): Awaitable<object> {
  return store.read((reader) => {
    const webhooks = listWebhooks(reader, key.resellerAccount).map(publicWebhook);
    return { status: "success", webhooks };
  });
}

function getWebhook({ store }: WebhookDeps, call: Call): Awaitable<object> {
  return store.read((reader) => response(ownWebhook(reader, call)));
}

async function postWebhook(deps: WebhookDeps, call: Call): Promise<object> {
  const { fields } = await readBody(call.request);
  const terms = await newTerms(fields, deps.checkWebhookUrl);
  const secret = newSecret();
  const command = { ...terms, username: null, secret, actor: actorOf(call) };
  return withSecret(await deps.writer.submit("createWebhook", command));
}

async function patchWebhook(deps: WebhookDeps, call: Call): Promise<object> {
  const { fields } = await readBody(call.request);
  const changes = await changedTerms(fields, deps.checkWebhookUrl);
  const command = { ...commandOf(call), changes };
  return response(await deps.writer.submit("updateWebhook", command));
}

/** Returns the endpoint as it was before its deletion. */
async function deleteWebhook({ writer }: WebhookDeps, call: Call): Promise<object> {
  return response(await writer.submit("deleteWebhook", commandOf(call)));
}

async function postWebhookTest({ writer }: WebhookDeps, call: Call): Promise<object> {
  return queuedResponse(await writer.submit("testWebhook", commandOf(call)));
}

async function postWebhookRotate({ writer }: WebhookDeps, call: Call): Promise<object> {
  const graceMs = graceField(await readOptionalBody(call.request));
  const command = { ...commandOf(call), secret: newSecret(), graceMs };
  return withSecret(await writer.submit("rotateWebhook", command));
}

async function postWebhookReplay({ writer, now }: WebhookDeps, call: Call): Promise<object> {
  const { fields } = await readBody(call.request);
  const what = replayFields(fields, now());
  return queuedResponse(await writer.submit("replayWebhook", { ...commandOf(call), what }));
}

function getWebhookDeliveries({ store }: WebhookDeps, call: Call): Awaitable<object> {
  const query = queryOf(call.request);
  const limit = limitFilter(query);
  const below = cursorFilter(query, "deliveries");
  const page = store.read((reader) =>
    listWebhookAttempts(reader, ownWebhook(reader, call), below, limit),
  );
  return after(page, ({ rows, next }) => ({
    status: "success",
    deliveries: rows.map(publicAttempt),
    nextCursor: next === null ? null : formatCursor("deliveries", next),
  }));
}

/** Finds an endpoint of the caller. Another reseller's endpoint gets the same 404 as one that does not exist. */
function ownWebhook(reader: Reader, { params, key }: Call): Webhook {
  const webhook = findWebhook(reader, params["id"]!);
  if (!webhook || webhook.resellerAccount !== key.resellerAccount) {
    throw refusal("webhook_not_found");
  }
  return webhook;
}

function commandOf(call: Call) {
  return { id: call.params["id"]!, actor: actorOf(call) };
}

function actorOf({ key }: Call): Actor {
  return { keyId: key.id, operator: null };
}

function response(webhook: Webhook): object {
  return { status: "success", webhook: publicWebhook(webhook) };
}

/** Returns a response with the secret; no other response has it. */
function withSecret(webhook: Webhook): object {
  const { secret } = webhook;
  return { status: "success", webhook: { ...publicWebhook(webhook), secret } };
}

function queuedResponse(queued: number): object {
  return { status: "success", queued };
}

export const routes: readonly Route<WebhookDeps>[] = [
  ["GET", "/api/v1/webhooks", WEBHOOK, getWebhooks, describe.listWebhooks],
  ["POST", "/api/v1/webhooks", WEBHOOK, postWebhook, describe.createWebhook],
  ["GET", "/api/v1/webhooks/:id", WEBHOOK, getWebhook, describe.getWebhook],
  ["PATCH", "/api/v1/webhooks/:id", WEBHOOK, patchWebhook, describe.updateWebhook],
  ["DELETE", "/api/v1/webhooks/:id", WEBHOOK, deleteWebhook, describe.deleteWebhook],
  ["POST", "/api/v1/webhooks/:id/test", WEBHOOK, postWebhookTest, describe.testWebhook],
  ["POST", "/api/v1/webhooks/:id/rotate", WEBHOOK, postWebhookRotate, describe.rotateWebhook],
  ["POST", "/api/v1/webhooks/:id/replay", WEBHOOK, postWebhookReplay, describe.replayWebhook],
  [
    "GET",
    "/api/v1/webhooks/:id/deliveries",
    WEBHOOK,
    getWebhookDeliveries,
    describe.listDeliveries,
  ],
];
