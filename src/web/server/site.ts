// A site: pages with one way to sign in, such as the operator's panel. The listener serves it.

import type { ComponentChildren } from "preact";
import type { Logger } from "../../monitoring/log.ts";
import type { IncomingRequest } from "../../http1/request.ts";
import type { Call, CallParts } from "./call.ts";
import type { OriginSettings } from "./origin.ts";
import type { PageRoute, Route } from "./route.ts";
import type { Visitor } from "./visitor.ts";

/** What every site needs of the server. */
export interface SiteParts extends CallParts {
  log: Pick<Logger, "error">;
  settings: CallParts["settings"] & OriginSettings;
  onInternalError(error: unknown): void;
}

export interface Site<Who extends Visitor, Parts extends SiteParts, Role> {
  /** What it is called in messages, such as `panel`. */
  name: string;
  /** Name of the cookie of its sessions. */
  cookie: string;
  /** Shown with 421 to a browser that asks for it by an unknown host name. */
  unknownHost: string;
  parts: Parts;
  routes: readonly Route<Who, Parts, Role>[];
  visitorOf(request: IncomingRequest): Who;
  /** Looks up the session. Returns the response for a visitor who may not see the route, or null for one who may. */
  admit(route: Route<Who, Parts, Role>, call: Call<Who>): Promise<Response | null>;
  /** Returns what is beside the name in the head of every page. Null: on pages without a known visitor. */
  header(visitor: Who | null, path: string): ComponentChildren;
}

/** Returns the page of a path, where the form of an action is. */
export function pageAt<Who extends Visitor, Parts, Role>(
  routes: readonly Route<Who, Parts, Role>[],
  path: string,
): PageRoute<Who, Parts, Role> {
  const found = routes.find((route) => route.path === path && route.method === "GET");
  if (found?.method !== "GET") throw new Error(`no page has the path ${path}`);
  return found;
}
