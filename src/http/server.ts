// The routes, and the server that listens on them.

import { Elysia, NotFoundError } from "elysia";
import type { Handler, Malformed } from "../http1/connection.ts";
import { type Address, listen, type Server } from "../http1/listen.ts";
import { readdressed } from "../http1/request.ts";
import type { Tls } from "../config/tls.ts";
import { BODY_LIMIT_BYTES } from "./body.ts";
import { documentationRoutes } from "./documentation.ts";
import {
  respondInternalError,
  answerMalformed,
  respondWith,
  type Api,
  endpoint,
  publicEndpoint,
  openPage,
} from "./endpoint.ts";
import { MALFORMED, methodNotAllowed, NOT_FOUND } from "./errors.ts";
import { getLivez, getReadyz } from "./health.ts";
import { methodsByPath, ROUTES } from "./routes.ts";

/** Only unreserved characters and slashes: what may be routed again once it is decoded. */
const PLAIN_PATH = /^[A-Za-z0-9/._~-]+$/;

/** Throws when the address cannot be listened on. */
export function startServer(api: Api, address: Address, tls: Tls | null): Server {
  return listen(handlerOf(api), address, tls);
}

function handlerOf(api: Api): Handler {
  return {
    handle: createApp(api).compile().fetch,
    refuse: (status: Malformed) => answerMalformed(api, MALFORMED[status]),
    fail: (error) => respondInternalError(api, null, error),
    bodyLimitBytes: BODY_LIMIT_BYTES,
  };
}

function createApp(api: Api) {
  const app = new Elysia({ name: "reseller", strictPath: true });
  for (const [method, path, permission, handle] of ROUTES) {
    const answer = endpoint(api, method, path, permission, (call) => handle(api, call));
    app.route(method, path, answer, { parse: "none" });
  }
  const others = methodsByPath();
  for (const [path, handle] of [
    ["/livez", getLivez],
    ["/readyz", getReadyz],
  ] as const) {
    app.get(path, publicEndpoint(api, path, handle));
    others.set(path, ["GET"]);
  }
  for (const [path, page] of documentationRoutes()) {
    app.get(path, openPage(api, path, page));
    others.set(path, ["GET"]);
  }
  for (const [path, methods] of others) {
    const refuse = ({ request }: { request: Request }) => {
      // `/orders/%62atch` is found as an order of that id before it is found to be another path.
      const decoded = decodedRequest(request);
      if (decoded) return app.handle(decoded);
      return respondWith(api, request, path, methodNotAllowed(methods.join(", ")));
    };
    // HEAD and OPTIONS are 405 too, docs/specification.md#http-paths; Elysia would answer HEAD with the GET route.
    app.route("HEAD", path, refuse, { parse: "none" });
    app.all(path, refuse, { parse: "none" });
  }
  app.onError(({ error, request }) => {
    if (!(error instanceof NotFoundError)) return respondInternalError(api, request, error);
    const decoded = decodedRequest(request);
    return decoded ? app.handle(decoded) : respondWith(api, request, null, NOT_FOUND);
  });
  return app;
}

/** The same request with its path decoded, where that makes another path; a path is decoded once. */
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
