// What a route of the API consists of. Each file of http/api/ exports the routes that it handles.

import type { Operation } from "../../api-docs/schemas/operation.ts";
import type { RouteNeeds } from "./auth.ts";
import type { Call } from "./endpoint.ts";

/** `Deps`: what the handler uses. */
export type Route<Deps> = readonly [
  method: "GET" | "POST" | "PATCH" | "DELETE",
  path: string,
  needs: RouteNeeds,
  handle: (deps: Deps, call: Call) => object | Promise<object>,
  description: Operation,
];

export const ORDER: RouteNeeds = { permission: "order" };
export const LOOKUP: RouteNeeds = { permission: "user lookup" };
export const RECHARGE: RouteNeeds = { permission: "recharge" };
export const WEBHOOK: RouteNeeds = { permission: "webhook" };
export const TEST: RouteNeeds = { permission: "order", test: true };
export const TEST_WEBHOOK: RouteNeeds = { permission: "webhook", test: true };
