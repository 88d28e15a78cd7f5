// The OpenAPI description of changing a test order, which only test keys can do.

import { Refusal, refusal } from "../../domain/values/error-table.ts";
import { ORDER_STATUSES } from "../../domain/orders/order-statuses.ts";
import { FOLLOWERS_CREATED } from "../schemas/examples.ts";
import type { Operation } from "../schemas/operation.ts";

export const moveTestOrder: Operation = {
  id: "moveTestOrder",
  tag: "Testing",
  summary: "Change the status of a test order",
  description:
    "Changes the status of a test order now, as its provider or your operator would, with the same transitions and refunds. Only for test keys: with any other key the path is not found. Needs an Order Key or Full Access.",
  parameters: [
    {
      name: "id",
      in: "path",
      description: "`orderId` or `id`.",
      schema: { type: "string" },
    },
  ],
  body: "TestMove",
  response: "OrderStatusAnswer",
  examples: [
    {
      name: "placed",
      summary: "An order whose placement was unknown is placed",
      parameters: { id: "5" },
      body: { status: "PROCESSING" },
      response: {
        status: "success",
        order: {
          ...FOLLOWERS_CREATED,
          orderId: 5,
          link: "https://test.invalid/pending",
          startCount: 0,
          remains: 1000,
        },
      },
    },
    {
      name: "order_transition_illegal",
      summary: "A change that the state table does not allow",
      parameters: { id: "5" },
      body: { status: "REFUNDED" },
      response: new Refusal("order_transition_illegal", { from: "PROCESSING", to: "REFUNDED" }),
    },
    {
      name: "remains_above_quantity",
      summary: "More remains than was ordered",
      parameters: { id: "5" },
      body: { status: "PARTIAL", remains: 1001 },
      response: new Refusal("remains_above_quantity", { quantity: 1000 }),
    },
    {
      name: "order_not_found",
      summary: "Unknown, or not one of your test orders",
      parameters: { id: "99" },
      body: { status: "COMPLETED" },
      response: refusal("order_not_found"),
    },
  ],
  refusals: [
    refusal("not_found"),
    new Refusal("field_missing", { field: "status" }),
    new Refusal("field_invalid", { field: "status", must: `one of ${ORDER_STATUSES.join(", ")}` }),
  ],
};
