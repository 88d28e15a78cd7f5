// The JSON Schemas of the API's objects, each field with its unit. Limits are imported from the code that enforces them.

import { TRANSFER_KINDS } from "../../domain/ledger/ledger.ts";
import { BATCH_LIMIT } from "../../domain/values/limits.ts";
import { AMOUNT_LIMIT_MICROS, MICROS_PER_DOLLAR } from "../../domain/ledger/money.ts";
import { REQUEST_KINDS, REQUEST_STATES } from "../../domain/orders/order-requests.ts";
import { LINK_LENGTH_LIMIT, QUANTITY_LIMIT } from "../../domain/orders/orders.ts";
import { meaningOf, ORDER_STATUSES } from "../../domain/orders/order-statuses.ts";
import { PRICE_UNITS } from "../../domain/catalogue/services.ts";
import { SERVICE_TYPES } from "../../domain/catalogue/service-types.ts";
import { USERNAME_PATTERN } from "../../domain/users/users.ts";
import { WEBHOOK_EVENT_TYPES } from "../../domain/webhooks/webhook-events.ts";
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
import { EXTRA_FIELD_SCHEMAS, EXTRA_FIELD_VALUES } from "./order-fields.ts";
import { CALLER_TEXT_SCHEMAS, CREATED_SCHEMAS, STATUS_SCHEMAS } from "./order-members.ts";
import { WEBHOOK_SCHEMAS } from "./webhook-schemas.ts";

const OPTIONAL_ORDER_MEMBERS = [
  ...Object.keys(CALLER_TEXT_SCHEMAS),
  ...Object.keys(EXTRA_FIELD_VALUES),
];

const balances = {
  id: text("User identifier."),
  username: text("Login name."),
  name: text("Display name."),
  balance: usd("Balance of a main user; 0 for a child user."),
  childBalance: usd(
    "Balance of a child user, 0 for a main user: what a customer of yours has paid in. It pays for no order here; orders are charged to your own balance.",
  ),
};

const changed = (description: string): Schema => ({
  type: ["string", "number", "boolean", "null"],
  description,
});

const errorMembers = {
  status: text("Always `error`.", { const: "error" }),
  message: text("For people. Its wording is fixed too."),
  code: text("For programs: stable, whatever becomes of the message."),
  field: text("The field, filter or header that is missing or not well formed."),
  exists: { type: "boolean", const: false, description: "Of a user look-up that found nobody." },
  order: {
    anyOf: [schemaRef("OrderStatus"), schemaRef("OrderCreated")],
    description: "The order that the error is about.",
  },
};
const errorOptional = ["field", "exists", "order"];

export const SCHEMAS: Record<string, Schema> = {
  OrderState: {
    type: "string",
    enum: ORDER_STATUSES,
    description: ORDER_STATUSES.map((status) => `${status}: ${meaningOf(status)}`).join(" "),
  },
  Service: object(
    "What can be ordered.",
    {
      id: text("Service identifier; `service` when ordering."),
      name: text("Display name."),
      price: usd("For what `per` says; where it is not shown, ask for `fields=all`."),
      min: whole("Minimum order quantity.", 1),
      max: whole("Maximum order quantity.", 1),
      per: text(
        "Unit of the price: `1000` units, `1` unit, or the whole `order`. With `fields=all` and in events.",
        { enum: PRICE_UNITS },
      ),
      type: text("Which fields its orders take. Only with `fields=all`.", { enum: SERVICE_TYPES }),
      dripfeed: flag("Whether its orders may have `runs`. Only with `fields=all`."),
      cancel: flag("Whether its orders can be cancelled on request. Only with `fields=all`."),
      refill: flag("Whether its orders can be refilled on request. Only with `fields=all`."),
      refillDays: whole("For how many days after an order's end. Only with `fields=all`.", 1),
    },
    ["per", "type", "dripfeed", "cancel", "refill", "refillDays"],
  ),
  Services: object("Sorted by name, then id.", {
    status: success,
    services: listOf(schemaRef("Service"), "What you may order, at your price."),
  }),
  ServiceChange: object("A field of a service, for you and at your price.", {
    seq: whole("Number in the feed. Only grows, with gaps; a cursor too.", 1),
    service: text("The service's id."),
    at: time("When it changed."),
    field: text("`available`: whether you may order it.", {
      enum: ["name", "price", "per", "min", "max", "available"],
    }),
    before: changed("null where you could not order the service before."),
    after: changed("As it is from then on."),
  }),
  ServiceChanges: object("", {
    status: success,
    changes: listOf(schemaRef("ServiceChange"), "Oldest first."),
    nextCursor: text("`since` of the next request. The same as yours: nothing more is there."),
  }),
  OrderRequest: body(
    "Unknown fields are ignored.",
    {
      service: text("Service id from the services endpoint.", { minLength: 1 }),
      link: text("Target link or username. Trimmed; no control characters.", {
        minLength: 1,
        maxLength: LINK_LENGTH_LIMIT,
      }),
      quantity: whole(
        "Within the service's min and max, both included. Not for types that count lines, nor for packages.",
        1,
        QUANTITY_LIMIT,
      ),
      ...EXTRA_FIELD_SCHEMAS,
      ...CALLER_TEXT_SCHEMAS,
    },
    ["service", "link"],
  ),
  TestMove: body(
    "Unknown fields are ignored.",
    {
      status: schemaRef("OrderState"),
      remains: {
        ...whole("What is not delivered; for PARTIAL, which needs it.", 0, QUANTITY_LIMIT),
        examples: [157],
      },
    },
    ["status"],
  ),
  TestEventRequest: body(
    "Unknown fields are ignored.",
    { type: text("The type of the event.", { enum: WEBHOOK_EVENT_TYPES }) },
    ["type"],
  ),
  OrderCreated: object("An order as it was accepted.", CREATED_SCHEMAS),
  OrderStatus: object(
    "An order as it is now.",
    {
      ...STATUS_SCHEMAS,
      ...EXTRA_FIELD_VALUES,
    },
    OPTIONAL_ORDER_MEMBERS,
  ),
  EventOrder: object(
    "An order in an event.",
    {
      ...STATUS_SCHEMAS,
      refunded: usd("What was refunded of the charge so far."),
      ...EXTRA_FIELD_VALUES,
    },
    OPTIONAL_ORDER_MEMBERS,
  ),
  OrderCreatedAnswer: object("", { status: success, order: schemaRef("OrderCreated") }),
  OrderStatusAnswer: object("", { status: success, order: schemaRef("OrderStatus") }),
  OrderList: object(
    "",
    {
      status: success,
      orders: listOf(schemaRef("OrderStatus"), "Newest first; with `ids`, in the order asked."),
      nextCursor,
      unknown: listOf(text("An id."), "Only with `ids`: those that name no order of yours."),
    },
    ["unknown"],
  ),
  RequestForOrder: object("A request for an order. It moves no money: the order's status does.", {
    id: cuid("Identifier of the request."),
    kind: text("What is asked for.", { enum: REQUEST_KINDS }),
    orderId: whole("Number of the order.", 1),
    state: text(
      "requested: not sent yet, or your operator has not decided. sent: whoever delivers the order was asked. accepted: taken on. declined, done: ended.",
      { enum: REQUEST_STATES },
    ),
    createdAt: time("When it was made."),
  }),
  OrderRequestAnswer: object("", { status: success, request: schemaRef("RequestForOrder") }),
  OrderRequests: object("", {
    status: success,
    requests: listOf(schemaRef("RequestForOrder"), "Newest first."),
  }),
  BatchRequest: {
    type: "object",
    properties: {
      orders: {
        ...listOf(schemaRef("OrderRequest"), "Placed in turn, in one durable commit."),
        minItems: 1,
        maxItems: BATCH_LIMIT,
      },
    },
    required: ["orders"],
  },
  BatchError: object("What the single call would have answered.", errorMembers, errorOptional),
  Batch: object("", {
    status: success,
    results: listOf(
      { oneOf: [schemaRef("OrderCreatedAnswer"), schemaRef("BatchError")] },
      "One for each order, in the same order.",
    ),
  }),
  Balance: object("", {
    status: success,
    balance: usd("What you can order for."),
    currency: text("Always `USD`.", { const: "USD" }),
  }),
  Transaction: object("A line of the ledger, seen from your account.", {
    seq: whole("Number in the ledger. Only grows; yours are not adjacent.", 1),
    kind: text("What moved the money.", { enum: TRANSFER_KINDS }),
    amount: usd("Above 0 when it came in, below when it went out."),
    balanceAfter: usd("Your balance once it was posted."),
    orderId: nullable("integer", "Number of the order; null when there is none."),
    note: nullable("string", "What the operator tells you of it."),
    createdAt: time("When it was posted."),
  }),
  Transactions: object("", {
    status: success,
    transactions: listOf(schemaRef("Transaction"), "Newest first."),
    nextCursor,
  }),
  User: object("A user and its balances.", {
    ...balances,
    resellerId: nullable("string", "Id of a child user's reseller; null for a main user.", {
      examples: ["a6x0v2c1f8w9k4z3m5n7p0qd"],
    }),
  }),
  UserAnswer: object("", {
    exists: { type: "boolean", const: true },
    user: schemaRef("User"),
  }),
  RechargeRequest: {
    type: "object",
    properties: {
      username: text("Target user, main or child. Case does not count.", {
        pattern: USERNAME_PATTERN,
      }),
      amount: {
        type: "number",
        exclusiveMinimum: 0,
        maximum: AMOUNT_LIMIT_MICROS / MICROS_PER_DOLLAR,
        description: "Amount to add, in USD, with at most six decimals.",
      },
    },
    required: ["username", "amount"],
  },
  RechargedUser: object("", {
    ...balances,
    previousBalance: usd("The credited balance as it was before."),
  }),
  Recharged: object("", {
    status: success,
    user: schemaRef("RechargedUser"),
    amount: usd("What was added."),
  }),
  ...WEBHOOK_SCHEMAS,
  Error: object(
    "Every error. Further members may be added.",
    { ...errorMembers, requestId: text("Also in the header `x-request-id`. Name it when asking.") },
    errorOptional,
  ),
};
