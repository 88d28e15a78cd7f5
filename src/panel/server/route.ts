// What a route of the panel consists of.

import type { Role } from "../../domain/administrators/administrators.ts";
import type { Action, Page } from "./call.ts";

/** Least role for a route; `anyone` also includes visitors who are not signed in. */
export type Access = Role | "anyone";

export interface PageRoute {
  method: "GET";
  path: string;
  role: Access;
  page: Page;
}

export interface ActionRoute {
  method: "POST";
  path: string;
  role: Access;
  action: Action;
  /** Path of the page with the form. */
  back: string;
}

export type Route = PageRoute | ActionRoute;

export function get(path: string, role: Access, page: Page): PageRoute {
  return { method: "GET", path, role, page };
}

export function post(path: string, role: Access, action: Action, back: string): ActionRoute {
  return { method: "POST", path, role, action, back };
}
