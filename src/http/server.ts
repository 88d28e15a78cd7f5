// The routes, and the server that listens on them.

import { Elysia, NotFoundError } from "elysia";
import type { Tls } from "../tls.ts";
import { documentationRoutes } from "./documentation.ts";
import {
  answerFault,
  answerWith,
  type Api,
  arrivedAs,
  endpoint,
  openEndpoint,
} from "./endpoint.ts";
import { methodNotAllowed, NOT_FOUND } from "./errors.ts";
import { getLivez, getReadyz } from "./health.ts";
import { type Address, listen, type Server } from "./listen.ts";
import { methodsByPath, ROUTES } from "./routes.ts";

/** Only unreserved characters and slashes: what may be routed again once it is decoded. */
const PLAIN_PATH = /^[A-Za-z0-9/._~-]+$/;

const HEALTH_PATHS: [path: string, methods: string[]][] = [
  ["/livez", ["GET"]],
  ["/readyz", ["GET"]],
];

/** Throws when the address cannot be listened on. */
export function startServer(api: Api, address: Address, tls: Tls | null): Server {
  return listen(() => createApp(api, tls !== null), address, tls);
}

function createApp(api: Api, isTls: boolean) {
  const app = new Elysia({
    name: "reseller",
    strictPath: true,
    // Where Elysia begins to look for a path: false, at the 8th character of the URL, which lets `Host: api` find one but
    // is a slash of `https://` itself; true, at the 12th.
    handler: { standardHostname: isTls },
  });
  const peers = () => app.server;
  for (const [method, path, permission, handle] of ROUTES) {
    const answer = endpoint(api, method, path, permission, peers, (call) => handle(api, call));
    app.route(method, path, answer, { parse: "none" });
  }
  app.get("/livez", openEndpoint(api, "/livez", getLivez));
  app.get("/readyz", openEndpoint(api, "/readyz", getReadyz));
  for (const [path, methods] of [...methodsByPath(), ...HEALTH_PATHS]) {
    const refuse = ({ request }: { request: Request }) => {
      // `/orders/%62atch` is found as an order of that id before it is found to be another path.
      const decoded = decodedRequest(request);
      if (decoded) return app.handle(decoded);
      return answerWith(api, request, path, methodNotAllowed(methods.join(", ")));
    };
    // Elysia answers HEAD with the GET route unless it is told otherwise.
    app.route("HEAD", path, refuse, { parse: "none" });
    app.all(path, refuse, { parse: "none" });
  }
  for (const [path, page] of documentationRoutes()) app.get(path, page);
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
    const decoded = new Request(url.origin + pathname + url.search, request);
    arrivedAs.set(decoded, request);
    return decoded;
  } catch {
    return null;
  }
}
