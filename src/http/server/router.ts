// Elysia as a router for IncomingRequests.

import type { AnyElysia } from "elysia";
import type { IncomingRequest } from "../../http1/request.ts";

/** The part of Elysia's context that is used here. */
export interface RouteContext {
  request: IncomingRequest;
  params: Record<string, string>;
}

type RouteHandler = (context: RouteContext) => Response | Promise<Response>;

/** The part of Elysia that is used here, with its types for an IncomingRequest. */
export interface Router {
  route(method: string, path: string, handle: RouteHandler, options: { parse: "none" }): unknown;
  onError(
    handle: (context: { error: unknown; request: IncomingRequest }) => Response | Promise<Response>,
  ): unknown;
  compile(): Router;
  readonly fetch: (request: IncomingRequest) => Response | Promise<Response>;
  /** Routes the request again; for use in a handler. */
  handle(request: IncomingRequest): Promise<Response>;
}

/**
 * Returns `app` as a Router. Elysia's types require a Request. For routes that parse no body and have no schema, it
 * reads only `method` and `url`, to find the route, and passes on the object itself. All tests in test/http route
 * IncomingRequests.
 */
export function routerOf(app: AnyElysia): Router {
  return app as unknown as Router;
}

/**
 * Adds a route. The handler is bound because a bound function has no source text. Elysia would infer from that text
 * what the handler needs, and would await a response that may be asynchronous. For a read, that would cost another turn
 * of the microtask queue.
 */
export function addRoute(router: Router, method: string, path: string, handle: RouteHandler): void {
  router.route(method, path, handle.bind(null), { parse: "none" });
}
