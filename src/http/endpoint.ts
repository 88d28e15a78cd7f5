// What every API call goes through, in the contract's order of precedence:
// key → permission → the handler (body, then the operation) → one answer, one log line, one measurement.
// Handlers return the JSON value of a 200 and throw Refusal; they catch nothing.

import type { Network } from "../config/networks.ts";
import type { Connection } from "../db/connection.ts";
import type { CallerKey } from "../db/keys.ts";
import type { Order } from "../db/orders.ts";
import type { View } from "../db/snapshot.ts";
import { Refusal } from "../domain/errors.ts";
import { maskKeys, type Permission } from "../domain/keys.ts";
import type { GivenAnswer } from "../domain/idempotency.ts";
import type { Logger, RequestLog } from "../monitoring/log.ts";
import type { Observer } from "../monitoring/metrics.ts";
import type { Readiness } from "../monitoring/readiness.ts";
import type { Writer } from "../writer/writer.ts";
import { type Applicant, authenticate, type Gate } from "./auth.ts";
import { peerAddress } from "../http1/request.ts";
import type { ResponseTemplate } from "../http1/response.ts";
import { announcesTooMuch } from "./body.ts";
import { callerAddress, FORWARDED_HEADER } from "./client-address.ts";
import { type Answer, answerOf, errorBody, INTERNAL } from "./errors.ts";
import type { Unanswered } from "./idempotency.ts";

export interface Api extends Gate {
  /** Reads only, on the view. */
  connection: Connection;
  view: View;
  writer: Writer;
  log: Logger;
  observer: Observer;
  unanswered: Unanswered;
  /** Told of every error that is no refusal: a database that cannot be read ends the server. */
  onFault: (error: unknown) => void;
  /** Resolves with the order once its provider has answered, or as it is when that takes too long. */
  placed: (order: Order) => Promise<Order>;
  /** Whose word for a caller's address is taken. */
  trustedProxy: readonly Network[];
  /** Told when a caller's address mattered and a proxy that nobody named may have hidden it. */
  noteUntrustedProxy(): void;
  /** Which share of the successful reads is logged, 0 to 1. */
  logReads: number;
  readiness: () => Promise<Readiness>;
  /** Of the headers that every answer has; see headers.ts. */
  template: ResponseTemplate;
}

export interface Call {
  request: Request;
  params: Record<string, string>;
  key: Readonly<CallerKey>;
  requestId: string;
}

/** An answer with its status and body settled: what a handler returns that does not mean a 200. */
export class PreparedAnswer {
  constructor(
    readonly answer: GivenAnswer,
    readonly replayed: boolean,
  ) {}
}

/** Returns the JSON value of a 200, a PreparedAnswer, or a Response that is no JSON. */
export type Handler = (call: Call) => object | Promise<object>;

/** What Elysia hands to a handler, as far as we need it: it makes what a handler names. */
export interface Arrival {
  request: Request;
  params: Record<string, string>;
}

/** Tells a duplicate's answer from the first. */
const REPLAYED = { "idempotent-replayed": "true" };
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The Elysia handler of a route whose key must have `permission`. `method` and `route` are for the log. */
export function endpoint(
  api: Api,
  method: string,
  route: string,
  permission: Permission,
  handle: Handler,
) {
  const log = api.log.requests(method, route);
  return ({ request, params }: Arrival): Response | Promise<Response> => {
    const exchange = new Exchange(api, request, route, log);
    try {
      const result = api.view.read(exchange.started, () => {
        const key = authenticate(api, exchange, permission, Date.now());
        return handle({ request, params, key, requestId: exchange.requestId });
      });
      return result instanceof Promise
        ? result.then(
            (body) => succeed(exchange, body),
            (error) => fail(exchange, error),
          )
        : succeed(exchange, result);
    } catch (error) {
      return fail(exchange, error);
    }
  };
}

/** Status and JSON value of an answer that needs no key. */
export interface OpenAnswer {
  status: number;
  body: object;
}

/** The Elysia handler of a route that anyone may ask. */
export function openEndpoint(api: Api, route: string, handle: (api: Api) => Promise<OpenAnswer>) {
  return async ({ request }: { request: Request }): Promise<Response> => {
    const exchange = new Exchange(api, request, route);
    try {
      const { status, body } = await handle(api);
      return write(exchange, status, JSON.stringify(body));
    } catch (error) {
      return fail(exchange, error);
    }
  };
}

/** The Elysia handler of a page that anyone may read. */
export function openPage(api: Api, route: string, page: () => Response) {
  return ({ request }: { request: Request }): Response => {
    const exchange = new Exchange(api, request, route);
    return announce(exchange, page());
  };
}

/** Answers a request that reaches no handler. */
export function answerWith(
  api: Api,
  request: Request,
  route: string | null,
  answer: Answer,
): Response {
  return respond(new Exchange(api, request, route), answer);
}

/** Answers bytes that are no request. */
export function answerMalformed(api: Api, answer: Answer): Response {
  return respond(new Exchange(api, UNREAD, null), answer);
}

/** Answers a request whose handling broke outside a handler. */
export function answerFault(api: Api, request: Request | null, error: unknown): Response {
  return fail(new Exchange(api, request ?? UNREAD, null), error);
}

/** Stands for what could not be read as a request. */
const UNREAD = new Request("http://localhost/");

/** One request and what its log line needs. */
class Exchange implements Applicant {
  readonly started = performance.now();
  readonly requestId: string;
  /** The request id without a key that a caller may have put there. */
  readonly loggedId: string;
  keyId: string | null = null;

  constructor(
    readonly api: Api,
    readonly request: Request,
    /** The route's pattern, never the path that was asked for; null where there is none. */
    readonly route: string | null,
    readonly log: RequestLog = api.log.requests(request.method, route),
  ) {
    const given = request.headers.get("x-request-id");
    const isGiven = given !== null && REQUEST_ID.test(given);
    this.requestId = isGiven ? given : crypto.randomUUID();
    this.loggedId = isGiven ? maskKeys(given) : this.requestId;
  }

  address(): string {
    const { api, request } = this;
    const forwarded = request.headers.get(FORWARDED_HEADER);
    if (forwarded !== null && api.trustedProxy.length === 0) api.noteUntrustedProxy();
    return callerAddress(peerAddress(request), forwarded, api.trustedProxy);
  }

  noteUnknownKey(mistyped: boolean): void {
    this.api.log.info({ requestId: this.loggedId, mistyped }, "unknown key");
  }
}

function succeed(exchange: Exchange, body: object): Response {
  if (body instanceof PreparedAnswer) {
    const { answer, replayed } = body;
    if (replayed) exchange.api.observer.replay();
    return write(exchange, answer.status, answer.body, replayed ? REPLAYED : undefined);
  }
  if (body instanceof Response) return announce(exchange, body);
  return write(exchange, 200, JSON.stringify(body));
}

function fail(exchange: Exchange, error: unknown): Response {
  const { api, loggedId: requestId } = exchange;
  const answer = error instanceof Refusal ? answerOf(error) : undefined;
  if (error instanceof Refusal && answer) {
    api.observer.refusal(error.code);
    if (error.code === "too_many_requests") api.observer.rateLimited(error.details.by);
    return respond(exchange, answer);
  }
  noteFault(api, requestId, error);
  return respond(exchange, INTERNAL);
}

/** A fault of ours, whether or not it can still be answered. */
export function noteFault(api: Api, requestId: string, error: unknown): void {
  api.log.error({ requestId: maskKeys(requestId), error: faultText(error) }, "fault");
  api.onFault(error);
}

function faultText(error: unknown): string {
  return maskKeys(error instanceof Error ? (error.stack ?? error.message) : String(error));
}

function respond(exchange: Exchange, answer: Answer): Response {
  const { status, headers } = answer;
  const body = errorBody(answer, exchange.requestId);
  // A body that nobody read is not read now: the connection ends instead.
  const unread = announcesTooMuch(exchange.request);
  return write(exchange, status, body, unread ? { ...headers, connection: "close" } : headers);
}

function write(
  exchange: Exchange,
  status: number,
  body: string,
  headers?: Record<string, string>,
): Response {
  const { api, requestId } = exchange;
  noteAnswer(exchange, status);
  return api.template.make(status, body, { "x-request-id": requestId, ...headers });
}

/** An answer that a handler made: noted when it begins. */
function announce(exchange: Exchange, response: Response): Response {
  const { api, requestId } = exchange;
  noteAnswer(exchange, response.status);
  for (const [name, value] of Object.entries(api.template.fields)) {
    if (!response.headers.has(name)) response.headers.set(name, value);
  }
  response.headers.set("x-request-id", requestId);
  return response;
}

function noteAnswer(exchange: Exchange, status: number): void {
  const { api, route, loggedId: requestId, started, keyId } = exchange;
  const { method } = exchange.request;
  const elapsed = performance.now() - started;
  api.observer.request(method, route, status, elapsed / 1000);
  if (!isLogged(api, method, status)) return;
  const milliseconds = Math.round(elapsed * 1000) / 1000;
  exchange.log({ requestId, keyId, status, milliseconds });
}

/** Everything but successful reads, and of those the share that the operator wants. */
function isLogged({ logReads }: Api, method: string, status: number): boolean {
  return logReads === 1 || method !== "GET" || status !== 200 || Math.random() < logReads;
}
