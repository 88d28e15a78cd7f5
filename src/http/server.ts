// The routes, and the server that listens on them.

import { Elysia, NotFoundError } from "elysia";
import { methodNotAllowed, NOT_FOUND } from "./errors.ts";
import { documentationRoutes } from "./documentation.ts";
import { answerFault, answerWith, type Api, endpoint } from "./endpoint.ts";
import { methodsByPath, ROUTES } from "./routes.ts";

/** Seconds after which a connection on which nothing moves is closed. */
const IDLE_TIMEOUT_SECONDS = 30;

/** Only unreserved characters and slashes: what may be routed again once it is decoded. */
const PLAIN_PATH = /^[A-Za-z0-9/._~-]+$/;

export interface Server {
  hostname: string;
  port: number;
  /** Takes no further request and resolves when those in flight are answered. */
  stop(): Promise<void>;
}

/** Throws when the address cannot be listened on. */
export function startServer(api: Api, hostname: string, port: number): Server {
  const app = createApp(api);
  app.listen({
    hostname,
    port,
    // Two servers that share a port would share its requests, silently.
    reusePort: false,
    idleTimeout: IDLE_TIMEOUT_SECONDS,
    // Bodies are cut by readFields: here a longer one would get an answer without the envelope.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  });
  const server = app.server!;
  return {
    hostname,
    port: server.port!,
    stop: () => server.stop(),
  };
}

function createApp(api: Api) {
  const app = new Elysia({ name: "reseller", strictPath: true });
  for (const [method, path, permission, handle] of ROUTES) {
    const answer = endpoint(api, path, permission, (call) => handle(api, call));
    app.route(method, path, answer, { parse: "none" });
  }
  for (const [path, methods] of methodsByPath()) {
    const refuse = ({ request }: { request: Request }) =>
      answerWith(api, request, path, methodNotAllowed(methods.join(", ")));
    // Elysia answers HEAD with the GET route unless it is told otherwise.
    app.route("HEAD", path, refuse, { parse: "none" });
    app.all(path, refuse, { parse: "none" });
  }
  for (const [path, page] of documentationRoutes()) app.get(path, page);
  app.get("/livez", () => Response.json({ status: "ok" }));
  app.get("/readyz", () => {
    const database = api.writer.isWritable() ? "ok" : "takes no writes";
    const ready = database === "ok";
    return Response.json(
      { status: ready ? "ok" : "not ready", database },
      { status: ready ? 200 : 503 },
    );
  });
  app.onError(({ error, request }) => {
    if (!(error instanceof NotFoundError)) return answerFault(api, request, error);
    const decoded = decodedRequest(request);
    return decoded ? app.handle(decoded) : answerWith(api, request, null, NOT_FOUND);
  });
  return app;
}

/** The same request with its path decoded, where that makes another path; a path is decoded once. */
function decodedRequest(request: Request): Request | null {
  if (!request.url.includes("%")) return null;
  try {
    // Throws too when the Host header makes no address.
    const url = new URL(request.url);
    if (!url.pathname.includes("%")) return null;
    const pathname = decodeURIComponent(url.pathname);
    if (!PLAIN_PATH.test(pathname)) return null;
    return new Request(url.origin + pathname + url.search, request);
  } catch {
    return null;
  }
}
