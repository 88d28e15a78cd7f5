// The `webhooks` section of the OpenAPI document: every event with its body, which is made as the server makes it.

import type { OpenApiDocument, OpenApiOperation } from "./document.ts";
import { CREATED_AT, FOLLOWERS } from "./examples.ts";
import { type Schema, schemaRef } from "./operation.ts";
import {
  balanceCreditedData,
  balanceLowData,
  eventBody,
  orderEventData,
  WEBHOOK_EVENT_TYPES,
  type WebhookEventType,
} from "../../domain/webhooks/webhook-events.ts";
import { serviceChangedData } from "../../domain/catalogue/service-changes.ts";

const SUMMARIES: Record<WebhookEventType, string> = {
  "order.processing": "The provider has the order",
  "order.completed": "The order is delivered",
  "order.partial": "The order is delivered in part, the rest is refunded",
  "order.failed": "The order failed and is refunded",
  "order.cancelled": "The order was cancelled and is refunded",
  "order.refunded": "The order was refunded after its delivery",
  "order.progress": "Start count or remains changed; sent only to endpoints whose `events` name it",
  "balance.credited": "Your balance was credited",
  "balance.low": "Your balance fell below the endpoint's threshold; once each time",
  "service.changed": "Price, bounds or availability of a service that you may order",
  "webhook.test": "You asked for a test event",
};

/** Returns an item for each type of event. */
export function describeEvents(): OpenApiDocument["webhooks"] {
  return Object.fromEntries(
    WEBHOOK_EVENT_TYPES.map((type) => [type, { post: operationOf(type) }] as const),
  );
}

function operationOf(type: WebhookEventType): OpenApiOperation & { security: [] } {
  return {
    operationId: `on.${type}`,
    tags: ["Webhooks"],
    summary: SUMMARIES[type],
    description:
      "Signed as Standard Webhooks 1.0.0 describes. Delivered at least once, in any order: a repeated `webhook-id` is the same event.",
    security: [],
    parameters: HEADERS,
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: schemaOf(type),
          examples: {
            event: {
              summary: SUMMARIES[type],
              value: JSON.parse(eventBody(type, Date.parse(CREATED_AT), exampleOf(type))) as object,
            },
          },
        },
      },
    },
    responses: {
      "2XX": {
        description: "The event is received and is not sent again.",
        headers: {},
        content: {},
      },
    },
  };
}

const header = (name: string, description: string, example: string) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" },
  example,
});

const HEADERS = [
  header(
    "webhook-id",
    "Id of the event, the same for each attempt.",
    "evt_w6xw0c6k8v1n4q2z7m5t3b9a",
  ),
  header("webhook-timestamp", "Time of this attempt, in Unix seconds.", "1795222171"),
  header(
    "webhook-signature",
    "`v1,` and base64 of HMAC-SHA256 of `id.timestamp.body`; two signatures while a secret is rotated.",
    "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
  ),
];

function schemaOf(type: WebhookEventType): Schema {
  switch (type) {
    case "balance.credited":
      return schemaRef("BalanceCreditedEvent");
    case "balance.low":
      return schemaRef("BalanceLowEvent");
    case "service.changed":
      return schemaRef("ServiceChangedEvent");
    case "webhook.test":
      return schemaRef("TestEvent");
    default:
      return schemaRef("OrderEvent");
  }
}

/** The order as it is shown in each of its events. */
const ORDERS = {
  "order.processing": { status: "PROCESSING", before: "PENDING", remains: 1000, refundedMicros: 0 },
  "order.progress": { status: "PROCESSING", before: "PROCESSING", remains: 400, refundedMicros: 0 },
  "order.completed": { status: "COMPLETED", before: "PROCESSING", remains: 0, refundedMicros: 0 },
  "order.partial": {
    status: "PARTIAL",
    before: "PROCESSING",
    remains: 157,
    refundedMicros: 364_240,
  },
  "order.failed": {
    status: "FAILED",
    before: "PENDING",
    remains: 1000,
    refundedMicros: 2_320_000,
  },
  "order.cancelled": {
    status: "CANCELLED",
    before: "PROCESSING",
    remains: 1000,
    refundedMicros: 2_320_000,
  },
  "order.refunded": {
    status: "REFUNDED",
    before: "COMPLETED",
    remains: 0,
    refundedMicros: 2_320_000,
  },
} as const;

function exampleOf(type: WebhookEventType): object {
  switch (type) {
    case "balance.credited":
      return balanceCreditedData(122_243_000, 25_500_000, "recharge");
    case "balance.low":
      return balanceLowData(9_680_000, 10_000_000);
    case "service.changed": {
      const service = { id: "instagram-likes", name: "Instagram Likes", min: 10, max: 20_000 };
      const per = "1000" as const;
      const before = { ...service, per, priceMicros: 450_000 };
      return serviceChangedData(before, { ...before, priceMicros: 480_000 })!;
    }
    case "webhook.test":
      return {};
    default: {
      const { before, ...changed } = ORDERS[type];
      return orderEventData({ ...FOLLOWERS, ...changed, sequence: 2 }, before);
    }
  }
}
