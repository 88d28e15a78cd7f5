// The OpenAPI descriptions of requests for orders: cancelling, refilling, and listing the requests of an order.

import { REQUESTS_LISTED } from "../../domain/orders/order-requests.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { CANCEL_REQUEST, REFILL_REQUEST } from "../schemas/examples.ts";
import { NEEDS_ORDER_KEY, type Operation, type Parameter } from "../schemas/operation.ts";

/** The order in the examples. */
const LIKES = String(CANCEL_REQUEST.orderId);

const orderParameter: Parameter = {
  name: "id",
  in: "path",
  description: "`orderId` or `id` of the order.",
  schema: { type: "string" },
};

const notFound = {
  name: "order_not_found",
  summary: "Unknown, or another reseller's",
  parameters: { id: "99" },
  response: refusal("order_not_found"),
};

export const cancelOrder: Operation = {
  id: "cancelOrder",
  tag: "Orders",
  summary: "Ask to cancel an order",
  description: `Asks for an order to be cancelled. Needs no body. An order that was not sent yet is CANCELLED and refunded at once, and the request is \`done\`. Otherwise the provider or your operator decides. Nothing is refunded until the order's own status changes, and the order may still end as CANCELLED, PARTIAL or COMPLETED. An order has at most one open request of each kind. ${NEEDS_ORDER_KEY}`,
  parameters: [orderParameter],
  idempotent: true,
  response: "OrderRequestAnswer",
  examples: [
    {
      name: "request",
      summary: "The request is queued",
      parameters: { id: LIKES },
      response: { status: "success", request: CANCEL_REQUEST },
    },
    {
      name: "request_already_open",
      summary: "The same request is already open",
      parameters: { id: LIKES },
      response: refusal("request_already_open"),
    },
    {
      name: "order_not_cancellable",
      summary:
        "The order has ended, its service has no cancellation, or it is unknown whether the order was sent",
      parameters: { id: "1" },
      response: refusal("order_not_cancellable"),
    },
    notFound,
  ],
  refusals: [],
};

export const refillOrder: Operation = {
  id: "refillOrder",
  tag: "Orders",
  summary: "Ask to refill an order",
  description: `Asks for what was lost since the delivery to be delivered again, at no charge. Needs no body. Possible for a COMPLETED or PARTIAL order of a service with refill, within the service's \`refillDays\`, at most once in 24 hours. \`accepted\` becomes \`done\` or \`declined\`. ${NEEDS_ORDER_KEY}`,
  parameters: [orderParameter],
  idempotent: true,
  response: "OrderRequestAnswer",
  examples: [
    {
      name: "request",
      summary: "The request is queued",
      parameters: { id: "1" },
      response: { status: "success", request: REFILL_REQUEST },
    },
    {
      name: "order_not_refillable",
      summary: "An order that is not delivered yet",
      parameters: { id: LIKES },
      response: refusal("order_not_refillable"),
    },
    notFound,
  ],
  refusals: [refusal("request_already_open")],
};

export const listOrderRequests: Operation = {
  id: "listOrderRequests",
  tag: "Orders",
  summary: "List the requests for an order",
  description: `Returns the requests to cancel or refill an order, newest first, at most ${REQUESTS_LISTED}. ${NEEDS_ORDER_KEY}`,
  parameters: [orderParameter],
  response: "OrderRequests",
  examples: [
    {
      name: "requests",
      summary: "One open request",
      parameters: { id: LIKES },
      response: { status: "success", requests: [CANCEL_REQUEST] },
    },
    notFound,
  ],
  refusals: [],
};
