// The OpenAPI descriptions of orders: placing, listing, reading, batches.

import { PAGE_SIZE } from "../../domain/values/kinds.ts";
import { Refusal, refusal } from "../../domain/values/error-table.ts";
import {
  BATCH_FORM,
  BATCH_LIMIT,
  BODY_LIMIT_TEXT,
  IDS_LIMIT,
  PAGE_DEFAULT,
  PAGE_LIMIT,
} from "../../domain/values/limits.ts";
import { REFERENCE_LENGTH_LIMIT } from "../../domain/orders/orders.ts";
import { ORDER_STATUSES } from "../../domain/orders/order-statuses.ts";
import { ORDER_CSV_HEADER, orderCells, orderStatus } from "../../domain/orders/order-members.ts";
import {
  COMMENTS_CREATED,
  COMMENTS_STATUS,
  DRIP_CREATED,
  FOLLOWERS,
  FOLLOWERS_BODY,
  FOLLOWERS_CREATED,
  FOLLOWERS_STATUS,
  LIKES_CREATED,
  LIKES_STATUS,
  CURSOR,
} from "../schemas/examples.ts";
import { NEEDS_ORDER_KEY, type Operation, type Parameter } from "../schemas/operation.ts";

/** The refusals by the limits of a reseller. */
const LIMIT_END = { endsAt: Date.UTC(2026, 1, 1), retryAfterSeconds: 42 };
const LIMIT_REFUSALS = [
  new Refusal("orders_per_minute_exceeded", { allowed: 60, ...LIMIT_END }),
  new Refusal("spend_limit_exceeded", {
    period: "day",
    limitMicros: 500_000_000,
    leftMicros: 1_250_000,
    ...LIMIT_END,
  }),
  new Refusal("open_orders_exceeded", { allowed: 1000 }),
];

export const placeOrder: Operation = {
  id: "placeOrder",
  tag: "Orders",
  summary: "Place an order",
  description: `Charges your balance and places the order; either both happen or neither. The charge is \`price × quantity ÷ 1000\` (or as your operator prices the service), rounded up to a millionth of a dollar. The fields of an order besides its link depend on the type of its service, which \`GET /services?fields=all\` shows: see [types](/docs/orders#types). If a provider delivers the order, the answer waits some seconds for the provider's answer; an order that the provider has not confirmed by then is PENDING. ${NEEDS_ORDER_KEY}`,
  body: "OrderRequest",
  idempotent: true,
  response: "OrderCreatedAnswer",
  examples: [
    {
      name: "order",
      summary: "1000 followers",
      body: FOLLOWERS_BODY,
      response: { status: "success", order: FOLLOWERS_CREATED },
    },
    {
      name: "reference_taken",
      summary: "A reference that was used before, with the order that has it",
      body: FOLLOWERS_BODY,
      response: new Refusal("reference_taken", { order: orderStatus(FOLLOWERS) }),
    },
    {
      name: "quantity_below_minimum",
      summary: "Below the service's minimum",
      body: { service: "instagram-followers", link: "https://example.com/me", quantity: 49 },
      response: new Refusal("quantity_below_minimum", { min: 50 }),
    },
    {
      name: "quantity_above_maximum",
      summary: "Above the service's maximum",
      body: { service: "instagram-followers", link: "https://example.com/me", quantity: 10_001 },
      response: new Refusal("quantity_above_maximum", { max: 10_000 }),
    },
    {
      name: "service_not_found",
      summary: "No such service, or not open to you",
      body: { service: "no-such-service", link: "https://example.com/me", quantity: 100 },
      response: refusal("service_not_found"),
    },
    {
      name: "insufficient_balance",
      summary: "The charge is above the balance",
      body: { service: "youtube-watch-hours", link: "https://example.com/me", quantity: 4000 },
      response: refusal("insufficient_balance"),
    },
    {
      name: "field_missing",
      summary: "Without a link",
      body: { service: "instagram-followers", quantity: 100 },
      response: new Refusal("field_missing", { field: "link" }),
    },
    {
      name: "field_invalid",
      summary: "A quantity that is not a whole number",
      body: { service: "instagram-followers", link: "https://example.com/me", quantity: 1.5 },
      response: new Refusal("field_invalid", { field: "quantity", must: "a whole number" }),
    },
    {
      name: "comments_missing",
      summary: "A service of type custom_comments, without comments",
      body: { service: "instagram-comments", link: "https://example.com/p/1" },
      response: new Refusal("field_missing", { field: "comments" }),
    },
    {
      name: "comments",
      summary: "A service of type custom_comments: the number of lines is the quantity",
      body: {
        service: "instagram-comments",
        link: "https://example.com/p/1",
        comments: "Lovely\nWhere is this?",
      },
      response: { status: "success", order: COMMENTS_CREATED },
    },
    {
      name: "drip_feed",
      summary: "In three runs, one an hour",
      body: {
        service: "instagram-followers",
        link: "https://example.com/me",
        quantity: 100,
        runs: 3,
        interval: 60,
      },
      response: { status: "success", order: DRIP_CREATED },
    },
  ],
  refusals: [
    refusal("charge_too_large"),
    ...LIMIT_REFUSALS,
    new Refusal("provider_refused", { order: { ...FOLLOWERS_CREATED, status: "FAILED" } }),
  ],
};

const filter = (name: string, description: string, schema: object): Parameter => ({
  name,
  in: "query",
  description,
  schema: { ...schema },
});

const ISO = "ISO 8601 with a time zone; a date without a time is the whole day in UTC.";

/** Parameters that all lists share. */
export const PAGE_PARAMETERS: readonly Parameter[] = [
  filter("from", `At or after this time. ${ISO}`, { type: "string", examples: ["2026-07-01"] }),
  filter("to", `At or before this time. ${ISO}`, { type: "string", examples: ["2026-07-31"] }),
  filter("limit", "Largest number of entries to return.", {
    type: "integer",
    minimum: 1,
    maximum: PAGE_LIMIT,
    default: PAGE_DEFAULT,
    examples: [PAGE_DEFAULT],
  }),
  filter("cursor", "The `nextCursor` of an earlier answer, unchanged.", {
    type: "string",
    examples: [CURSOR],
  }),
];

export const listOrders: Operation = {
  id: "listOrders",
  tag: "Orders",
  summary: "List orders",
  description: `Returns your orders, newest first, a page at a time; or with \`ids\` up to ${IDS_LIMIT} orders by id, in the order of \`ids\`. Orders placed while you read the pages do not shift them: no order is missing or listed twice. Only a \`nextCursor\` of null marks the end: with \`service\` a page before it may be short or empty. With \`Accept: text/csv\` all matching orders come as one CSV file, and \`limit\` is ignored. ${NEEDS_ORDER_KEY}`,
  parameters: [
    filter("status", "Only orders in this state.", { type: "string", enum: ORDER_STATUSES }),
    filter("service", "Only orders of the service with this id.", {
      type: "string",
      minLength: 1,
      examples: ["instagram-followers"],
    }),
    filter("reference", "Only the order with this reference.", {
      type: "string",
      minLength: 1,
      maxLength: REFERENCE_LENGTH_LIMIT,
    }),
    ...PAGE_PARAMETERS,
    filter(
      "ids",
      `1 to ${IDS_LIMIT} order ids of either kind, separated by commas. Without other filters.`,
      { type: "string" },
    ),
  ],
  response: "OrderList",
  csv: {
    description:
      "A header line, then a line for each order; `fields` holds the fields of its type as JSON. Ids that are not of your orders have no line. RFC 4180.",
    example: `${ORDER_CSV_HEADER}\r\n${orderCells(FOLLOWERS).join()}\r\n`,
  },
  examples: [
    {
      name: "page",
      summary: "Orders of a service that are in progress",
      parameters: { status: "PROCESSING", service: "instagram-likes" },
      response: { status: "success", orders: [LIKES_STATUS], nextCursor: null },
    },
    {
      name: "reference",
      summary: "By your own reference",
      parameters: { reference: "shop-4711" },
      response: { status: "success", orders: [FOLLOWERS_STATUS], nextCursor: null },
    },
    {
      name: "ids",
      summary: "By id",
      parameters: { ids: "1,4,99" },
      response: {
        status: "success",
        orders: [FOLLOWERS_STATUS, LIKES_STATUS],
        nextCursor: null,
        unknown: ["99"],
      },
    },
    {
      name: "field_invalid",
      summary: "A filter that is not well formed",
      parameters: { limit: String(PAGE_LIMIT + 1) },
      response: new Refusal("field_invalid", {
        field: "limit",
        must: PAGE_SIZE.form,
      }),
    },
  ],
  refusals: [],
};

export const getOrder: Operation = {
  id: "getOrder",
  tag: "Orders",
  summary: "Read an order",
  description: `Returns an order, by its order number or its internal id. ${NEEDS_ORDER_KEY}`,
  parameters: [
    {
      name: "id",
      in: "path",
      description: "`orderId` or `id`.",
      schema: { type: "string" },
    },
  ],
  response: "OrderStatusAnswer",
  examples: [
    {
      name: "order",
      summary: "By number",
      parameters: { id: "1" },
      response: { status: "success", order: FOLLOWERS_STATUS },
    },
    {
      name: "comments",
      summary: "With the fields of its type",
      parameters: { id: "2" },
      response: { status: "success", order: COMMENTS_STATUS },
    },
    {
      name: "order_not_found",
      summary: "Unknown, or another reseller's",
      parameters: { id: "99" },
      response: refusal("order_not_found"),
    },
  ],
  refusals: [],
};

export const placeOrders: Operation = {
  id: "placeOrders",
  tag: "Orders",
  summary: `Place up to ${BATCH_LIMIT} orders`,
  description: `Places several orders in one durable commit. Each is a body of \`POST /orders\` and gets the answer of a single call; a refused order does not affect the others. The whole body is at most ${BODY_LIMIT_TEXT}. ${NEEDS_ORDER_KEY}`,
  body: "BatchRequest",
  idempotent: true,
  response: "Batch",
  examples: [
    {
      name: "batch",
      summary: "One placed, one refused",
      body: {
        orders: [
          { service: "instagram-likes", link: "https://example.com/p/1", quantity: 500 },
          { service: "instagram-likes", link: "https://example.com/p/2", quantity: 5 },
        ],
      },
      response: {
        status: "success",
        results: [
          { status: "success", order: LIKES_CREATED },
          { status: "error", message: "Minimum order is 10", code: "quantity_below_minimum" },
        ],
      },
    },
    {
      name: "field_invalid",
      summary: "An empty batch",
      body: { orders: [] },
      response: new Refusal("field_invalid", { field: "orders", must: BATCH_FORM }),
    },
  ],
  refusals: [new Refusal("field_missing", { field: "orders" })],
};
