// The OpenAPI descriptions of requests for orders: cancelling, refilling, and listing the requests of an order.

import { REQUESTS_LISTED } from "../../domain/orders/order-requests.ts";
import { refusal } from "../../domain/values/refusals.ts";
import { CANCEL_REQUEST, REFILL_REQUEST } from "../schemas/examples.ts";
import type { Operation, Parameter } from "../schemas/operation.ts";

/** The order in the examples. */
const LIKES = String(CANCEL_REQUEST.orderId);
const NEEDS = "Needs an Order Key or Full Access.";

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
  description: `Needs no body. An order that was not sent yet is CANCELLED and refunded at once, and the request is \`done\`. Otherwise whoever delivers the order decides: nothing is refunded until the order's own status says so, which may be CANCELLED, PARTIAL, or COMPLETED all the same. One request of a kind is open for an order at a time. ${NEEDS}`,
  parameters: [orderParameter],
  idempotent: true,
  response: "OrderRequestAnswer",
  examples: [
    {
      name: "request",
      summary: "The request is on its way",
      parameters: { id: LIKES },
      response: { status: "success", request: CANCEL_REQUEST },
    },
    {
      name: "request_already_open",
      summary: "Asked for already",
      parameters: { id: LIKES },
      response: refusal("request_already_open"),
    },
    {
      name: "order_not_cancellable",
      summary:
        "An order that has ended, whose service has no cancellation, or of which it is not known whether it was sent",
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
  description: `Needs no body. For a COMPLETED or PARTIAL order of a service with refill, within the days that the service says, once in 24 hours: what was lost is delivered again, at no charge. \`accepted\` becomes \`done\` or \`declined\`. ${NEEDS}`,
  parameters: [orderParameter],
  idempotent: true,
  response: "OrderRequestAnswer",
  examples: [
    {
      name: "request",
      summary: "The request is on its way",
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
  description: `Newest first, at most ${REQUESTS_LISTED}. ${NEEDS}`,
  parameters: [orderParameter],
  response: "OrderRequests",
  examples: [
    {
      name: "requests",
      summary: "One that waits",
      parameters: { id: LIKES },
      response: { status: "success", requests: [CANCEL_REQUEST] },
    },
    notFound,
  ],
  refusals: [],
};
