// The routes, and the server that listens on them.

import { Elysia, NotFoundError } from "elysia";
import type { Handler, Malformed } from "../http1/connection.ts";
import { type Address, listen, type Server } from "../http1/listen.ts";
import { readdressed } from "../http1/request.ts";
import type { Tls } from "../config/tls.ts";
import { BODY_LIMIT_BYTES } from "../domain/limits.ts";
import { documentationRoutes } from "./documentation.ts";
import {
  respondInternalError,
  respondMalformed,
  respondWith,
  type EndpointDeps,
  endpoint,
  publicEndpoint,
  openPage,
} from "./endpoint.ts";
import { MALFORMED, methodNotAllowed, NOT_FOUND } from "./errors.ts";
import { getLivez, getReadyz, type HealthDeps } from "./health.ts";
import { type HandlerDeps, methodsByPath, ROUTES } from "./routes.ts";

/** Unreserved characters and slashes only: a decoded path of any others is not routed again. */
const PLAIN_PATH = /^[A-Za-z0-9/._~-]+$/;

export type ServerDeps = EndpointDeps & HandlerDeps & HealthDeps;

/** Throws when the address cannot be listened on. */
export function startServer(deps: ServerDeps, address: Address, tls: Tls | null): Server {
  return listen(handlerOf(deps), address, tls);
}

function handlerOf(deps: ServerDeps): Handler {
  return {
    handle: createApp(deps).compile().fetch,
    refuse: (status: Malformed) => respondMalformed(deps, MALFORMED[status]),
    fail: (error) => respondInternalError(deps, null, error),
    bodyLimitBytes: BODY_LIMIT_BYTES,
  };
}

function createApp(deps: ServerDeps) {
  const app = new Elysia({ name: "reseller", strictPath: true });
  for (const [method, path, permission, handle] of ROUTES) {
    const respond = endpoint(deps, method, path, permission, (call) => handle(deps, call));
    app.route(method, path, respond, { parse: "none" });
  }
  const others = methodsByPath();
  for (const [path, handle] of [
    ["/livez", getLivez],
    ["/readyz", getReadyz],
  ] as const) {
    app.get(
      path,
      publicEndpoint(deps, path, () => handle(deps)),
    );
    others.set(path, ["GET"]);
  }
  for (const [path, page] of documentationRoutes()) {
    app.get(path, openPage(deps, path, page));
    others.set(path, ["GET"]);
  }
  for (const [path, methods] of others) {
    const refuse = ({ request }: { request: Request }) => {
      // `/orders/%62atch` matches `/orders/:id` undecoded, but decoded it is `/orders/batch`.
      const decoded = decodedRequest(request);
      if (decoded) return app.handle(decoded);
      return respondWith(deps, request, path, methodNotAllowed(methods.join(", ")));
    };
    // HEAD and OPTIONS are 405 too, docs/specification.md#http-paths; Elysia would answer HEAD with the GET route.
    app.route("HEAD", path, refuse, { parse: "none" });
    app.all(path, refuse, { parse: "none" });
  }
  app.onError(({ error, request }) => {
    if (!(error instanceof NotFoundError)) return respondInternalError(deps, request, error);
    const decoded = decodedRequest(request);
    return decoded ? app.handle(decoded) : respondWith(deps, request, null, NOT_FOUND);
  });
  return app;
}

/** The same request with its path decoded once; null where decoding changes nothing that can be routed. */
function decodedRequest(request: Request): Request | null {
  if (!request.url.includes("%")) return null;
  const url = new URL(request.url);
  if (!url.pathname.includes("%")) return null;
  try {
    const pathname = decodeURIComponent(url.pathname);
    return PLAIN_PATH.test(pathname)
      ? readdressed(request, url.origin + pathname + url.search)
      : null;
  } catch {
    return null;
  }
}
