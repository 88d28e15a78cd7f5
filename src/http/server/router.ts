// Elysia as a router for IncomingRequests.

import { Elysia } from "elysia";
import type { IncomingRequest } from "../../http1/request.ts";
import type { AnyResponse } from "../../http1/response.ts";

/** The part of Elysia's context that is used here. */
export interface RouteContext {
  request: IncomingRequest;
  params: Record<string, string>;
}

type RouteHandler<Made> = (context: RouteContext) => Made | Promise<Made>;

/** What Elysia gets as the response of every route. */
const ELSEWHERE = new Response();

/** The part of Elysia that is used here, with its types for an IncomingRequest. */
interface ElysiaRouter {
  route(
    method: string,
    path: string,
    handle: (context: RouteContext) => Response,
    options: { parse: "none" },
  ): unknown;
  compile(): ElysiaRouter;
  /** Routes a request. */
  readonly fetch: (request: IncomingRequest) => Response;
}

/** Finds routes by Elysia. What a handler returns goes around it, because it may be a TextResponse. */
export class Router<Made extends AnyResponse> {
  readonly #elysia: ElysiaRouter;
  /** Elysia's own routing, once it is compiled. */
  #find: ElysiaRouter["fetch"] = () => ELSEWHERE;
  #made: Made | Promise<Made> | undefined;

  /** `fail` makes the response when a handler throws. */
  constructor(
    name: string,
    readonly fail: (error: unknown, request: IncomingRequest) => Made,
  ) {
    // Elysia's types require a Request. For routes that parse no body and have no schema, it reads only `method` and
    // `url`, to find the route, and passes on the object itself. All tests in test/http route IncomingRequests.
    this.#elysia = new Elysia({ name, strictPath: true }) as unknown as ElysiaRouter;
  }

  /**
   * Adds a route. The handler is bound because a bound function has no source text. Elysia would infer from that text
   * what the handler needs, and would await a response that may be asynchronous. For a read, that would cost another
   * turn of the microtask queue.
   */
  add(method: string, path: string, handle: RouteHandler<Made>): void {
    const respond = (context: RouteContext): Response => {
      try {
        this.#made = handle(context);
      } catch (error) {
        this.#made = this.fail(error, context.request);
      }
      return ELSEWHERE;
    };
    this.#elysia.route(method, path, respond.bind(null), { parse: "none" });
  }

  /** Adds the handler of every request without a route. */
  addRest(handle: RouteHandler<Made>): void {
    this.add("ALL", "/*", handle);
  }

  compile(): this {
    this.#find = this.#elysia.compile().fetch;
    return this;
  }

  readonly route = (request: IncomingRequest): Made | Promise<Made> => {
    // Never the response of an earlier request, whatever Elysia does.
    this.#made = undefined;
    this.#find(request);
    return this.#made ?? this.fail(new Error("no route was called"), request);
  };
}
