// What every API call goes through, in the contract's order of precedence:
// key → permission → the handler (body, then the operation) → one answer, one log line.
// Handlers return the JSON value of a 200 and throw Refusal; they catch nothing.

import { type Connection, readTogether } from "../db/connection.ts";
import { type CallerKey, findKeyByHash } from "../db/keys.ts";
import type { Order } from "../db/orders.ts";
import { Refusal, refusal } from "../domain/errors.ts";
import { hashKey, isKeyWellFormed, mayKey, type Permission } from "../domain/keys.ts";
import type { GivenAnswer } from "../domain/idempotency.ts";
import type { Logger } from "../log.ts";
import type { Writer } from "../writer/writer.ts";
import { announcesTooMuch } from "./body.ts";
import { type Answer, answerOf, errorBody, INTERNAL } from "./errors.ts";
import type { Unanswered } from "./idempotency.ts";

export interface Api {
  /** Reads only. */
  connection: Connection;
  writer: Writer;
  log: Logger;
  unanswered: Unanswered;
  /** Told of every error that is no refusal: a database that cannot be read ends the server. */
  onFault: (error: unknown) => void;
  /** Resolves with the order once its provider has answered, or as it is when that takes too long. */
  placed: (order: Order) => Promise<Order>;
}

export interface Call {
  request: Request;
  params: Record<string, string>;
  key: CallerKey;
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

/** Tells a duplicate's answer from the first. */
const REPLAYED = { "idempotent-replayed": "true" };
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The Elysia handler of a route whose key must have `permission`. `route` is for the log. */
export function endpoint(api: Api, route: string, permission: Permission, handle: Handler) {
  return ({
    request,
    params,
  }: {
    request: Request;
    params: Record<string, string>;
  }): Response | Promise<Response> => {
    const exchange = beginExchange(api, request, route);
    try {
      const result = readTogether(api.connection, () => {
        const key = authenticate(api, request, permission, exchange);
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

/** Answers a request that reaches no handler. */
export function answerWith(
  api: Api,
  request: Request,
  route: string | null,
  answer: Answer,
): Response {
  return respond(beginExchange(api, request, route), answer);
}

/** Answers a request whose handling broke outside a handler. */
export function answerFault(api: Api, request: Request, error: unknown): Response {
  return fail(beginExchange(api, request, null), error);
}

/** One request and what its log line needs. */
interface Exchange {
  log: Logger;
  onFault: (error: unknown) => void;
  request: Request;
  /** The route's pattern, never the path that was asked for; null where there is none. */
  route: string | null;
  requestId: string;
  started: number;
  keyId: string | null;
}

function beginExchange({ log, onFault }: Api, request: Request, route: string | null): Exchange {
  const given = request.headers.get("x-request-id");
  const requestId = given !== null && REQUEST_ID.test(given) ? given : crypto.randomUUID();
  return { log, onFault, request, route, requestId, started: performance.now(), keyId: null };
}

function authenticate(
  api: Api,
  request: Request,
  permission: Permission,
  exchange: Exchange,
): CallerKey {
  const text = request.headers.get("x-api-key");
  if (!text) throw refusal("key_missing");
  const key = findKeyByHash(api.connection, hashKey(text));
  if (!key) {
    const requestId = exchange.requestId;
    api.log.info({ requestId, mistyped: !isKeyWellFormed(text) }, "unknown key");
    throw refusal("key_unknown");
  }
  exchange.keyId = key.id;
  if (!key.active) throw refusal("key_inactive");
  if (!mayKey(key.type, permission)) throw new Refusal("permission_missing", { permission });
  return key;
}

function succeed(exchange: Exchange, body: object): Response {
  if (body instanceof PreparedAnswer) {
    const { answer, replayed } = body;
    return write(exchange, answer.status, answer.body, replayed ? REPLAYED : undefined);
  }
  if (body instanceof Response) return announce(exchange, body);
  return write(exchange, 200, JSON.stringify(body));
}

function fail(exchange: Exchange, error: unknown): Response {
  const answer = error instanceof Refusal ? answerOf(error) : undefined;
  if (answer) return respond(exchange, answer);
  const { log, onFault, requestId } = exchange;
  log.error({ requestId, error: error instanceof Error ? error.stack : String(error) }, "fault");
  onFault(error);
  return respond(exchange, INTERNAL);
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
  const { requestId } = exchange;
  logAnswer(exchange, status);
  return new Response(body, {
    status,
    headers: { "content-type": "application/json", "x-request-id": requestId, ...headers },
  });
}

/** An answer that streams: logged when it begins. */
function announce(exchange: Exchange, response: Response): Response {
  logAnswer(exchange, response.status);
  response.headers.set("x-request-id", exchange.requestId);
  return response;
}

function logAnswer(exchange: Exchange, status: number): void {
  const { log, request, route, requestId, started, keyId } = exchange;
  const milliseconds = Math.round((performance.now() - started) * 1000) / 1000;
  const { method } = request;
  log.info({ requestId, keyId, method, route, status, milliseconds }, "request");
}
