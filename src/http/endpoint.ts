// What every API call goes through, in the order of docs/specification.md#precedence:
// key → permission → the handler (body, then the operation) → one response, one log line, one measurement.
// Handlers return the JSON value of a 200 and throw Refusal; they catch nothing.

import type { Network } from "../config/networks.ts";
import type { CallerKey } from "../db/keys.ts";
import { after, TransientError } from "../db/port.ts";
import { type RateExceeded, Refusal, refusal } from "../domain/refusals.ts";
import { looksLikeTestKey, maskKeys } from "../domain/keys.ts";
import type { StoredResponse } from "../domain/idempotency.ts";
import type { Logger } from "../monitoring/log.ts";
import type { Observer } from "../monitoring/metrics.ts";
import type { RequestLog } from "../monitoring/request-line.ts";
import { type AuthRequest, authenticate, type AuthDeps, type RouteNeeds } from "./auth.ts";
import type { IncomingRequest } from "../http1/request.ts";
import { UNKNOWN_METHOD } from "../http1/parser.ts";
import { closingResponse, type ResponseTemplate } from "../http1/response.ts";
import { announcesTooMuch } from "./body.ts";
import { clientAddress, FORWARDED_HEADER, UNKNOWN_ADDRESS } from "./client-address.ts";
import { REQUEST_ID_PATTERN } from "../domain/limits.ts";
import { type ErrorResponse, errorResponseOf, errorBody, INTERNAL } from "./errors.ts";
import type { RouteContext } from "./router.ts";

/** Dependencies of every endpoint; each handler declares its own besides. */
export interface EndpointDeps extends AuthDeps, InternalErrorDeps {
  log: Logger;
  observer: Observer;
  /** The proxies whose X-Forwarded-For is trusted. */
  trustedProxy: readonly Network[];
  /** Called when the client's address is needed and X-Forwarded-For is there, but no trusted proxy is configured. */
  noteUntrustedProxy(): void;
  /** The share of successful reads that is logged, 0 to 1. */
  logReads: number;
  /** Makes responses with the headers that all of them have; see response-template.ts. */
  template: ResponseTemplate;
}

export interface InternalErrorDeps {
  log: Pick<Logger, "error">;
  /** Called with every error that is not a refusal: a fatal database error ends the server. */
  onInternalError(error: unknown): void;
}

export interface Call {
  request: IncomingRequest;
  params: Record<string, string>;
  key: Readonly<CallerKey>;
  requestId: string;
}

/** A response with its status and body given: what a handler returns in place of the JSON value of a 200. */
export class PreparedResponse {
  constructor(
    readonly response: StoredResponse,
    readonly replayed: boolean,
  ) {}
}

/** The connection is closed in place of a response: what a handler returns for a magic link that asks for it. */
export class LostResponse {}

/** Returns the JSON value of a 200, a PreparedResponse, a LostResponse, or a Response that is no JSON. */
export type Handler = (call: Call) => object | Promise<object>;

/** The members of a request that its response and its log line need. */
type RequestHead = Pick<IncomingRequest, "sentMethod" | "headers" | "address">;

/** Marks the response to a duplicate. */
const REPLAYED = { "idempotent-replayed": "true" };
/** Marks every response to a test key. */
const TEST_MODE = "x-test-mode";
/** What the log and the metrics have of a response that was not sent, as other servers do. */
const CLOSED = 444;
const REQUEST_ID = new RegExp(REQUEST_ID_PATTERN);

/** The Elysia handler of a route that needs a key. `method` and `route` are for the log. */
export function endpoint(
  deps: EndpointDeps,
  method: string,
  route: string,
  needs: RouteNeeds,
  handle: Handler,
) {
  const log = deps.log.requests(method, route);
  return ({ request, params }: RouteContext): Response | Promise<Response> => {
    const context = new RequestContext(deps, request, route, log);
    try {
      const result = after(authenticate(deps, context, needs), (key) =>
        handle({ request, params, key, requestId: context.requestId }),
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

/** The Elysia handler of a route that needs no key. */
export function publicEndpoint(
  deps: EndpointDeps,
  route: string,
  handle: () => Promise<PublicResponse>,
) {
  return async ({ request }: RouteContext): Promise<Response> => {
    const context = new RequestContext(deps, request, route);
    try {
      const { status, body } = await handle();
      return write(context, status, JSON.stringify(body));
    } catch (error) {
      return fail(context, error);
    }
  };
}

/** The Elysia handler of a documentation page, which needs no key. */
export function openPage(deps: EndpointDeps, route: string, page: () => Response) {
  return ({ request }: RouteContext): Response => {
    const context = new RequestContext(deps, request, route);
    return streamResponse(context, page());
  };
}

/** Responds to a request that reaches no handler. */
export function respondWith(
  deps: EndpointDeps,
  request: IncomingRequest,
  route: string | null,
  response: ErrorResponse,
): Response {
  return respond(new RequestContext(deps, request, route), response);
}

/** Responds to bytes that are not a valid request. */
export function respondMalformed(deps: EndpointDeps, response: ErrorResponse): Response {
  return respond(new RequestContext(deps, UNREAD, null), response);
}

/** Responds 500 for an error outside a handler. */
export function respondInternalError(
  deps: EndpointDeps,
  request: IncomingRequest | null,
  error: unknown,
): Response {
  return fail(new RequestContext(deps, request ?? UNREAD, null), error);
}

/** Takes the place of a request that could not be parsed. */
const UNREAD: RequestHead = {
  sentMethod: UNKNOWN_METHOD,
  headers: { get: () => null, has: () => false },
  address: UNKNOWN_ADDRESS,
};

/** One request and what its log line needs. */
class RequestContext implements AuthRequest {
  readonly started = performance.now();
  readonly requestId: string;
  /** The request id with keys masked: a caller may have put one there. */
  readonly loggedId: string;
  keyId: string | null = null;
  isTest = false;

  constructor(
    readonly deps: EndpointDeps,
    readonly request: RequestHead,
    /** The route's pattern, never the requested path; null where no route matches. */
    readonly route: string | null,
    readonly log: RequestLog = deps.log.requests(request.sentMethod, route),
  ) {
    const given = request.headers.get("x-request-id");
    const isGiven = given !== null && REQUEST_ID.test(given);
    this.requestId = isGiven ? given : crypto.randomUUID();
    this.loggedId = isGiven ? maskKeys(given) : this.requestId;
  }

  /** Whether the response is one to a test key; where none was looked up, as the key is written. */
  isInTestMode(): boolean {
    if (this.keyId !== null) return this.isTest;
    const text = this.request.headers.get("x-api-key");
    return text !== null && looksLikeTestKey(text);
  }

  address(): string {
    const { deps, request } = this;
    const forwarded = request.headers.get(FORWARDED_HEADER);
    if (forwarded !== null && deps.trustedProxy.length === 0) deps.noteUntrustedProxy();
    return clientAddress(request.address, forwarded, deps.trustedProxy);
  }

  noteUnknownKey(mistyped: boolean): void {
    this.deps.log.info({ requestId: this.loggedId, mistyped }, "unknown key");
  }
}

function succeed(context: RequestContext, body: object): Response {
  if (body instanceof PreparedResponse) {
    const { response, replayed } = body;
    if (replayed && !context.isTest) context.deps.observer.replay();
    return write(context, response.status, response.body, replayed ? REPLAYED : undefined);
  }
  if (body instanceof Response) return streamResponse(context, body);
  if (body instanceof LostResponse) {
    recordRequest(context, CLOSED);
    return closingResponse();
  }
  return write(context, 200, JSON.stringify(body));
}

function fail(context: RequestContext, thrown: unknown): Response {
  const { deps, loggedId: requestId } = context;
  const error = unavailableFor(context, thrown) ?? thrown;
  const response = error instanceof Refusal ? errorResponseOf(error) : undefined;
  if (error instanceof Refusal && response) {
    if (!context.isInTestMode()) noteRefusal(deps, error);
    return respond(context, response);
  }
  noteInternalError(deps, requestId, error);
  return respond(context, INTERNAL);
}

function noteRefusal({ observer }: EndpointDeps, { code, details }: Refusal): void {
  observer.refusal(code);
  if (code === "too_many_requests") observer.rateLimited((details as RateExceeded).by);
}

/** The refusal for a read that failed and may succeed later. Of a request that may have written something: null. */
function unavailableFor(context: RequestContext, error: unknown): Refusal | null {
  const { deps, request, loggedId: requestId, keyId } = context;
  if (!(error instanceof TransientError)) return null;
  if (request.sentMethod !== "GET" && keyId !== null) return null;
  deps.log.warn({ requestId, error: errorText(error) }, "the database cannot be read");
  return refusal("service_unavailable");
}

/** Logs an error that is not a refusal, even if the response has already begun. */
export function noteInternalError(
  deps: InternalErrorDeps,
  requestId: string,
  error: unknown,
): void {
  deps.log.error({ requestId: maskKeys(requestId), error: errorText(error) }, "internal error");
  deps.onInternalError(error);
}

function errorText(error: unknown): string {
  return maskKeys(error instanceof Error ? (error.stack ?? error.message) : String(error));
}

function respond(context: RequestContext, response: ErrorResponse): Response {
  const { status, headers } = response;
  const body = errorBody(response, context.requestId);
  // A body over the limit stays unread: close the connection instead.
  const unread = announcesTooMuch(context.request);
  return write(context, status, body, unread ? { ...headers, connection: "close" } : headers);
}

function write(
  context: RequestContext,
  status: number,
  body: string,
  headers?: Record<string, string>,
): Response {
  const { deps, requestId } = context;
  recordRequest(context, status);
  const fields: Record<string, string> = { "x-request-id": requestId, ...headers };
  if (context.isInTestMode()) fields[TEST_MODE] = "true";
  return deps.template.make(status, body, fields);
}

/** A Response that the handler made itself: recorded when it begins. */
function streamResponse(context: RequestContext, response: Response): Response {
  const { deps, requestId } = context;
  recordRequest(context, response.status);
  for (const [name, value] of Object.entries(deps.template.fields)) {
    if (!response.headers.has(name)) response.headers.set(name, value);
  }
  response.headers.set("x-request-id", requestId);
  if (context.isInTestMode()) response.headers.set(TEST_MODE, "true");
  return response;
}

function recordRequest(context: RequestContext, status: number): void {
  const { deps, route, loggedId: requestId, started, keyId } = context;
  const { sentMethod: method } = context.request;
  const elapsed = performance.now() - started;
  if (context.isInTestMode()) deps.observer.testRequest(status);
  else deps.observer.request(method, route, status, elapsed / 1000);
  if (!isLogged(deps, method, status)) return;
  const milliseconds = Math.round(elapsed * 1000) / 1000;
  context.log({ requestId, keyId, status, milliseconds });
}

/** Logs everything but successful reads, and of those the share that --log-reads sets. */
function isLogged({ logReads }: EndpointDeps, method: string, status: number): boolean {
  return logReads === 1 || method !== "GET" || status !== 200 || Math.random() < logReads;
}
