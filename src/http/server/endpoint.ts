// The steps of every API call, in the order of docs/specification/http.md#precedence:
// key → permission → the handler (body, then the operation) → one response, one log line, one measurement.
// Handlers return the JSON value of a 200 and throw Refusal; they catch nothing.

import type { Caller } from "../../db/users/keys.ts";
import { after } from "../../db/port/port.ts";
import type { StoredResponse } from "../../domain/values/idempotency.ts";
import { UNKNOWN_METHOD } from "../../http1/parser.ts";
import type { IncomingRequest } from "../../http1/request.ts";
import type { AnyResponse, TextResponse } from "../../http1/response.ts";
import { authenticate, type RouteNeeds } from "./auth.ts";
import { announcesTooMuch } from "../read/body.ts";
import { UNKNOWN_ADDRESS } from "./client-address.ts";
import { type ErrorResponse, errorBody, NOT_FOUND } from "./errors.ts";
import {
  closeUnanswered,
  type EndpointDeps,
  errorResponseFor,
  recordRequest,
  RequestContext,
  type RequestHead,
  TEST_MODE,
  write,
} from "./request-context.ts";
import type { RouteContext } from "./router.ts";

export interface Call {
  request: IncomingRequest;
  params: Record<string, string>;
  key: Readonly<Caller>;
  requestId: string;
}

/** A response with a given status and body. Handlers may return it instead of the JSON value of a 200. */
export class PreparedResponse {
  constructor(
    readonly response: StoredResponse,
    readonly replayed: boolean,
  ) {}
}

/** Returned by a handler to close the connection instead of responding, when a magic link asks for that. */
export class LostResponse {}

/** Returns the JSON value of a 200, a PreparedResponse, a LostResponse, or a Response that is not JSON. */
export type Handler = (call: Call) => object | Promise<object>;

/** Marks the response to a duplicate. */
const REPLAYED = { "idempotent-replayed": "true" };

/** Returns the Elysia handler of a route that needs a key. `method` and `route` are for the log. */
export function endpoint(
  deps: EndpointDeps,
  method: string,
  route: string,
  needs: RouteNeeds,
  handle: Handler,
) {
  const log = deps.log.requests(method, route);
  return ({ request, params }: RouteContext): AnyResponse | Promise<AnyResponse> => {
    const context = new RequestContext(deps, request, route, log);
    try {
      const result = after(
        authenticate(deps, context, needs, request.headers.get("x-api-key")),
        (key) => handle({ request, params, key, requestId: context.requestId }),
      );
      return result instanceof Promise
        ? result.then(
            (body) => succeed(context, body),
            (error) => fail(context, error),
          )
        : succeed(context, result);
    } catch (error) {
      return fail(context, error);
    }
  };
}

/** Status and JSON value of a response that needs no key. */
export interface PublicResponse {
  status: number;
  body: object;
}

/** Returns the Elysia handler of a route that needs no key. */
export function publicEndpoint(
  deps: EndpointDeps,
  route: string,
  handle: () => Promise<PublicResponse>,
) {
  return async ({ request }: RouteContext): Promise<TextResponse> => {
    const context = new RequestContext(deps, request, route);
    try {
      const { status, body } = await handle();
      return write(context, status, JSON.stringify(body));
    } catch (error) {
      return fail(context, error);
    }
  };
}

/** Returns a documentation page; null if there is no such page. */
export type PageHandler = (context: RouteContext) => Promise<Response | null>;

/** Returns the Elysia handler of documentation pages, which need no key. */
export function openPage(deps: EndpointDeps, route: string, page: PageHandler) {
  return async (call: RouteContext): Promise<AnyResponse> => {
    const context = new RequestContext(deps, call.request, route);
    const response = await page(call);
    return response === null ? respond(context, NOT_FOUND) : streamResponse(context, response);
  };
}

/** Responds to a request that reaches no handler. */
export function respondWith(
  deps: EndpointDeps,
  request: IncomingRequest,
  route: string | null,
  response: ErrorResponse,
): TextResponse {
  return respond(new RequestContext(deps, request, route), response);
}

/** Responds to bytes that are not a valid request. */
export function respondMalformed(deps: EndpointDeps, response: ErrorResponse): TextResponse {
  return respond(new RequestContext(deps, UNREAD, null), response);
}

/** Responds 500 for an error outside a handler. */
export function respondInternalError(
  deps: EndpointDeps,
  request: IncomingRequest | null,
  error: unknown,
): TextResponse {
  return fail(new RequestContext(deps, request ?? UNREAD, null), error);
}

/** Takes the place of a request that could not be parsed. */
const UNREAD: RequestHead = {
  sentMethod: UNKNOWN_METHOD,
  headers: { get: () => null, has: () => false },
  address: UNKNOWN_ADDRESS,
};

function succeed(context: RequestContext, body: object): AnyResponse {
  if (body instanceof PreparedResponse) {
    const { response, replayed } = body;
    if (replayed && !context.isTest) context.deps.observer.replay();
    return write(context, response.status, response.body, replayed ? REPLAYED : undefined);
  }
  if (body instanceof Response) return streamResponse(context, body);
  if (body instanceof LostResponse) return closeUnanswered(context);
  return write(context, 200, JSON.stringify(body));
}

function fail(context: RequestContext, thrown: unknown): TextResponse {
  return respond(context, errorResponseFor(context, thrown));
}

function respond(context: RequestContext, response: ErrorResponse): TextResponse {
  const { status, headers } = response;
  context.code = response.code;
  const body = errorBody(response, context.requestId);
  // A body over the limit stays unread: close the connection instead.
  const unread = announcesTooMuch(context.request);
  return write(context, status, body, unread ? { ...headers, connection: "close" } : headers);
}

/** Sends a Response that the handler made itself. It is recorded when it begins. */
function streamResponse(context: RequestContext, response: Response): Response {
  const { deps, requestId } = context;
  recordRequest(context, response.status);
  for (const [name, value] of Object.entries(deps.template.fields)) {
    if (!response.headers.has(name)) response.headers.set(name, value);
  }
  response.headers.set("x-request-id", requestId);
  const policy = context.allowance?.policy ?? null;
  const rate = context.allowance?.rate() ?? null;
  if (policy !== null) response.headers.set("ratelimit-policy", policy);
  if (rate !== null) response.headers.set("ratelimit", rate);
  if (context.isInTestMode()) response.headers.set(TEST_MODE, "true");
  return response;
}
