// The OpenAPI description of the catalogue.

import type { Operation } from "./operation.ts";

export const listServices: Operation = {
  id: "listServices",
  tag: "Services",
  summary: "List services",
  description:
    "What your key may order, at the price that you pay: by name, then id. Needs an Order Key or Full Access.",
  response: "Services",
  examples: [
    {
      name: "services",
      summary: "The catalogue",
      response: {
        status: "success",
        services: [
          { id: "instagram-followers", name: "Instagram Followers", price: 2.32, min: 50, max: 10_000 },
          { id: "instagram-likes", name: "Instagram Likes", price: 0.45, min: 10, max: 50_000 },
          { id: "youtube-watch-hours", name: "YouTube Watch Hours", price: 33.333333, min: 100, max: 4000 },
        ],
      },
    },
  ],
  refusals: [],
}; // prettier-ignore
