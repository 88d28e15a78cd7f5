// The panel's listener: every request of the route table, from its connection to its page.

import { Elysia, NotFoundError } from "elysia";
import { TransientError } from "../db/port.ts";
import { mayAct } from "../domain/administrators.ts";
import { Refusal } from "../domain/refusals.ts";
import { addRoute, type RouteContext, type Router, routerOf } from "../http/router.ts";
import { type Address, type Certificate, listen, type Server } from "../http1/listen.ts";
import { UNKNOWN_METHOD } from "../http1/parser.ts";
import type { IncomingRequest } from "../http1/request.ts";
import { ASSETS } from "./assets.ts";
import { Call, Submission } from "./call.ts";
import { ConfirmationNeeded, ConfirmedBefore } from "./confirmation.tsx";
import { FormError } from "./form.ts";
import { formOf, TooLarge, Unreadable } from "./form-body.ts";
import { noteCookie } from "./notes.ts";
import { isOwn } from "./origin.ts";
import { isAbsence, shownRefusal } from "./refusals.ts";
import { confirmationOf, failureOf, viewOf } from "./render.tsx";
import { assetResponse, redirect, secured, withCookies } from "./response.ts";
import { type ActionRoute, pageAt, type PageRoute, ROUTES } from "./routes.ts";
import { ENROLMENT } from "./second-factor.tsx";
import { Visitor, type VisitorDeps } from "./visitor.ts";

/** Of a form: an imported list of services is the longest. */
const BODY_LIMIT_BYTES = 4 * 1024 * 1024;

/** The parts that the listener itself needs besides. */
export interface PanelDeps extends VisitorDeps {
  onInternalError(error: unknown): void;
}

/** Throws when the address cannot be listened on. */
export function startPanel(deps: PanelDeps, address: Address, tls: Certificate | null): Server {
  const finish = (response: Response) => secured(response, deps.settings.isSecure);
  const { fetch: route } = createRouter(deps);
  return listen(
    {
      handle: async (request) => finish(await route(request)),
      refuse: (status) => finish(new Response(null, { status })),
      fail: (error) => finish(fail(deps, error, null)),
      bodyLimitBytes: BODY_LIMIT_BYTES,
    },
    address,
    tls,
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
    // Where a browser stands after a refused form: whoever asks for that address again gets the page with the form.
    const isPage = ROUTES.some(({ method, path }) => method === "GET" && path === route.path);
    if (!isPage) addGet(router, route.path, ({ params }) => redirect(filledIn(route.back, params)));
  }
  router.onError(({ error }) =>
    error instanceof NotFoundError ? noSuchPage() : fail(deps, error, null),
  );
  return router.compile();
}

/** HEAD, too, which load balancers and link checkers send: the connection leaves the body out. */
function addGet(router: Router, path: string, handle: Parameters<typeof addRoute>[3]): void {
  addRoute(router, "GET", path, handle);
  // What HEAD is routed as, and every method that is none.
  addRoute(router, UNKNOWN_METHOD, path, (context) =>
    context.request.sentMethod === "HEAD" ? handle(context) : noSuchPage(),
  );
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
    if (route.method === "POST" && !isOwn(request, deps.settings.url)) {
      return failureOf(403, "This was sent by a page of another site: nothing was changed.", null);
    }
    const [path, query = ""] = request.path.split("?");
    const call = new Call(deps, visitor, path!, query, params);
    const refused = await admit(deps, route, call);
    if (refused) return refused;
    if (route.method === "GET") return await show(deps, route, call);
    return await run(deps, route, call, await formOf(request as IncomingRequest));
  } catch (error) {
    return fail(deps, error, visitor);
  }
}

/** The response to who may not; null to who may. */
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
  // Where signing in leads survives a wrong password.
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

/** Notes the error beside its field; throws what the form cannot show. */
function noteRefusal(
  { form }: Submission,
  error: unknown,
): { status: number; retryAfter?: string } {
  if (error instanceof FormError) return { status: 422 };
  if (!(error instanceof Refusal) || error.code === "service_unavailable") throw error;
  const { message, field } = shownRefusal(error, form.values);
  form.note(field, message);
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
