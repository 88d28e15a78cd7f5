// The types of the panel's routes.

import type { Role } from "../../domain/administrators/administrators.ts";
import type * as site from "../../web/server/route.ts";
import type { Action, Page } from "./call.ts";
import type { Panel } from "./panel.ts";
import type { Visitor } from "./visitor.ts";

export type PageRoute = site.PageRoute<Visitor, Panel, Role>;
export type ActionRoute = site.ActionRoute<Visitor, Panel, Role>;
export type Route = site.Route<Visitor, Panel, Role>;

/** The role that a route requires at least. */
export type Access = Route["role"];

export function get(path: string, role: Access, page: Page): PageRoute {
  return { method: "GET", path, role, page };
}

export function post(path: string, role: Access, action: Action, back: string): ActionRoute {
  return { method: "POST", path, role, action, back };
}
