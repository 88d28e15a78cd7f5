// The JSON Schemas of webhooks: their endpoints, deliveries and events.

import {
  CREDIT_KINDS,
  DISABLED_REASONS,
  WANTABLE_EVENTS,
  WEBHOOK_EVENT_TYPES,
} from "../../domain/webhooks/webhook-events.ts";
import { WEBHOOK_URL_LIMIT } from "../../domain/webhooks/webhook-urls.ts";
import { SECRET_GRACE_LIMIT_SECONDS } from "../../domain/webhooks/webhooks.ts";
import { ORDER_STATUSES } from "../../domain/orders/order-statuses.ts";
import { type Schema, schemaRef } from "./operation.ts";
import {
  body,
  cuid,
  flag,
  listOf,
  nextCursor,
  nullable,
  object,
  success,
  text,
  time,
  usd,
  whole,
} from "./schema-parts.ts";

const url = text("Where events are sent: https, without user, password and fragment.", {
  minLength: 1,
  maxLength: WEBHOOK_URL_LIMIT,
});
const events = {
  ...listOf(
    { type: "string", enum: WANTABLE_EVENTS },
    "The events to send; `*` is everything but `order.progress`.",
  ),
  minItems: 1,
};
const balanceLowBelow = nullable(
  "number",
  "`balance.low` is sent when the balance falls below this amount; null: never. In USD, with at most six decimals.",
);
const secret = text("The secret that signs deliveries. Shown only once.", {
  pattern: "^whsec_[A-Za-z0-9+/]{43}=$",
});

const webhook = {
  id: cuid("Identifier of the endpoint."),
  url: text("Where events are sent."),
  events,
  balanceLowBelow,
  active: flag("Whether events are sent."),
  disabledReason: {
    enum: [...DISABLED_REASONS, null],
    description:
      "Why the endpoint is disabled: `failures` (only failures for five days), `gone` (it answered 410), `operator` or `owner`; null while it is active.",
  },
  createdAt: time("When it was made."),
};

const eventOf = (type: Schema, data: Schema) =>
  object("", { type, timestamp: time("When it happened."), data });
const typeOf = (type: string) => text(`Always \`${type}\`.`, { const: type });

export const WEBHOOK_SCHEMAS: Record<string, Schema> = {
  Webhook: object("An endpoint.", webhook),
  WebhookRequest: body("Unknown fields are ignored.", { url, events, balanceLowBelow }, ["url"]),
  WebhookChanges: {
    type: "object",
    description: "Members that are absent stay unchanged.",
    properties: { url, events, balanceLowBelow },
  },
  RotateRequest: {
    type: "object",
    properties: {
      graceSeconds: whole(
        "Seconds for which the old secret still signs, beside the new one.",
        0,
        SECRET_GRACE_LIMIT_SECONDS,
      ),
    },
  },
  ReplayRequest: {
    type: "object",
    description: "Exactly one of the two members.",
    properties: {
      delivery: text("The id of a delivery."),
      since: text(
        "Send all failed deliveries of events since this time, at most 14 days ago. ISO 8601.",
        {
          format: "date-time",
          examples: ["2026-07-20T00:00:00Z"],
        },
      ),
    },
  },
  WebhookAnswer: object("", { status: success, webhook: schemaRef("Webhook") }),
  WebhookSecretAnswer: object("", {
    status: success,
    webhook: { ...object("An endpoint with its secret.", { ...webhook, secret }) },
  }),
  Webhooks: object("", {
    status: success,
    webhooks: listOf(schemaRef("Webhook"), "Oldest first."),
  }),
  Queued: object("", {
    status: success,
    queued: whole("Number of deliveries that are due now.", 0),
  }),
  Delivery: object("An attempt to deliver an event.", {
    id: text("Identifier, for a replay."),
    webhookId: cuid("The endpoint."),
    eventId: text("Id of the event, its `webhook-id`."),
    type: text("Type of the event.", { enum: WEBHOOK_EVENT_TYPES }),
    attempt: whole("Number of the attempt, for this event and this endpoint.", 1),
    at: time("When it began."),
    durationMs: whole("How long it took, in milliseconds.", 0),
    httpStatus: nullable("integer", "The status of the response; null when there was none."),
    error: nullable("string", "A word that says what failed; null for a success."),
    response: nullable("string", "The first 1024 characters of the response's body."),
  }),
  Deliveries: object("", {
    status: success,
    deliveries: listOf(schemaRef("Delivery"), "Newest first, kept for 30 days."),
    nextCursor,
  }),
  OrderEvent: eventOf(
    text("What happened to the order.", {
      enum: WEBHOOK_EVENT_TYPES.filter((type) => type.startsWith("order.")),
    }),
    object("", {
      order: {
        allOf: [schemaRef("EventOrder")],
        description: "The order at the time of the event.",
      },
      previousStatus: text("The order's status before the event.", { enum: ORDER_STATUSES }),
      sequence: whole("Grows with each event of the order: keep the event with the highest.", 1),
    }),
  ),
  BalanceCreditedEvent: eventOf(
    typeOf("balance.credited"),
    object("", {
      balance: usd("Your balance after the credit."),
      amount: usd("Amount credited."),
      kind: text("Kind, as in the statement.", { enum: CREDIT_KINDS }),
    }),
  ),
  BalanceLowEvent: eventOf(
    typeOf("balance.low"),
    object("", {
      balance: usd("Your balance, below the threshold."),
      threshold: usd("The endpoint's `balanceLowBelow`."),
    }),
  ),
  ServiceChangedEvent: eventOf(
    typeOf("service.changed"),
    object("", {
      service: schemaRef("Service"),
      available: flag("Whether you may order it."),
      changes: listOf(
        object("", {
          field: text("What changed.", { enum: ["price", "per", "min", "max", "available"] }),
          before: { description: "The value before." },
          after: { description: "The value after." },
        }),
        "The fields that changed.",
      ),
    }),
  ),
  TestEvent: eventOf(typeOf("webhook.test"), object("Empty.", {})),
};
