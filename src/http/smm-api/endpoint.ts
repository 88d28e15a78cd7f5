// The steps of every request: its fields → key → action → one response, one log line, one measurement.
// docs/specification/smm-api.md#v2. The log line and the metrics name the action, never a value that was sent.

import { SMM_API_PATH } from "../../api-docs/endpoints/smm-api.ts";
import { after } from "../../db/port/port.ts";
import { Refusal } from "../../domain/values/error-table.ts";
import { authenticate, type RouteNeeds } from "../server/auth.ts";
import { announcesTooMuch } from "../read/body.ts";
import { LostResponse, PreparedResponse } from "../server/endpoint.ts";
import { type ErrorResponse, INTERNAL, methodNotAllowed } from "../server/errors.ts";
import {
  closeUnanswered,
  errorResponseFor,
  RequestContext,
  write,
} from "../server/request-context.ts";
import { queryOf } from "../read/query.ts";
import type { RouteContext } from "../server/router.ts";
import type { IncomingRequest } from "../../http1/request.ts";
import type { TextResponse } from "../../http1/response.ts";
import { type Action, ACTIONS } from "./actions.ts";
import type { ActionDeps } from "./call.ts";
import { smmErrorOf } from "./errors.ts";
import { type Fields, readFields } from "./fields.ts";

const METHOD = "POST";
/** What every action requires of the caller's key. */
const NEEDS: RouteNeeds = { permission: "order" };

/** Returns an action's route for the log and the metrics. */
export function actionRoute({ name }: Action): string {
  return `${SMM_API_PATH} ${name}`;
}

/** Returns the handler of the protocol's only path. */
export function smmApiEndpoint(deps: ActionDeps): (context: RouteContext) => Promise<TextResponse> {
  const log = deps.log.requests(METHOD, SMM_API_PATH);
  const actions = new Map(
    ACTIONS.map((action) => {
      const route = actionRoute(action);
      return [action.name, { action, route, log: deps.log.requests(METHOD, route) }];
    }),
  );
  return async ({ request }) => {
    const context = contextOf(deps, request, log);
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

/** Returns the handler of every other method. */
export function refuseMethod(deps: ActionDeps): (context: RouteContext) => TextResponse {
  return ({ request }) => fail(contextOf(deps, request), methodNotAllowed(METHOD));
}

/** Creates the context of a request. Until its fields are read, its key is the one in the query, if any. */
function contextOf(
  deps: ActionDeps,
  request: IncomingRequest,
  log?: RequestContext["log"],
): RequestContext {
  const context = new RequestContext(deps, request, SMM_API_PATH, log);
  if (request.url.includes("?")) context.keyText = queryOf(request).getAll("key").at(-1) ?? null;
  return context;
}

/**
 * Refuses in the order of docs/specification/smm-api.md#v2-errors: the key, the action, then what the action refuses.
 */
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

function fail(context: RequestContext, response: ErrorResponse): TextResponse {
  const { status, words, headers } = smmErrorOf(response) ?? smmErrorOf(INTERNAL)!;
  context.code = response.code;
  // A body over the limit stays unread: close the connection instead.
  const unread = announcesTooMuch(context.request);
  const sent = unread ? { ...headers, connection: "close" } : headers;
  return write(context, status, JSON.stringify({ error: words }), sent);
}
