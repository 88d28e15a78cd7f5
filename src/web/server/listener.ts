// The listener of a site: handles every request of its route table, from connection to page.

import { TransientError } from "../../db/port/port.ts";
import { Refusal } from "../../domain/values/error-table.ts";
import { type RouteContext, Router } from "../../http/server/router.ts";
import type { ConnectionPool } from "../../http1/connection-pool.ts";
import { type Address, type Certificate, listen, type Server } from "../../http1/listen.ts";
import { UNKNOWN_METHOD } from "../../http1/parser.ts";
import type { IncomingRequest } from "../../http1/request.ts";
import { ASSETS } from "./assets.ts";
import { Call, Submission } from "./call.ts";
import { ConfirmationNeeded, ConfirmedBefore } from "./confirmation.tsx";
import { type Form, FormError } from "./form.ts";
import { type FormBody, formOf, TooLarge, Unreadable } from "./form-body.ts";
import { noteCookie } from "./notes.ts";
import { readCookie } from "../sessions/cookies.ts";
import { isFromElsewhere, isKnownHost, isOwn } from "./origin.ts";
import { isAbsence, shownRefusal } from "./refusals.ts";
import { onSide } from "./layout.tsx";
import { confirmationOf, failureOf, viewOf } from "./render.tsx";
import { askAgain, assetResponse, redirect, secured, withCookies } from "./response.ts";
import type { ActionRoute, PageRoute, Route } from "./route.ts";
import { pageAt, type Site, type SiteParts } from "./site.ts";
import type { Visitor } from "../sessions/visitor.ts";
import { ENGLISH } from "./words.ts";

/** Size limit for a form. The longest form imports a list of services. */
const BODY_LIMIT_BYTES = 4 * 1024 * 1024;
/** Size limit for a form that needs no session. */
const OPEN_BODY_LIMIT_BYTES = 16 * 1024;

/** Starts the listener of a site. Throws if it cannot listen on the address. */
export function startSite<Who extends Visitor, Parts extends SiteParts, Role>(
  site: Site<Who, Parts, Role>,
  address: Address,
  tls: Certificate | null,
  connections?: ConnectionPool,
): Server {
  const { isSecure } = site.parts.settings;
  return listen(
    {
      handle: siteHandler(site),
      refuse: (status) => secured(new Response(null, { status }), isSecure),
      fail: (error) => secured(fail(site, error, null), isSecure),
      bodyLimitBytes: BODY_LIMIT_BYTES,
      streamed: site.streamed ?? null,
    },
    address,
    tls,
    connections,
  );
}

/** Returns what answers the requests of a site, on a listener of its own or below its prefix on another. */
export function siteHandler<Who extends Visitor, Parts extends SiteParts, Role>(
  site: Site<Who, Parts, Role>,
): (request: IncomingRequest) => Promise<Response> {
  const { settings } = site.parts;
  const { prefix } = site;
  const { route } = createRouter(site, "");
  const sides = (site.sides ?? []).map((side) => ({ side, route: createRouter(site, side).route }));
  return async (request) => {
    if (!isKnownHost(request, settings)) {
      return secured(failureOf(site, 421, site.unknownHost, null), settings.isSecure);
    }
    const path = request.path.slice(prefix.length);
    if (!path.startsWith("/")) return secured(redirect(`${prefix}/${path}`), settings.isSecure);
    const at = sides.find(({ side }) => path.startsWith(`${side}/`));
    const only = sides.find(({ side }) => side === path);
    if (only) return secured(redirect(`${prefix}${path}/`), settings.isSecure);
    const response = at
      ? await at.route(request.withPath(path.slice(at.side.length)))
      : await route(prefix === "" ? request : request.withPath(path));
    const to = response.headers.get("location");
    if (to?.startsWith("/")) {
      response.headers.set("location", prefix + onSide(at?.side ?? "", to));
    }
    return secured(response, settings.isSecure);
  };
}

function createRouter<Who extends Visitor, Parts extends SiteParts, Role>(
  site: Site<Who, Parts, Role>,
  side: string,
): Router<Response> {
  const router = new Router<Response>(site.name, (error) => fail(site, error, null));
  for (const asset of [...ASSETS, ...site.assets])
    addGet(site, side, router, asset.path, () => assetResponse(asset));
  for (const route of site.routes) {
    const handle = (context: RouteContext) => answer(site, side, route, context);
    if (route.method === "GET") {
      addGet(site, side, router, route.path, handle);
      continue;
    }
    router.add(route.method, route.path, handle);
    // After a refused form a browser shows the action's address. A reload leads to the page with the form.
    const isPage = site.routes.some(({ method, path }) => method === "GET" && path === route.path);
    if (!isPage)
      addGet(site, side, router, route.path, ({ params }) =>
        redirect(filledIn(route.back, params)),
      );
  }
  router.addRest(({ request }) => noSuchPage(site, side, request));
  return router.compile();
}

/** Adds a route for GET, and for HEAD, which load balancers and link checkers send. The connection omits its body. */
function addGet<Who extends Visitor, Parts extends SiteParts, Role>(
  site: Site<Who, Parts, Role>,
  side: string,
  router: Router<Response>,
  path: string,
  handle: Parameters<Router<Response>["add"]>[2],
): void {
  router.add("GET", path, handle);
  // HEAD and unknown methods are routed as UNKNOWN_METHOD.
  router.add(UNKNOWN_METHOD, path, (context) =>
    context.request.sentMethod === "HEAD"
      ? handle(context)
      : noSuchPage(site, side, context.request),
  );
}

async function noSuchPage<Who extends Visitor, Parts extends SiteParts, Role>(
  site: Site<Who, Parts, Role>,
  side: string,
  request: IncomingRequest,
): Promise<Response> {
  const visitor = site.visitorOf(request, side);
  try {
    await site.recognize(visitor);
    return failureOf(site, 404, visitor.words.pageNotFound, visitor);
  } catch (error) {
    return fail(site, error, visitor);
  }
}

async function answer<Who extends Visitor, Parts extends SiteParts, Role>(
  site: Site<Who, Parts, Role>,
  side: string,
  route: Route<Who, Parts, Role>,
  { request, params }: RouteContext,
): Promise<Response> {
  // No id has a NUL, and PostgreSQL refuses to look one up.
  const [path, query = ""] = request.path.split("?");
  if (path!.includes("%00")) return noSuchPage(site, side, request);
  const { parts } = site;
  const visitor = site.visitorOf(request, side);
  try {
    if (route.method === "POST" && !route.isForAll && !isOwn(request, parts.settings)) {
      return failureOf(site, 403, visitor.words.foreignForm, null);
    }
    // Asked again, the browser sends the cookie of a session, if there is one.
    if (route.method === "GET" && route.role !== "anyone" && isFromElsewhere(request)) {
      const cookie = readCookie(request, parts.settings.isSecure, site.cookie);
      if (cookie === null) return askAgain(site.prefix + onSide(side, request.path));
    }
    const call = new Call(parts, visitor, path!, query, params);
    const refused = await site.admit(route, call);
    if (refused) return refused;
    if (route.method === "GET") return await show(site, route, call);
    if (parts.demo?.isOpen?.(route.path, params) === false) {
      return failureOf(site, 403, visitor.words.parts.demo.formClosed, visitor);
    }
    const limitBytes = route.role === "anyone" ? OPEN_BODY_LIMIT_BYTES : BODY_LIMIT_BYTES;
    const body = route.read ? await route.read(request, parts) : await formOf(request, limitBytes);
    return await run(site, route, call, body);
  } catch (error) {
    return fail(site, error, visitor);
  }
}

async function show<Who extends Visitor, Parts extends SiteParts, Role>(
  site: Site<Who, Parts, Role>,
  route: PageRoute<Who, Parts, Role>,
  call: Call<Who>,
): Promise<Response> {
  const shown = await route.page(call, site.parts);
  return shown instanceof Response ? shown : viewOf(site, call, shown, null);
}

async function run<Who extends Visitor, Parts extends SiteParts, Role>(
  site: Site<Who, Parts, Role>,
  route: ActionRoute<Who, Parts, Role>,
  call: Call<Who>,
  { values, files }: FormBody,
): Promise<Response> {
  const { parts } = site;
  const { isSecure } = parts.settings;
  const submission = new Submission(call, parts, values, files);
  const { form } = submission;
  // Keeps the page that follows the sign-in, even after a wrong password, and the filters of the list with the form.
  const kept = values.has("next")
    ? `next=${encodeURIComponent(values.get("next")!)}`
    : (values.get("query") ?? "");
  const path = filledIn(route.back, call.params);
  const back = new Call(parts, call.visitor, path, kept, call.params);
  try {
    const done = await route.action(submission, parts);
    if (!("to" in done)) return viewOf(site, call, done, null);
    const { to, cookie, note, tone = "good" } = done;
    return redirect(to, cookie, noteCookie(note, tone, site.cookie, isSecure));
  } catch (error) {
    if (error instanceof ConfirmedBefore) {
      const note = call.visitor.words.sentTwice;
      return redirect(back.path, noteCookie(note, "busy", site.cookie, isSecure));
    }
    if (error instanceof ConfirmationNeeded) {
      return confirmationOf(site, call, back.path, form, error);
    }
    const again = noteRefusal(submission, error);
    const shown = await pageAt(site.routes, route.back).page(back, parts);
    if (shown instanceof Response) throw new Error(`${route.back} is not a page`, { cause: error });
    const view = { ...shown, status: again.status };
    const response = viewOf(site, back, view, { action: call.path, form });
    if (again.retryAfter) response.headers.set("retry-after", again.retryAfter);
    return withCookies(response, []);
  }
}

/** Shows the error beside its field. Rethrows errors that the form cannot show. */
function noteRefusal(
  { form, visitor }: { form: Form; visitor: Visitor },
  error: unknown,
): { status: number; retryAfter?: string } {
  if (error instanceof FormError) return { status: 422 };
  if (!(error instanceof Refusal) || error.code === "service_unavailable") throw error;
  const { message, field } = shownRefusal(error, form.values, visitor.words);
  form.addError(field, message);
  if (error.code === "owner_required") return { status: 403 };
  if (error.code !== "sign_in_limited") return { status: 422 };
  const { retryAfterSeconds } = (error as Refusal<"sign_in_limited">).details;
  return { status: 429, retryAfter: String(retryAfterSeconds) };
}

function filledIn(path: string, params: Readonly<Record<string, string>>): string {
  return path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
}

function fail<Who extends Visitor, Parts extends SiteParts, Role>(
  site: Site<Who, Parts, Role>,
  error: unknown,
  visitor: Who | null,
): Response {
  const words = visitor?.words ?? ENGLISH;
  if (error instanceof TooLarge) return failureOf(site, 413, words.tooLargeForm, visitor);
  if (error instanceof Unreadable) return failureOf(site, 415, words.notAForm, visitor);
  if (error instanceof Refusal && isAbsence(error)) {
    return failureOf(site, 404, shownRefusal(error, new Set(), words).message, visitor);
  }
  const isUnavailable = error instanceof Refusal && error.code === "service_unavailable";
  if (isUnavailable || error instanceof TransientError) {
    return failureOf(site, 503, words.unavailable, visitor);
  }
  site.parts.onInternalError(error);
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  site.parts.log.error({ error: text }, `${site.name}: internal error`);
  return failureOf(site, 500, words.internalError, visitor);
}
