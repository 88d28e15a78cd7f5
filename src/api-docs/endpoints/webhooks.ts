// The OpenAPI descriptions of webhook endpoints.

import { GRACE_SECONDS } from "../../domain/values/kinds.ts";
import { Refusal, refusal } from "../../domain/values/error-table.ts";
import { EVENTS_FORM } from "../../domain/webhooks/webhook-events.ts";
import { WEBHOOKS_LIMIT } from "../../domain/values/limits.ts";
import { CREATED_AT, EVENT_ID, WEBHOOK_ID } from "../schemas/examples.ts";
import { NEEDS_ORDER_KEY, type Operation, type Parameter } from "../schemas/operation.ts";
import { PAGE_PARAMETERS } from "./orders.ts";

const OF = { id: WEBHOOK_ID };
const UNKNOWN = "a".repeat(24);

const WEBHOOK = {
  id: WEBHOOK_ID,
  url: "https://shop.example/hooks",
  events: ["*"],
  balanceLowBelow: 10,
  active: true,
  disabledReason: null,
  createdAt: CREATED_AT,
};
const CHANGED = { ...WEBHOOK, events: ["order.completed", "order.partial"] };
const SECRET = `whsec_${"A".repeat(43)}=`;

const idParameter: Parameter = {
  name: "id",
  in: "path",
  description: "The endpoint's id.",
  schema: { type: "string" },
};

const notFound = {
  name: "webhook_not_found",
  summary: "Unknown, or another reseller's",
  parameters: { id: UNKNOWN },
  response: refusal("webhook_not_found"),
};

export const createWebhook: Operation = {
  id: "createWebhook",
  tag: "Webhooks",
  summary: "Create an endpoint",
  description: `Registers a URL. Events of your orders, your balance and your services are sent to it from now on, signed with the secret that only this answer shows. At most ${WEBHOOKS_LIMIT} endpoints. ${NEEDS_ORDER_KEY}`,
  body: "WebhookRequest",
  response: "WebhookSecretAnswer",
  examples: [
    {
      name: "webhook",
      summary: "All events, and a warning below 10 USD",
      body: { url: "https://shop.example/hooks", events: ["*"], balanceLowBelow: 10 },
      response: { status: "success", webhook: { ...WEBHOOK, secret: SECRET } },
    },
    {
      name: "field_missing",
      summary: "No URL",
      body: { events: ["*"] },
      response: new Refusal("field_missing", { field: "url" }),
    },
    {
      name: "field_invalid",
      summary: "An unknown event",
      body: { url: "https://shop.example/hooks", events: ["order.paid"] },
      response: new Refusal("field_invalid", { field: "events", must: EVENTS_FORM }),
    },
    {
      name: "url",
      summary: "A URL with a fragment, which is never sent",
      body: { url: "https://shop.example/hooks#orders" },
      response: new Refusal("field_invalid", { field: "url", must: "a URL without a fragment" }),
    },
  ],
  refusals: [refusal("webhooks_too_many")],
};

export const listWebhooks: Operation = {
  id: "listWebhooks",
  tag: "Webhooks",
  summary: "List your endpoints",
  description: `Returns your endpoints, oldest first, without their secrets. ${NEEDS_ORDER_KEY}`,
  response: "Webhooks",
  examples: [
    {
      name: "webhooks",
      summary: "One endpoint",
      response: { status: "success", webhooks: [WEBHOOK] },
    },
  ],
  refusals: [],
};

export const getWebhook: Operation = {
  id: "getWebhook",
  tag: "Webhooks",
  summary: "Read an endpoint",
  description: `Returns an endpoint, without its secret. ${NEEDS_ORDER_KEY}`,
  parameters: [idParameter],
  response: "WebhookAnswer",
  examples: [
    {
      name: "webhook",
      summary: "The endpoint",
      parameters: OF,
      response: { status: "success", webhook: WEBHOOK },
    },
    notFound,
  ],
  refusals: [],
};

export const updateWebhook: Operation = {
  id: "updateWebhook",
  tag: "Webhooks",
  summary: "Change an endpoint",
  description: `Changes the members that the body has; the others stay as they are. \`balanceLowBelow\` null ends the warning. ${NEEDS_ORDER_KEY}`,
  parameters: [idParameter],
  body: "WebhookChanges",
  response: "WebhookAnswer",
  examples: [
    {
      name: "webhook",
      summary: "Other events",
      parameters: OF,
      body: { events: ["order.completed", "order.partial"] },
      response: { status: "success", webhook: CHANGED },
    },
    { ...notFound, body: { events: ["*"] } },
    {
      name: "field_invalid",
      summary: "An empty list of events",
      parameters: OF,
      body: { events: [] },
      response: new Refusal("field_invalid", { field: "events", must: EVENTS_FORM }),
    },
  ],
  refusals: [],
};

export const testWebhook: Operation = {
  id: "testWebhook",
  tag: "Webhooks",
  summary: "Send a test event",
  description: `Sends a \`webhook.test\` event once, even to a disabled endpoint. The deliveries show the outcome. ${NEEDS_ORDER_KEY}`,
  parameters: [idParameter],
  response: "Queued",
  examples: [
    {
      name: "queued",
      summary: "The event is queued",
      parameters: OF,
      response: { status: "success", queued: 1 },
    },
    notFound,
  ],
  refusals: [],
};

export const listDeliveries: Operation = {
  id: "listDeliveries",
  tag: "Webhooks",
  summary: "List the deliveries",
  description: `Returns every attempt of the last 30 days, newest first. ${NEEDS_ORDER_KEY}`,
  parameters: [idParameter, ...PAGE_PARAMETERS.filter(({ name }) => /limit|cursor/.test(name))],
  response: "Deliveries",
  examples: [
    {
      name: "deliveries",
      summary: "An attempt that failed",
      parameters: OF,
      response: {
        status: "success",
        deliveries: [
          {
            id: `${EVENT_ID}.1`,
            webhookId: WEBHOOK_ID,
            eventId: EVENT_ID,
            type: "webhook.test",
            attempt: 1,
            at: CREATED_AT,
            durationMs: 34,
            httpStatus: 503,
            error: "status",
            response: "come back later",
          },
        ],
        nextCursor: null,
      },
    },
    notFound,
  ],
  refusals: [
    new Refusal("field_invalid", { field: "cursor", must: "the nextCursor of an earlier answer" }),
  ],
};

export const replayWebhook: Operation = {
  id: "replayWebhook",
  tag: "Webhooks",
  summary: "Send again",
  description: `Sends one delivery again, or all failed deliveries of events since a time, with the same id and body and a new signature. It works on a disabled endpoint, and failures do not count towards disabling it. ${NEEDS_ORDER_KEY}`,
  parameters: [idParameter],
  body: "ReplayRequest",
  response: "Queued",
  examples: [
    {
      name: "delivery",
      summary: "One delivery",
      parameters: OF,
      body: { delivery: `${EVENT_ID}.1` },
      response: { status: "success", queued: 1 },
    },
    notFoundReplay(),
    {
      name: "delivery_not_found",
      summary: "Not a delivery of this endpoint",
      parameters: OF,
      body: { delivery: "evt_unknown.1" },
      response: refusal("delivery_not_found"),
    },
    {
      name: "field_invalid",
      summary: "Too long ago",
      parameters: OF,
      body: { since: "2020-01-01T00:00:00Z" },
      response: new Refusal("field_invalid", { field: "since", must: "at most 14 days ago" }),
    },
    {
      name: "field_missing",
      summary: "Neither `delivery` nor `since`",
      parameters: OF,
      body: {},
      response: new Refusal("field_missing", { field: "delivery" }),
    },
  ],
  refusals: [],
};

function notFoundReplay() {
  return { ...notFound, body: { delivery: `${EVENT_ID}.1` } };
}

export const rotateWebhook: Operation = {
  id: "rotateWebhook",
  tag: "Webhooks",
  summary: "Change the secret",
  description: `Makes a new secret, which signs from now on. For \`graceSeconds\`, a day unless you say otherwise, the old one signs too, and earlier ones until the end of their own grace. With 0 only the new secret signs. ${NEEDS_ORDER_KEY}`,
  parameters: [idParameter],
  body: "RotateRequest",
  isBodyOptional: true,
  response: "WebhookSecretAnswer",
  examples: [
    {
      name: "webhook",
      summary: "The old one ends in an hour",
      parameters: OF,
      body: { graceSeconds: 3600 },
      response: { status: "success", webhook: { ...CHANGED, secret: SECRET } },
    },
    { ...notFound, body: {} },
    {
      name: "field_invalid",
      summary: "A grace that is not a whole number",
      parameters: OF,
      body: { graceSeconds: 1.5 },
      response: new Refusal("field_invalid", { field: "graceSeconds", must: GRACE_SECONDS.form }),
    },
  ],
  refusals: [refusal("webhook_secrets_too_many")],
};

export const deleteWebhook: Operation = {
  id: "deleteWebhook",
  tag: "Webhooks",
  summary: "Delete an endpoint",
  description: `Deletes an endpoint: nothing more is sent to it. ${NEEDS_ORDER_KEY}`,
  parameters: [idParameter],
  response: "WebhookAnswer",
  examples: [
    {
      name: "webhook",
      summary: "The deleted endpoint",
      parameters: OF,
      response: { status: "success", webhook: CHANGED },
    },
    notFound,
  ],
  refusals: [],
};
