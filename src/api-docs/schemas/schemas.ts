// The JSON Schemas of the API's objects, each field with its unit. Limits are imported from the code that enforces them.

import { TRANSFER_KINDS } from "../../domain/ledger/ledger.ts";
import { BATCH_LIMIT } from "../../domain/values/limits.ts";
import { AMOUNT_LIMIT_MICROS, MICROS_PER_DOLLAR } from "../../domain/ledger/money.ts";
import { REQUEST_KINDS, REQUEST_STATES } from "../../domain/orders/order-requests.ts";
import { LINK_LENGTH_LIMIT, QUANTITY_LIMIT } from "../../domain/orders/orders.ts";
import { meaningOf, ORDER_STATUSES } from "../../domain/orders/order-statuses.ts";
import { PRICE_UNITS } from "../../domain/catalogue/services.ts";
import { SERVICE_TYPES } from "../../domain/catalogue/service-types.ts";
import { LIMIT_NAMES } from "../../domain/values/rate-fields.ts";
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
import { EXTRA_FIELD_SCHEMAS, EXTRA_FIELD_VALUES } from "./order-fields-by-type.ts";
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
    "Balance of a child user, 0 for a main user: what your customer has paid in. Orders are charged to your own balance, never to this one.",
  ),
};

const changed = (description: string): Schema => ({
  type: ["string", "number", "boolean", "null"],
  description,
});

const errorMembers = {
  status: text("Always `error`.", { const: "error" }),
  message: text("For people. The wording is stable too."),
  code: text("For programs. It never changes."),
  field: text("The field, filter or header that is missing or not well formed."),
  limit: text("The limit that was reached, as `RateLimit-Policy` names it.", {
    enum: LIMIT_NAMES,
  }),
  endsAt: time("When the period of that limit ends, for orders per minute and spend."),
  exists: {
    type: "boolean",
    const: false,
    description: "Always `false`. Only in a user look-up that found no user.",
  },
  order: {
    anyOf: [schemaRef("OrderStatus"), schemaRef("OrderCreated")],
    description: "The order that the error is about.",
  },
};
const errorOptional = ["field", "exists", "order", "limit", "endsAt"];

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
      price: usd("For the unit that `per` names, which `fields=all` shows."),
      min: whole("Minimum order quantity.", 1),
      max: whole("Maximum order quantity.", 1),
      per: text(
        "Unit of the price: `1000` units, `1` unit, or the whole `order`. With `fields=all` and in events.",
        { enum: PRICE_UNITS },
      ),
      type: text(
        "Type of the service, which decides the fields of its orders. Only with `fields=all`.",
        { enum: SERVICE_TYPES },
      ),
      dripfeed: flag("Whether its orders may have `runs`. Only with `fields=all`."),
      cancel: flag("Whether its orders can be cancelled on request. Only with `fields=all`."),
      refill: flag("Whether its orders can be refilled on request. Only with `fields=all`."),
      refillDays: whole(
        "Days after an order's end in which it can be refilled. Only with `fields=all`.",
        1,
      ),
    },
    ["per", "type", "dripfeed", "cancel", "refill", "refillDays"],
  ),
  Services: object("Sorted by name, then id.", {
    status: success,
    services: listOf(schemaRef("Service"), "What you may order, at your price."),
  }),
  ServiceChange: object("A field of a service, for you and at your price.", {
    seq: whole("Number in the feed. Only grows, with gaps. It is also a cursor.", 1),
    service: text("The service's id."),
    at: time("When it changed."),
    field: text("`available`: whether you may order it.", {
      enum: ["name", "price", "per", "min", "max", "available"],
    }),
    before: changed("The value before; null if you could not order the service."),
    after: changed("The new value."),
  }),
  ServiceChanges: object("", {
    status: success,
    changes: listOf(schemaRef("ServiceChange"), "Oldest first."),
    nextCursor: text("`since` of the next request. If it equals yours, there are no more changes."),
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
        "Between the service's min and max, both included. Not for packages, nor for types whose quantity is the number of lines.",
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
        ...whole("Quantity not delivered. Required for PARTIAL.", 0, QUANTITY_LIMIT),
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
      refunded: usd("Part of the charge refunded so far."),
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
      orders: listOf(
        schemaRef("OrderStatus"),
        "Newest first; with `ids`, in the sequence of the ids.",
      ),
      nextCursor,
      unknown: listOf(text("An id."), "Only with `ids`: the ids that are not of your orders."),
    },
    ["unknown"],
  ),
  RequestForOrder: object(
    "A request for an order. Only a change of the order's status moves money.",
    {
      id: cuid("Identifier of the request."),
      kind: text("What the request asks for.", { enum: REQUEST_KINDS }),
      orderId: whole("Number of the order.", 1),
      state: text(
        "requested: not sent yet, or your operator has not decided. sent: the provider was asked. accepted: the provider or operator agreed. declined, done: ended.",
        { enum: REQUEST_STATES },
      ),
      createdAt: time("When it was made."),
    },
  ),
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
  BatchError: object("The error that the single call would return.", errorMembers, errorOptional),
  Batch: object("", {
    status: success,
    results: listOf(
      { oneOf: [schemaRef("OrderCreatedAnswer"), schemaRef("BatchError")] },
      "One for each order, in the same order.",
    ),
  }),
  Balance: object("", {
    status: success,
    balance: usd("Amount that you can spend on orders."),
    currency: text("Always `USD`.", { const: "USD" }),
  }),
  Transaction: object("A line of the ledger, seen from your account.", {
    seq: whole("Number in the ledger. Only grows; yours are not adjacent.", 1),
    kind: text("What moved the money.", { enum: TRANSFER_KINDS }),
    amount: usd("Positive when money came in, negative when it went out."),
    balanceAfter: usd("Your balance after this movement."),
    orderId: nullable("integer", "Number of the order; null when there is none."),
    note: nullable("string", "Your operator's note about it."),
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
    previousBalance: usd("The balance before it was credited."),
  }),
  Recharged: object("", {
    status: success,
    user: schemaRef("RechargedUser"),
    amount: usd("Amount added."),
  }),
  ...WEBHOOK_SCHEMAS,
  Error: object(
    "Every error. Further members may be added.",
    {
      ...errorMembers,
      requestId: text("Also in the header `x-request-id`. Give it when you ask your operator."),
    },
    errorOptional,
  ),
};
