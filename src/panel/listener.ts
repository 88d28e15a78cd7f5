// The panel's listener: every request of the route table, from its connection to its page.

import { Elysia, NotFoundError } from "elysia";
import { TransientError } from "../db/port.ts";
import { mayAct } from "../domain/administrators.ts";
import { Refusal } from "../domain/refusals.ts";
import { addRoute, type RouteContext, type Router, routerOf } from "../http/router.ts";
import { type Address, type Certificate, listen, type Server } from "../http1/listen.ts";
import type { IncomingRequest } from "../http1/request.ts";
import { ASSETS } from "./assets.ts";
import { type Administrator, Call, type Panel, Submission } from "./call.ts";
import { ConfirmationNeeded } from "./confirmation.tsx";
import { FormError } from "./form.ts";
import { isAbsence, shownRefusal } from "./refusals.ts";
import { confirmationOf, failureOf, viewOf } from "./render.tsx";
import { assetResponse, plainResponse, redirect, secured } from "./response.ts";
import { type ActionRoute, type PageRoute, ROUTES } from "./routes.ts";

/** Of a form: an imported list of services is the longest. */
const BODY_LIMIT_BYTES = 4 * 1024 * 1024;

/** The parts that the listener itself needs besides. */
export interface PanelDeps extends Panel {
  /** Who sent the request; null for no valid session. */
  authenticate(request: IncomingRequest): Promise<Administrator | null>;
  onInternalError(error: unknown): void;
}

/** Throws when the address cannot be listened on. */
export function startPanel(deps: PanelDeps, address: Address, tls: Certificate | null): Server {
  const refuse = (status: number) => plainResponse(status);
  const handle = createRouter(deps).fetch;
  return listen(
    { handle, refuse, fail: (error) => fail(deps, null, error), bodyLimitBytes: BODY_LIMIT_BYTES },
    address,
    tls,
  );
}

function createRouter(deps: PanelDeps): Router {
  const router = routerOf(new Elysia({ name: "panel", strictPath: true }));
  for (const asset of ASSETS) addRoute(router, "GET", asset.path, () => assetResponse(asset));
  for (const route of ROUTES) {
    const respond = (context: RouteContext) => answer(deps, route, context);
    addRoute(router, route.method, route.path, respond);
  }
  router.onError(({ error, request }) =>
    error instanceof NotFoundError
      ? failureOf(404, "There is no such page.", null)
      : fail(deps, request, error),
  );
  return router.compile();
}

async function answer(
  deps: PanelDeps,
  route: PageRoute | ActionRoute,
  { request, params }: RouteContext,
): Promise<Response> {
  try {
    const administrator = await deps.authenticate(request);
    if (!administrator) return redirect("/sign-in");
    if (!mayAct(administrator.role, route.role)) {
      return failureOf(403, "Your role does not allow this.", administrator);
    }
    const [path, query = ""] = request.path.split("?");
    const call = new Call(deps, path!, query, params, administrator);
    return await (route.method === "GET"
      ? show(deps, route, call)
      : run(deps, route, call, await formOf(request)));
  } catch (error) {
    return fail(deps, request, error);
  }
}

async function show(deps: PanelDeps, route: PageRoute, call: Call): Promise<Response> {
  const shown = await route.page(call, deps);
  return shown instanceof Response ? secured(shown) : viewOf(call, shown, null);
}

async function run(
  deps: PanelDeps,
  route: ActionRoute,
  call: Call,
  values: URLSearchParams,
): Promise<Response> {
  const submission = new Submission(call, deps, values);
  const { form } = submission;
  const back = new Call(
    deps,
    filledIn(route.back, call.params),
    "",
    call.params,
    call.administrator,
  );
  try {
    const done = await route.action(submission, deps);
    return "to" in done ? redirect(done.to, done.note) : viewOf(call, done, null);
  } catch (error) {
    if (error instanceof ConfirmationNeeded) {
      return confirmationOf(call, back.path, form, error.confirmation);
    }
    if (error instanceof Refusal && error.code !== "service_unavailable") {
      const { message, field } = shownRefusal(error, values);
      form.note(field, message);
    } else if (!(error instanceof FormError)) throw error;
    const shown = await pageAt(route.back).page(back, deps);
    if (shown instanceof Response) throw new Error(`${route.back} is no page`, { cause: error });
    return viewOf(back, { ...shown, status: 422 }, { action: call.path, form });
  }
}

/** The page with the form of an action. */
export function pageAt(path: string): PageRoute {
  const found = ROUTES.find((route) => route.path === path && route.method === "GET");
  if (found?.method !== "GET") throw new Error(`no page has the path ${path}`);
  return found;
}

function filledIn(path: string, params: Readonly<Record<string, string>>): string {
  return path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
}

/** The fields of a form; of a file its text. */
async function formOf(request: IncomingRequest): Promise<URLSearchParams> {
  const bytes = await request.body();
  const values = new URLSearchParams();
  if (bytes === null) throw new TooLarge();
  const type = request.headers.get("content-type") ?? "";
  if (bytes.length === 0) return values;
  const sent = new Response(bytes as BodyInit, { headers: { "content-type": type } });
  const data = await sent.formData().catch(() => {
    throw new Unreadable();
  });
  for (const [name, value] of data) {
    values.append(name, typeof value === "string" ? value : await (value as Blob).text());
  }
  return values;
}

class TooLarge extends Error {}
class Unreadable extends Error {}

function fail(deps: PanelDeps, request: IncomingRequest | null, error: unknown): Response {
  if (error instanceof TooLarge) return failureOf(413, "What was sent is too large.", null);
  if (error instanceof Unreadable) return failureOf(415, "What was sent is no form.", null);
  if (error instanceof Refusal && isAbsence(error)) {
    return failureOf(404, shownRefusal(error, new Set()).message, null);
  }
  if (
    error instanceof TransientError ||
    (error instanceof Refusal && error.code === "service_unavailable")
  ) {
    return failureOf(503, "Service temporarily unavailable: nothing was changed, try again.", null);
  }
  deps.onInternalError(error);
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  deps.log.error({ panel: request?.method, error: text }, "internal error");
  return failureOf(500, "Internal error: the log has it.", null);
}
