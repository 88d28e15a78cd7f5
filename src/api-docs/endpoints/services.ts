// The OpenAPI description of the catalogue.

import { Refusal } from "../../domain/values/error-table.ts";
import type { Operation } from "../schemas/operation.ts";

export const listServices: Operation = {
  id: "listServices",
  tag: "Services",
  summary: "List services",
  description:
    "Returns the services that your key may order, at the price that you pay, sorted by name, then id. Needs an Order Key or Full Access.",
  parameters: [
    {
      name: "fields",
      in: "query",
      description: "`all` returns every member, not only the first five.",
      schema: { type: "string", enum: ["all"] },
    },
  ],
  response: "Services",
  examples: [
    {
      name: "services",
      summary: "The catalogue",
      response: {
        status: "success",
        services: [
          { id: "instagram-comments", name: "Instagram Comments", price: 8, min: 1, max: 1500 },
          { id: "instagram-followers", name: "Instagram Followers", price: 2.32, min: 50, max: 10_000 },
          { id: "instagram-likes", name: "Instagram Likes", price: 0.45, min: 10, max: 50_000 },
          { id: "youtube-watch-hours", name: "YouTube Watch Hours", price: 33.333333, min: 100, max: 4000 },
        ],
      },
    },
    {
      name: "all",
      summary: "With their types",
      parameters: { fields: "all" },
      response: {
        status: "success",
        services: [
          { id: "instagram-comments", name: "Instagram Comments", price: 8, min: 1, max: 1500, per: "1000", type: "custom_comments", dripfeed: false, cancel: false, refill: false, refillDays: 30 },
          { id: "instagram-followers", name: "Instagram Followers", price: 2.32, min: 50, max: 10_000, per: "1000", type: "default", dripfeed: true, cancel: false, refill: true, refillDays: 30 },
          { id: "instagram-likes", name: "Instagram Likes", price: 0.45, min: 10, max: 50_000, per: "1000", type: "default", dripfeed: false, cancel: true, refill: false, refillDays: 30 },
          { id: "youtube-watch-hours", name: "YouTube Watch Hours", price: 33.333333, min: 100, max: 4000, per: "1000", type: "default", dripfeed: false, cancel: false, refill: false, refillDays: 30 },
        ],
      },
    },
    {
      name: "field_invalid",
      summary: "A value other than `all`",
      parameters: { fields: "type" },
      response: new Refusal("field_invalid", { field: "fields", must: "all" }),
    },
  ],
  refusals: [],
}; // prettier-ignore
