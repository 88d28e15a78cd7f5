// What every request of a panel goes through: its fields → key → action → one response, one log line, one measurement.
// docs/specification.md#v2. The log line and the metrics name the action, never a value that was sent.

import { after } from "../db/port.ts";
import { Refusal } from "../domain/refusals.ts";
import { authenticate, type RouteNeeds } from "../http/auth.ts";
import { announcesTooMuch } from "../http/body.ts";
import { LostResponse, PreparedResponse } from "../http/endpoint.ts";
import { type ErrorResponse, INTERNAL, methodNotAllowed } from "../http/errors.ts";
import {
  closeUnanswered,
  errorResponseFor,
  RequestContext,
  write,
} from "../http/request-context.ts";
import type { RouteContext } from "../http/router.ts";
import { type Action, type ActionDeps, ACTIONS } from "./actions.ts";
import { panelErrorOf } from "./errors.ts";
import { type Fields, readFields } from "./fields.ts";

const METHOD = "POST";
/** What the log and the metrics call it before the action is known. */
const ROUTE = "/api/v2";
const NEEDS: RouteNeeds = { permission: "order" };

/** Of each action, for the log and the metrics. */
export function actionRoute({ name }: Action): string {
  return `${ROUTE} ${name}`;
}

/** The handler of the one path. */
export function panelEndpoint(deps: ActionDeps): (context: RouteContext) => Promise<Response> {
  const log = deps.log.requests(METHOD, ROUTE);
  const actions = new Map(
    ACTIONS.map((action) => {
      const route = actionRoute(action);
      return [action.name, { action, route, log: deps.log.requests(METHOD, route) }];
    }),
  );
  return async ({ request }) => {
    const context = new RequestContext(deps, request, ROUTE, log);
    try {
      const fields = await readFields(request);
      const known = actions.get(fields.text("action") ?? "");
      if (known) ({ route: context.route, log: context.log } = known);
      const body = await respond(deps, context, fields, known?.action);
      if (body instanceof LostResponse) return closeUnanswered(context);
      return write(context, 200, textOf(body));
    } catch (error) {
      return fail(context, errorResponseFor(context, error));
    }
  };
}

/** The response to any other method. */
export function refuseMethod(deps: ActionDeps): (context: RouteContext) => Response {
  return ({ request }) => fail(new RequestContext(deps, request, ROUTE), methodNotAllowed(METHOD));
}

/** Refuses in the order of docs/specification.md#v2-errors: the key, the action, then what the action refuses. */
async function respond(
  deps: ActionDeps,
  context: RequestContext,
  fields: Fields,
  action: Action | undefined,
): Promise<object> {
  context.isRead = action?.isRead ?? true;
  return after(authenticate(deps, context, NEEDS, fields.text("key")), (key) => {
    if (!action) throw new Refusal("field_invalid", { field: "action", must: "known" });
    return action.act(deps, { fields, key, requestId: context.requestId });
  });
}

function textOf(body: object): string {
  return body instanceof PreparedResponse ? body.response.body : JSON.stringify(body);
}

function fail(context: RequestContext, response: ErrorResponse): Response {
  const { status, words, headers } = panelErrorOf(response) ?? panelErrorOf(INTERNAL)!;
  context.code = response.code;
  // A body over the limit stays unread: close the connection instead.
  const unread = announcesTooMuch(context.request);
  const sent = unread ? { ...headers, connection: "close" } : headers;
  return write(context, status, JSON.stringify({ error: words }), sent);
}
