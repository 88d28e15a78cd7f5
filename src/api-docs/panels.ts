// The OpenAPI description of /api/v2, the protocol of panels: one operation, whose form says what it does.

import { IDS_LIMIT } from "../domain/limits.ts";
import { LINK_LENGTH_LIMIT, REFERENCE_LENGTH_LIMIT } from "../domain/orders.ts";
import type { OpenApiOperation } from "./document.ts";
import type { Schema } from "./operation.ts";

export const PANEL_PATH = "/api/v2";
export const PANEL_TAG = {
  name: "Panels",
  description:
    "The protocol that panels and their clients speak: one URL, a form with `key` and `action`, errors with status 200.",
};

const text = (description: string, more: Schema = {}): Schema => {
  return { type: "string", description, ...more };
};
/** Numbers and strings alike. */
const number = (description: string, examples?: string[]): Schema => {
  return { type: ["string", "integer"], description, ...(examples && { examples }) };
};
const object = (description: string, properties: Record<string, Schema>): Schema => ({
  type: "object",
  description,
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

const FIELDS: Schema = {
  type: "object",
  description: "The fields may be in the query too; those of the body win.",
  properties: {
    key: text("Your API key: an Order Key or Full Access."),
    action: text("What to do.", { enum: ["services", "add", "status", "balance"] }),
    service: number("Of `add`: the number of a service."),
    link: text(`Of \`add\`: what to deliver to, 1 to ${LINK_LENGTH_LIMIT} characters.`),
    quantity: number("Of `add`: how many; not for a service of type Package."),
    reference: number(
      `Of \`add\`, if you like: your own name for the order, 1 to ${REFERENCE_LENGTH_LIMIT} characters. A second \`add\` with it returns the first order.`,
      ["4c1d7e0a9b"],
    ),
    order: number("Of `status`: the number of an order."),
    orders: {
      type: ["string", "array"],
      items: { type: ["string", "integer"] },
      description: `Of \`status\`: up to ${IDS_LIMIT} numbers, separated by commas; in JSON also a list.`,
    },
  },
  required: ["key", "action"],
};

const ERROR = object("A refusal.", { error: text("The words that clients match.") });

const STATUS = object("What became of an order.", {
  charge: text("What it costs after refunds, in USD."),
  start_count: text("The count at the start."),
  status: text("Its state.", {
    enum: ["Pending", "In progress", "Completed", "Partial", "Canceled"],
  }),
  remains: text("What is left to deliver; all of it where it was cancelled."),
  currency: text("USD.", { const: "USD" }),
});

const SERVICE = object("A service that may be ordered.", {
  service: { type: "integer", minimum: 1, description: "Its number, for ever." },
  name: text("What it is called."),
  type: text("A package has one quantity.", { enum: ["Default", "Package"] }),
  category: text("Where it is listed."),
  rate: text("Of 1,000 units, or of the package, in USD."),
  min: text("The smallest quantity."),
  max: text("The largest quantity."),
  dripfeed: { type: "boolean", const: false, description: "There is none." },
  refill: { type: "boolean", const: false, description: "There is none." },
  cancel: { type: "boolean", const: false, description: "There is none." },
});

const RESPONSE: Schema = {
  anyOf: [
    { type: "array", items: SERVICE, description: "Of `services`." },
    object("Of `add`.", {
      order: { type: "integer", minimum: 1, description: "The order's number." },
    }),
    STATUS,
    object("Of `balance`.", {
      balance: text("What is left, in USD."),
      currency: text("USD.", { const: "USD" }),
    }),
    ERROR,
    {
      type: "object",
      description: "Of `status` with `orders`: by the numbers that were asked.",
      additionalProperties: { anyOf: [STATUS, ERROR] },
    },
  ],
};

/** Each is replayed by the tests, in this order. */
export const PANEL_EXAMPLES: readonly {
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
    ],
  },
  {
    name: "add",
    fields: { action: "add", service: "1", link: "https://example.com/me", quantity: "1000" },
    response: { order: 1 },
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
    fields: { action: "status", orders: "1,2" },
    response: {
      "1": {
        charge: "2.32",
        start_count: "0",
        status: "In progress",
        remains: "1000",
        currency: "USD",
      },
      "2": { error: "Incorrect order ID" },
    },
  },
  {
    name: "balance",
    fields: { action: "balance" },
    response: { balance: "97.68", currency: "USD" },
  },
  {
    name: "refused",
    fields: { action: "add", service: "1", link: "https://example.com/me", quantity: "1" },
    response: { error: "neworder.error.min_quantity" },
  },
];

const REQUEST_ID = {
  "x-request-id": {
    description: "The request's id: yours if you gave one, else ours.",
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

export const PANEL_OPERATION = {
  operationId: "panel",
  tags: [PANEL_TAG.name],
  summary: "Order as a panel does",
  description:
    "`services` lists what may be ordered, `add` places an order, `status` tells what became of orders, `balance` what is left. The key is a field, not a header. What was refused is a 200 with `error`.",
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
              PANEL_EXAMPLES.map(({ name, fields }) => [
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
            PANEL_EXAMPLES.map(({ name, response }) => [name, example(name, response)]),
          ),
        },
      },
    },
    "405": failure("The method is not POST", "Incorrect request"),
    "413": failure("The body is over 64 KiB", "Incorrect request"),
    "429": failure("Nothing was changed: come back later", "Too many requests"),
    "500": failure("A fault of the service", "Internal server error"),
    "503": failure("Nothing was changed: try again", "Service temporarily unavailable"),
  },
} satisfies OpenApiOperation & { security: readonly object[] };
