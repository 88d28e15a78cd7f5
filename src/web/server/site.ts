// A site: pages with one way to sign in, such as the operator's panel. The listener serves it.

import type { ComponentChildren } from "preact";
import type { Logger } from "../../monitoring/log.ts";
import type { StreamedBodies } from "../../http1/parser.ts";
import type { IncomingRequest } from "../../http1/request.ts";
import type { Asset } from "./assets.ts";
import type { Call, CallParts } from "./call.ts";
import type { DemoSite } from "./demo.ts";
import type { OriginSettings } from "./origin.ts";
import type { PageRoute, Route } from "./route.ts";
import type { Visitor } from "../sessions/visitor.ts";

/** What every site needs of the server. */
export interface SiteParts extends CallParts {
  log: Pick<Logger, "error">;
  settings: CallParts["settings"] & OriginSettings;
  onInternalError(error: unknown): void;
  /** Absent or null: this is no demo. */
  demo?: DemoSite | null;
}

/** How the site presents itself. */
export interface Brand {
  name: string;
  /** Path of the logo; null: the name is shown. */
  logo: string | null;
  /** Path of a stylesheet with its colours; null: those of the product. */
  style: string | null;
}

export interface Site<Who extends Visitor, Parts extends SiteParts, Role> {
  /** Name of the site in messages, such as `panel`. */
  name: string;
  /** What all its paths begin with, such as `/portal`; empty on a listener of its own. Routes and pages leave it out. */
  prefix: string;
  /**
   * What further paths begin with that have the same routes, such as `/test`. Pages leave it out: their paths stay on the
   * side of the request. A path that begins with `/../` leaves the side.
   */
  sides?: readonly string[];
  brand: Brand;
  /** Files besides those of all sites. */
  assets: readonly Asset[];
  /** Name of the cookie with a session. */
  cookie: string;
  /** The path of the form that is read while it arrives, and its limit. Only for a site on a listener of its own. */
  streamed?: StreamedBodies;
  /** Message of the 421 for a browser that uses an unknown host name. */
  unknownHost: string;
  parts: Parts;
  routes: readonly Route<Who, Parts, Role>[];
  /** `side`: one of `sides`, or empty. */
  visitorOf(request: IncomingRequest, side: string): Who;
  /** Looks up the session. Returns the response for a visitor who may not see the route, or null for one who may. */
  admit(route: Route<Who, Parts, Role>, call: Call<Who>): Promise<Response | null>;
  /** Looks up who is signed in, for the head of a page that is in no route. */
  recognize(visitor: Who): Promise<unknown>;
  /** Returns the time zone that the visitor chose; null for UTC. */
  zone?(visitor: Who): string | null;
  /** Returns what is beside the name in the head of every page. `visitor`: null if unknown. */
  header(visitor: Who | null, path: string): ComponentChildren;
  /** Returns whether the visitor sees forms without effect. `admit` refuses their actions. */
  isReadOnly?(visitor: Who): boolean;
  /** Returns what is above the content of every page. `visitor`: null if unknown. */
  banner?(visitor: Who | null): ComponentChildren;
}

/** Returns the page with this path. Throws if there is none. */
export function pageAt<Who extends Visitor, Parts, Role>(
  routes: readonly Route<Who, Parts, Role>[],
  path: string,
): PageRoute<Who, Parts, Role> {
  const found = routes.find((route) => route.path === path && route.method === "GET");
  if (found?.method !== "GET") throw new Error(`no page has the path ${path}`);
  return found;
}
