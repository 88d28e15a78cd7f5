// The types of the portal's routes.

import type { MemberPermission } from "../../domain/members/members.ts";
import type * as site from "../../web/server/route.ts";
import type { Action, Page } from "./call.ts";
import type { Portal } from "./portal.ts";
import type { Visitor } from "./visitor.ts";

export type PageRoute = site.PageRoute<Visitor, Portal, MemberPermission>;
export type ActionRoute = site.ActionRoute<Visitor, Portal, MemberPermission>;
export type Route = site.Route<Visitor, Portal, MemberPermission>;

/** The permission that a route requires. */
export type Access = Route["role"];

export function get(path: string, role: Access, page: Page): PageRoute {
  return { method: "GET", path, role, page };
}

export function post(path: string, role: Access, action: Action, back: string): ActionRoute {
  return { method: "POST", path, role, action, back };
}

/** An action that programs and other sites may send: its path holds what permits it. */
export function postForAll(path: string, action: Action): ActionRoute {
  return { method: "POST", path, role: "anyone", action, back: path, isForAll: true };
}
