// The OpenAPI description of sending an event to a reseller's test endpoints.

import { Refusal, refusal } from "../../domain/values/error-table.ts";
import { WEBHOOK_EVENT_TYPES } from "../../domain/webhooks/webhook-events.ts";
import type { Operation } from "../schemas/operation.ts";

export const sendTestEvent: Operation = {
  id: "sendTestEvent",
  tag: "Testing",
  summary: "Send a test webhook",
  description:
    "Sends one event to each of your active test webhooks, even if its `events` do not name it. The event has the shape of a real one, with invented values. Only for test keys: with any other key the path is not found. Needs an Order Key or Full Access.",
  body: "TestEventRequest",
  response: "Queued",
  examples: [
    {
      name: "queued",
      summary: "No test webhook exists yet",
      body: { type: "order.completed" },
      response: { status: "success", queued: 0 },
    },
  ],
  refusals: [
    refusal("not_found"),
    new Refusal("field_missing", { field: "type" }),
    new Refusal("field_invalid", {
      field: "type",
      must: `one of ${WEBHOOK_EVENT_TYPES.join(", ")}`,
    }),
  ],
};
