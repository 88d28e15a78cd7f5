// A request as handlers get it. It is not a Request: creating one takes as much CPU time as the rest of parsing a
// message, and a Request can carry neither the peer's address nor a method that Bun does not know.

import { type Message, UNKNOWN_METHOD } from "./parser.ts";

/** Origin of every URL: no route depends on the Host field, and no value of it may change a response. */
const ORIGIN = "http://localhost";
const ABSOLUTE = /^https?:\/\/[^/?#]*/i;

/** The part of Headers that is used; names in lower case. */
export interface RequestHeaders {
  get(name: string): string | null;
  has(name: string): boolean;
}

export class IncomingRequest {
  readonly #message: Message;
  readonly url: string;

  constructor(
    message: Message,
    /** The peer's address. */
    readonly address: string,
    /** The path with the query. */
    readonly path: string = pathOfTarget(message.target),
  ) {
    this.#message = message;
    this.url = ORIGIN + path;
  }

  /**
   * The method to route by. HEAD is replaced: Elysia would answer it with the GET route if the path has a parameter.
   */
  get method(): string {
    const { method } = this.#message;
    return method === "HEAD" ? UNKNOWN_METHOD : method;
  }

  /** The method as it was sent. */
  get sentMethod(): string {
    return this.#message.method;
  }

  get headers(): RequestHeaders {
    return this.#message;
  }

  /**
   * Returns the whole body; null as soon as it exceeds the limit. Rejects when the connection ends before the body
   * does.
   */
  body(): Promise<Uint8Array | null> {
    return this.#message.body();
  }

  /** Returns the body while it arrives, see Message.stream. Only for the path of `Handler.streamed`. */
  stream(): AsyncGenerator<Uint8Array> {
    return this.#message.stream();
  }

  /** Whether the body exceeds its limit. */
  get isTooLong(): boolean {
    return this.#message.isTooLong;
  }

  /** Returns the same request with another path. */
  withPath(path: string): IncomingRequest {
    return new IncomingRequest(this.#message, this.address, path);
  }

  /** Returns the same request as if it came from another address. */
  withAddress(address: string): IncomingRequest {
    return new IncomingRequest(this.#message, address, this.path);
  }
}

/**
 * Returns the path of an origin-form or absolute-form target. `*` and CONNECT's authority become a path that has no
 * route.
 */
function pathOfTarget(target: string): string {
  const path = target.startsWith("/") ? target : target.replace(ABSOLUTE, "");
  return path.startsWith("/") ? path : `/${path}`;
}
