// The panel's listener: handles every request of the route table, from connection to page.

import { Elysia, NotFoundError } from "elysia";
import { TransientError } from "../../db/port/port.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import { Refusal } from "../../domain/values/refusals.ts";
import { addRoute, type RouteContext, type Router, routerOf } from "../../http/server/router.ts";
import type { ConnectionPool } from "../../http1/connection-pool.ts";
import { type Address, type Certificate, listen, type Server } from "../../http1/listen.ts";
import { UNKNOWN_METHOD } from "../../http1/parser.ts";
import { ASSETS } from "../../web/server/assets.ts";
import { Call, Submission } from "./call.ts";
import { ConfirmationNeeded, ConfirmedBefore } from "../../web/server/confirmation.tsx";
import { FormError } from "../../web/server/form.ts";
import { formOf, TooLarge, Unreadable } from "../../web/server/form-body.ts";
import { noteCookie } from "./notes.ts";
import { isKnownHost, isOwn } from "./origin.ts";
import { isAbsence, shownRefusal } from "../../web/server/refusals.ts";
import { confirmationOf, failureOf, viewOf } from "./render.tsx";
import { assetResponse, redirect, secured, withCookies } from "../../web/server/response.ts";
import type { ActionRoute, PageRoute } from "./route.ts";
import { pageAt, ROUTES } from "./routes.ts";
import { ENROLMENT } from "../administrators/second-factor.tsx";
import { Visitor, type VisitorDeps } from "./visitor.ts";

/** Size limit for a form. The longest form imports a list of services. */
const BODY_LIMIT_BYTES = 4 * 1024 * 1024;
/** Size limit for a form that needs no session. */
const OPEN_BODY_LIMIT_BYTES = 16 * 1024;

/** The parts that only the listener needs. */
export interface PanelDeps extends VisitorDeps {
  onInternalError(error: unknown): void;
}

/** Starts the panel. Throws if it cannot listen on the address. */
export function startPanel(
  deps: PanelDeps,
  address: Address,
  tls: Certificate | null,
  connections?: ConnectionPool,
): Server {
  const finish = (response: Response) => secured(response, deps.settings.isSecure);
  const { fetch: route } = createRouter(deps);
  return listen(
    {
      handle: async (request) =>
        finish(isKnownHost(request, deps.settings) ? await route(request) : unknownHost()),
      refuse: (status) => finish(new Response(null, { status })),
      fail: (error) => finish(fail(deps, error, null)),
      bodyLimitBytes: BODY_LIMIT_BYTES,
    },
    address,
    tls,
    connections,
  );
}

function createRouter(deps: PanelDeps): Router {
  const router = routerOf(new Elysia({ name: "panel", strictPath: true }));
  for (const asset of ASSETS) addGet(router, asset.path, () => assetResponse(asset));
  for (const route of ROUTES) {
    const handle = (context: RouteContext) => answer(deps, route, context);
    if (route.method === "GET") {
      addGet(router, route.path, handle);
      continue;
    }
    addRoute(router, route.method, route.path, handle);
    // A browser shows this address after a refused form. Requesting it again leads to the page with the form.
    const isPage = ROUTES.some(({ method, path }) => method === "GET" && path === route.path);
    if (!isPage) addGet(router, route.path, ({ params }) => redirect(filledIn(route.back, params)));
  }
  router.onError(({ error }) =>
    error instanceof NotFoundError ? noSuchPage() : fail(deps, error, null),
  );
  return router.compile();
}

/** Adds a route for GET and HEAD, which load balancers and link checkers send. The connection leaves out the body. */
function addGet(router: Router, path: string, handle: Parameters<typeof addRoute>[3]): void {
  addRoute(router, "GET", path, handle);
  // HEAD and unknown methods are routed as UNKNOWN_METHOD.
  addRoute(router, UNKNOWN_METHOD, path, (context) =>
    context.request.sentMethod === "HEAD" ? handle(context) : noSuchPage(),
  );
}

/** Returns 421: this server does not answer for that name. */
function unknownHost(): Response {
  const message =
    "The panel is not known by this name. Ask for it by its IP address, or start the server with --panel-url and the address that you use.";
  return failureOf(421, message, null);
}

function noSuchPage(): Response {
  return failureOf(404, "There is no such page.", null);
}

async function answer(
  deps: PanelDeps,
  route: PageRoute | ActionRoute,
  { request, params }: RouteContext,
): Promise<Response> {
  const visitor = new Visitor(deps, request);
  try {
    if (route.method === "POST" && !isOwn(request, deps.settings)) {
      return failureOf(403, "This was sent by a page of another site: nothing was changed.", null);
    }
    const [path, query = ""] = request.path.split("?");
    const call = new Call(deps, visitor, path!, query, params);
    const refused = await admit(deps, route, call);
    if (refused) return refused;
    if (route.method === "GET") return await show(deps, route, call);
    const limitBytes = route.role === "anyone" ? OPEN_BODY_LIMIT_BYTES : BODY_LIMIT_BYTES;
    return await run(deps, route, call, await formOf(request, limitBytes));
  } catch (error) {
    return fail(deps, error, visitor);
  }
}

/** Returns the response for a visitor who may not see the route, or null for one who may. */
async function admit(
  { settings }: PanelDeps,
  route: PageRoute | ActionRoute,
  { visitor, path, filters }: Call,
): Promise<Response | null> {
  const identity = await visitor.authenticate();
  if (route.role === "anyone") return null;
  if (!identity || identity.session.awaitsCode) {
    if (visitor.isRefresh()) return new Response(null, { status: 401 });
    if (identity) return redirect("/sign-in/code");
    const asked = `${path}${filters.values.size > 0 ? `?${filters.values}` : ""}`;
    const next =
      route.method === "GET" && path !== "/" ? `?${new URLSearchParams({ next: asked })}` : "";
    return redirect(`/sign-in${next}`);
  }
  const { role, totpSecret } = identity.administrator;
  if (!mayAct(role, route.role)) return failureOf(403, "Your role does not allow this.", visitor);
  const mustEnrol = settings.needsSecondFactor && role === "owner" && totpSecret === null;
  if (mustEnrol && !ENROLMENT.includes(route.path)) return redirect(ENROLMENT[0]!);
  return null;
}

async function show(deps: PanelDeps, route: PageRoute, call: Call): Promise<Response> {
  const shown = await route.page(call, deps);
  return shown instanceof Response ? shown : viewOf(deps, call, shown, null);
}

async function run(
  deps: PanelDeps,
  route: ActionRoute,
  call: Call,
  values: URLSearchParams,
): Promise<Response> {
  const submission = new Submission(call, deps, values);
  const { form } = submission;
  // Keeps the target of signing in after a wrong password.
  const kept = values.has("next") ? `next=${encodeURIComponent(values.get("next")!)}` : "";
  const path = filledIn(route.back, call.params);
  const back = new Call(deps, call.visitor, path, kept, call.params);
  try {
    const done = await route.action(submission, deps);
    if (!("to" in done)) return viewOf(deps, call, done, null);
    return redirect(done.to, done.cookie, noteCookie(done.note, deps.settings.isSecure));
  } catch (error) {
    if (error instanceof ConfirmedBefore) {
      const note = "That was sent twice and counted once: look what came of it.";
      return redirect(back.path, noteCookie(note, deps.settings.isSecure));
    }
    if (error instanceof ConfirmationNeeded) {
      return confirmationOf(deps, call, back.path, form, error);
    }
    const again = noteRefusal(submission, error);
    const shown = await pageAt(route.back).page(back, deps);
    if (shown instanceof Response) throw new Error(`${route.back} is no page`, { cause: error });
    const view = { ...shown, status: again.status };
    const response = viewOf(deps, back, view, { action: call.path, form });
    if (again.retryAfter) response.headers.set("retry-after", again.retryAfter);
    return withCookies(response, []);
  }
}

/** Notes the error beside its field. Rethrows errors that the form cannot show. */
function noteRefusal(
  { form }: Submission,
  error: unknown,
): { status: number; retryAfter?: string } {
  if (error instanceof FormError) return { status: 422 };
  if (!(error instanceof Refusal) || error.code === "service_unavailable") throw error;
  const { message, field } = shownRefusal(error, form.values);
  form.note(field, message);
  if (error.code === "owner_required") return { status: 403 };
  if (error.code !== "sign_in_limited") return { status: 422 };
  const { retryAfterSeconds } = (error as Refusal<"sign_in_limited">).details;
  return { status: 429, retryAfter: String(retryAfterSeconds) };
}

function filledIn(path: string, params: Readonly<Record<string, string>>): string {
  return path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
}

function fail(deps: PanelDeps, error: unknown, visitor: Visitor | null): Response {
  if (error instanceof TooLarge) return failureOf(413, "What was sent is too large.", visitor);
  if (error instanceof Unreadable) return failureOf(415, "What was sent is no form.", visitor);
  if (error instanceof Refusal && isAbsence(error)) {
    return failureOf(404, shownRefusal(error, new Set()).message, visitor);
  }
  const isUnavailable = error instanceof Refusal && error.code === "service_unavailable";
  if (isUnavailable || error instanceof TransientError) {
    const message = "Service temporarily unavailable: nothing was changed, try again.";
    return failureOf(503, message, visitor);
  }
  deps.onInternalError(error);
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  deps.log.error({ error: text }, "panel: internal error");
  return failureOf(500, "Internal error: the log has it.", visitor);
}
