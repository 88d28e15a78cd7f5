// The OpenAPI description of the changes feed.

import { Refusal } from "../../domain/values/error-table.ts";
import { SINCE_FORM } from "../../domain/catalogue/service-changes.ts";
import { CREATED_AT } from "../schemas/examples.ts";
import type { Operation } from "../schemas/operation.ts";
import { PAGE_PARAMETERS } from "./orders.ts";

const SERVICE = "instagram-followers";
const AT = { service: SERVICE, at: CREATED_AT };

export const listServiceChanges: Operation = {
  id: "listServiceChanges",
  tag: "Services",
  summary: "Follow the changes of services",
  description:
    "Returns every change of the services that your key may order, at the price that you pay, oldest first. `since=0` is the beginning. Apply the changes since 0 to an empty list, or those since a cursor to the list of that time: the result is the list of `GET /services`. A service that becomes available comes with all its fields: name, price, per, min and max with `before` null, then `available`. Ask again with `nextCursor` until it stays the same: a page before the end may be short or empty. `since=now` returns the current cursor: take it, read `GET /services` once, and follow from there. After your operator restored a backup, earlier cursors may be refused: start again. Needs an Order Key or Full Access.",
  parameters: [
    {
      name: "since",
      in: "query",
      description: "0, `now`, or the `nextCursor` of an earlier answer. Required.",
      schema: { type: "string" },
    },
    ...PAGE_PARAMETERS.filter(({ name }) => name === "limit"),
  ],
  response: "ServiceChanges",
  examples: [
    {
      name: "changes",
      summary: "The first service of the catalogue",
      parameters: { since: "0", limit: "6" },
      response: {
        status: "success",
        changes: [
          { seq: 8, ...AT, field: "name", before: null, after: "Instagram Followers" },
          { seq: 9, ...AT, field: "price", before: null, after: 2.32 },
          { seq: 10, ...AT, field: "per", before: null, after: "1000" },
          { seq: 11, ...AT, field: "min", before: null, after: 50 },
          { seq: 12, ...AT, field: "max", before: null, after: 10_000 },
          { seq: 13, ...AT, field: "available", before: false, after: true },
        ],
        nextCursor: "13",
      },
    },
    {
      name: "field_missing",
      summary: "Without a cursor",
      response: new Refusal("field_missing", { field: "since" }),
    },
    {
      name: "field_invalid",
      summary: "A cursor that was never returned",
      parameters: { since: "999999999999" },
      response: new Refusal("field_invalid", { field: "since", must: SINCE_FORM }),
    },
  ],
  refusals: [],
};
