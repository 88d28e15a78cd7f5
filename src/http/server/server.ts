// The routes, and the server that listens on them.

import type { Handler, Malformed } from "../../http1/connection.ts";
import type { ConnectionPool } from "../../http1/connection-pool.ts";
import { type Address, listen, type Server } from "../../http1/listen.ts";
import type { IncomingRequest } from "../../http1/request.ts";
import type { AnyResponse } from "../../http1/response.ts";
import type { Tls } from "../../config/tls.ts";
import { BODY_LIMIT_BYTES } from "../../domain/values/limits.ts";
import { type DocumentationDeps, documentationRoutes } from "./documentation.ts";
import {
  respondInternalError,
  respondMalformed,
  respondWith,
  endpoint,
  publicEndpoint,
  openPage,
} from "./endpoint.ts";
import { MALFORMED, methodNotAllowed, NOT_FOUND } from "./errors.ts";
import { getLivez, getReadyz, type HealthDeps } from "./health.ts";
import type { EndpointDeps } from "./request-context.ts";
import { type RouteContext, Router } from "./router.ts";
import { type HandlerDeps, methodsByPath, ROUTES } from "./routes.ts";

/** Size limit for a form of the pages below a prefix. */
const PAGES_BODY_LIMIT_BYTES = 2 * 1024 * 1024;
/** Unreserved characters and slashes only. A decoded path with any other character is not routed again. */
const PLAIN_PATH = /^[A-Za-z0-9/._~-]+$/;

export type ServerDeps = EndpointDeps & HandlerDeps & HealthDeps & DocumentationDeps;

/** A route of another folder, which has its own form of responses. */
export interface MountedRoute {
  method: "GET" | "POST";
  path: string;
  handle: (context: RouteContext) => Promise<AnyResponse>;
  /** Responds to every other method. */
  refuseMethod: (context: RouteContext) => AnyResponse;
}

/** Pages of another folder that answer every request below their prefix. */
export interface MountedPages {
  /** Begins with a slash, such as `/portal`. */
  prefix: string;
  handle: (request: IncomingRequest) => Promise<Response>;
}

/** What other folders add to the API's listener. */
export interface Mounted {
  routes?: readonly MountedRoute[];
  pages?: MountedPages | null;
}

/** Starts the API server. Throws when the address cannot be listened on. */
export function startServer(
  deps: ServerDeps,
  address: Address,
  tls: Tls | null,
  mounted: Mounted = {},
  connections?: ConnectionPool,
): Server {
  return listen(handlerOf(deps, mounted), address, tls, connections);
}

function handlerOf(deps: ServerDeps, mounted: Mounted): Handler {
  return {
    handle: createRouter(deps, mounted).route,
    refuse: (status: Malformed) => respondMalformed(deps, MALFORMED[status]),
    fail: (error) => respondInternalError(deps, null, error),
    bodyLimitBytes: BODY_LIMIT_BYTES,
    // Forms of pages may send a file.
    wide: mounted.pages
      ? { prefix: mounted.pages.prefix, limitBytes: PAGES_BODY_LIMIT_BYTES }
      : null,
  };
}

function createRouter(
  deps: ServerDeps,
  { routes = [], pages = null }: Mounted,
): Router<AnyResponse> {
  const router = new Router<AnyResponse>("reseller", (error, request) =>
    respondInternalError(deps, request, error),
  );
  for (const [method, path, needs, handle] of ROUTES) {
    const respond = endpoint(deps, method, path, needs, (call) => handle(deps, call));
    router.add(method, path, respond);
  }
  const others = methodsByPath();
  for (const [path, handle] of [
    ["/livez", getLivez],
    ["/readyz", getReadyz],
  ] as const) {
    const respond = publicEndpoint(deps, path, () => handle(deps));
    router.add("GET", path, respond);
    others.set(path, ["GET"]);
  }
  for (const [path, page] of documentationRoutes(deps)) {
    router.add("GET", path, openPage(deps, path, page));
    others.set(path, ["GET"]);
  }
  for (const [path, methods] of others) {
    const refuse = ({ request }: RouteContext) => {
      // `/orders/%62atch` matches `/orders/:id` undecoded, but decoded it is `/orders/batch`.
      const decoded = decodedRequest(request);
      if (decoded) return router.route(decoded);
      return respondWith(deps, request, path, methodNotAllowed(methods.join(", ")));
    };
    // HEAD and OPTIONS are 405 too, docs/specification/http.md#http-paths.
    router.add("ALL", path, refuse);
  }
  for (const { method, path, handle, refuseMethod } of routes) {
    router.add(method, path, handle);
    router.add("ALL", path, refuseMethod);
  }
  router.addRest(({ request }) => {
    // Only here, after all routes, so that pages cost a call of the API nothing.
    if (pages !== null && isBelow(pages, request)) return pages.handle(request);
    const decoded = decodedRequest(request);
    return decoded ? router.route(decoded) : respondWith(deps, request, null, NOT_FOUND);
  });
  return router.compile();
}

function isBelow({ prefix }: MountedPages, { path }: IncomingRequest): boolean {
  const next = path[prefix.length];
  return path.startsWith(prefix) && (next === undefined || next === "/" || next === "?");
}

/**
 * Returns the request with its path decoded once; null if the path has nothing to decode or cannot be routed decoded.
 */
function decodedRequest(request: IncomingRequest): IncomingRequest | null {
  const [path, ...query] = request.path.split("?");
  if (!path!.includes("%")) return null;
  try {
    const decoded = decodeURIComponent(path!);
    return PLAIN_PATH.test(decoded) ? request.withPath([decoded, ...query].join("?")) : null;
  } catch {
    return null;
  }
}
