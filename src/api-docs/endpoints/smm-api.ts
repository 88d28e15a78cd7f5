// The OpenAPI description of /api/v2, the protocol of panels: one operation, whose form fields select the action.

import { IDS_LIMIT } from "../../domain/values/limits.ts";
import { LINK_LENGTH_LIMIT, REFERENCE_LENGTH_LIMIT } from "../../domain/orders/orders.ts";
import { eachWord, SMM_ORDER_WORDS } from "../../domain/orders/smm-words.ts";
import { SERVICE_TYPES, typeTerms } from "../../domain/catalogue/service-types.ts";
import type { OpenApiOperation } from "../schemas/document.ts";
import type { Schema } from "../schemas/operation.ts";
import { EXTRA_FIELD_VALUES } from "../schemas/order-fields-by-type.ts";
import { ERROR, LISTS, number, object, REFILL_WORD, text } from "./smm-api-parts.ts";

export const SMM_API_PATH = "/api/v2";
export const SMM_API_TAG = {
  name: "Panels",
  description:
    "The protocol that panels and their clients speak: one URL, a form with `key` and `action`, errors with status 200.",
};

const FIELDS: Schema = {
  type: "object",
  description: "The fields may also be in the query; those of the body take precedence.",
  properties: {
    key: text("Your API key: an Order Key or Full Access."),
    action: text("The action.", {
      enum: ["services", "add", "status", "balance", "cancel", "refill", "refill_status"],
    }),
    service: number("For `add`: the number of a service."),
    link: text(`For \`add\`: what to deliver to, 1 to ${LINK_LENGTH_LIMIT} characters.`),
    quantity: number(
      "For `add`: the quantity. Not for packages, nor for types whose quantity is the number of lines.",
    ),
    ...Object.fromEntries(
      Object.entries(EXTRA_FIELD_VALUES).map(([name, { description, examples }]) => [
        name,
        number(`For \`add\`. ${String(description)}`, (examples as unknown[]).map(String)),
      ]),
    ),
    reference: number(
      `For \`add\`, optional: your own name for the order, 1 to ${REFERENCE_LENGTH_LIMIT} characters. A second \`add\` with it returns the first order.`,
      ["4c1d7e0a9b"],
    ),
    order: number("For `status`, `cancel`, `refill`: the number of an order."),
    orders: {
      type: ["string", "array"],
      items: { type: ["string", "integer"] },
      description: `For \`status\`, \`cancel\`, \`refill\`: up to ${IDS_LIMIT} numbers, separated by commas; in JSON also a list.`,
    },
    refill: number("For `refill_status`: the number of a refill.", ["7"]),
    refills: {
      type: ["string", "array"],
      items: { type: ["string", "integer"] },
      description: `For \`refill_status\`: up to ${IDS_LIMIT} numbers.`,
    },
  },
  required: ["key", "action"],
};

const STATUS = object("The status of an order.", {
  charge: text("The charge after refunds, in USD."),
  start_count: text("The count at the start."),
  status: text("Its state.", {
    enum: eachWord(SMM_ORDER_WORDS),
  }),
  remains: text("The quantity not delivered; the whole quantity of a cancelled order."),
  currency: text("USD.", { const: "USD" }),
});

const SERVICE = object("A service that may be ordered.", {
  service: {
    type: "integer",
    minimum: 1,
    description: "The service's number, which never changes.",
  },
  name: text("Name of the service."),
  type: text("Type of the service, which decides the fields of its orders.", {
    enum: SERVICE_TYPES.map((type) => typeTerms(type).words),
  }),
  category: text("Category in which the service is listed."),
  rate: text("Price of 1,000 units, or of the package, in USD."),
  min: text("The smallest quantity."),
  max: text("The largest quantity."),
  dripfeed: { type: "boolean", description: "Whether its orders may have `runs`." },
  refill: { type: "boolean", description: "Whether its orders can be refilled." },
  cancel: { type: "boolean", description: "Whether its orders can be cancelled." },
});

const RESPONSE: Schema = {
  anyOf: [
    { type: "array", items: SERVICE, description: "Response to `services`." },
    ...LISTS,
    object("Response to `refill`.", { refill: text("The refill's number.", { examples: ["7"] }) }),
    object("Response to `refill_status`.", { status: REFILL_WORD }),
    object("Response to `add`.", {
      order: { type: "integer", minimum: 1, description: "The order's number." },
    }),
    STATUS,
    object("Response to `balance`.", {
      balance: text("Your balance, in USD."),
      currency: text("USD.", { const: "USD" }),
    }),
    ERROR,
    {
      type: "object",
      description: "Response to `status` with `orders`: the statuses by order number.",
      additionalProperties: { anyOf: [STATUS, ERROR] },
    },
  ],
};

/** Examples, which the tests replay in this order. */
export const SMM_API_EXAMPLES: readonly {
  name: string;
  fields: Record<string, string>;
  response: unknown;
}[] = [
  {
    name: "services",
    fields: { action: "services" },
    response: [
      {
        service: 1,
        name: "Instagram Followers",
        type: "Default",
        category: "Services",
        rate: "2.32",
        min: "50",
        max: "10000",
        dripfeed: false,
        refill: false,
        cancel: false,
      },
      {
        service: 2,
        name: "Instagram Comments",
        type: "Custom Comments",
        category: "Services",
        rate: "8",
        min: "1",
        max: "1500",
        dripfeed: false,
        refill: false,
        cancel: false,
      },
    ],
  },
  {
    name: "add",
    fields: { action: "add", service: "1", link: "https://example.com/me", quantity: "1000" },
    response: { order: 1 },
  },
  {
    name: "add comments",
    fields: {
      action: "add",
      service: "2",
      link: "https://example.com/p/1",
      comments: "Lovely\nWhere is this?",
    },
    response: { order: 2 },
  },
  {
    name: "status",
    fields: { action: "status", order: "1" },
    response: {
      charge: "2.32",
      start_count: "0",
      status: "In progress",
      remains: "1000",
      currency: "USD",
    },
  },
  {
    name: "statuses",
    fields: { action: "status", orders: "1,9" },
    response: {
      "1": {
        charge: "2.32",
        start_count: "0",
        status: "In progress",
        remains: "1000",
        currency: "USD",
      },
      "9": { error: "Incorrect order ID" },
    },
  },
  {
    name: "balance",
    fields: { action: "balance" },
    response: { balance: "97.664", currency: "USD" },
  },
  {
    name: "cancel",
    fields: { action: "cancel", orders: "9,1" },
    response: [
      { order: 9, cancel: { error: "Incorrect order ID" } },
      { order: 1, cancel: { error: "Order cannot be cancelled" } },
    ],
  },
  {
    name: "refill",
    fields: { action: "refill", order: "1" },
    response: { error: "Order cannot be refilled" },
  },
  {
    name: "refill_status",
    fields: { action: "refill_status", refills: "7" },
    response: [{ refill: 7, status: { error: "Refill not found" } }],
  },
  {
    name: "refused",
    fields: { action: "add", service: "1", link: "https://example.com/me", quantity: "1" },
    response: { error: "neworder.error.min_quantity" },
  },
];

const REQUEST_ID = {
  "x-request-id": {
    description: "Id of the request: yours if you sent one, otherwise ours.",
    required: true,
    schema: { type: "string" },
  },
};

const failure = (description: string, error: string) => ({
  description,
  headers: REQUEST_ID,
  content: {
    "application/json": { schema: ERROR, examples: { error: example(error, { error }) } },
  },
});
const example = (summary: string, value: unknown) => ({ summary, value });

export const SMM_API_OPERATION = {
  operationId: "panel",
  tags: [SMM_API_TAG.name],
  summary: "Order as a panel does",
  description:
    "`services` lists the services that you may order, `add` places an order, `status` returns the status of orders, `balance` your balance. `cancel` and `refill` send a request, which moves no money until the order's status changes. The key is a field, not a header. A refusal is a 200 with `error`.",
  parameters: [],
  security: [],
  requestBody: {
    required: false,
    content: Object.fromEntries(
      ["application/x-www-form-urlencoded", "multipart/form-data", "application/json"].map(
        (type) => [
          type,
          {
            schema: FIELDS,
            examples: Object.fromEntries(
              SMM_API_EXAMPLES.map(({ name, fields }) => [
                name,
                example(name, { key: "YOUR_API_KEY", ...fields }),
              ]),
            ),
          },
        ],
      ),
    ),
  },
  responses: {
    "200": {
      description: "Success, or a refusal",
      headers: REQUEST_ID,
      content: {
        "application/json": {
          schema: RESPONSE,
          examples: Object.fromEntries(
            SMM_API_EXAMPLES.map(({ name, response }) => [name, example(name, response)]),
          ),
        },
      },
    },
    "405": failure("The method is not POST", "Incorrect request"),
    "413": failure("The body is over 64 KiB", "Incorrect request"),
    "429": failure("Nothing was changed; wait and try again", "Too many requests"),
    "500": failure("Internal error of the service", "Internal server error"),
    "503": failure("Nothing was changed; try again", "Service temporarily unavailable"),
  },
} satisfies OpenApiOperation & { security: readonly object[] };
