// One connection: its requests one after the other, each answered before the next is looked at.
// What arrives behind a request while its response is awaited stays unread, whatever it is: nothing that follows a
// request may change or replace its response. docs/specification.md#http-connections.

import { Outgoing } from "./outgoing.ts";
import { type Malformed, type Message, RequestParser } from "./parser.ts";
import { requestOf } from "./request.ts";
import { chunkOf, type Framing, headOf, LAST_CHUNK, saysLast, textOf } from "./response.ts";

export type { Malformed };

/** Bytes that are parsed at a time: bounds the requests that wait behind the one being answered. */
const SLICE_BYTES = 16 * 1024;
const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";

/** Seconds. A head and a body have theirs in all, however slowly they trickle; the rest count from the last movement. */
const IDLE_SECONDS = 30;
const HEAD_SECONDS = 10;
const BODY_SECONDS = 30;
const SENDING_SECONDS = 30;
/** For the peer to read the last response and close: closing first would take the response from it, unread. */
const LINGER_SECONDS = 5;

/** What answers requests. */
export interface Handler {
  handle(request: Request): Response | Promise<Response>;
  /** The response to bytes that are no request. */
  refuse(status: Malformed): Response;
  /** The response when `handle` throws. */
  fail(error: unknown): Response;
  /** Of a body; a longer one is not read. */
  bodyLimitBytes: number;
}

/** What a connection knows of the server it belongs to. */
export interface Host {
  readonly handler: Handler;
  /** No further request is taken after the next: the server stops, or its certificate was replaced. */
  isRetiring: boolean;
  /** Seconds since some moment. */
  now(): number;
}

type Phase = "idle" | "head" | "body" | "handling" | "sending" | "lingering";

const SECONDS: Record<Phase, number> = {
  idle: IDLE_SECONDS,
  head: HEAD_SECONDS,
  body: BODY_SECONDS,
  handling: Infinity,
  sending: SENDING_SECONDS,
  lingering: LINGER_SECONDS,
};

export class Connection {
  readonly #parser: RequestParser;
  readonly #address: string;
  /** Received and not parsed. */
  #held: Uint8Array | null = null;
  #isPaused = false;
  /** The response to the first message is awaited, or its body is being sent. */
  #isHandling = false;
  readonly #out: Outgoing;
  /** No request is taken any more. */
  #isOver = false;
  #hasPeerEnded = false;
  #isClosed = false;
  #phase: Phase = "idle";
  /** Whose time runs. */
  #timed: Message | undefined;
  #deadline: number;

  constructor(
    readonly socket: Bun.Socket<Connection>,
    readonly host: Host,
  ) {
    this.#parser = new RequestParser(host.handler.bodyLimitBytes);
    this.#out = new Outgoing(socket);
    this.#address = socket.remoteAddress;
    this.#deadline = host.now() + IDLE_SECONDS;
  }

  receive(bytes: Uint8Array): void {
    if (this.#isOver) return;
    this.#held = this.#held ? Buffer.concat([this.#held, bytes]) : bytes;
    this.#advance();
  }

  /** The socket takes bytes again. */
  drain(): void {
    if (!this.#out.isBlocked) return;
    this.#out.drain();
    this.#deadline = this.host.now() + SENDING_SECONDS;
    if (!this.#out.isBlocked) this.#advance();
  }

  /** The peer sends nothing more; it may still read. */
  end(): void {
    this.#hasPeerEnded = true;
    if (this.#parser.isInside) this.#isOver = true;
    for (const message of this.#parser.messages) if (!message.isComplete) message.breakOff();
    this.#advance();
  }

  closed(): void {
    this.#isClosed = true;
    this.#isOver = true;
    for (const message of this.#parser.messages) if (!message.isComplete) message.breakOff();
    this.#out.close();
  }

  /** Called every second. */
  expire(): void {
    if (this.host.now() < this.#deadline) return;
    if (this.#phase === "idle" || this.#phase === "lingering") this.#end();
    else this.socket.terminate();
  }

  /** Ends the connection if it waits for a request; any other ends by itself with its next response. */
  retire(): void {
    if (this.#phase === "idle") this.#end();
  }

  /** A request that arrives before the socket is closed, as it may with TLS, could not be answered: it is not taken. */
  #end(): void {
    this.#isOver = true;
    this.socket.end();
  }

  /** Goes on until it has to wait: for bytes, for a response, or for the peer to take one. */
  #advance(): void {
    while (!this.#isOver && !this.#out.isBlocked && this.#step());
    this.#out.flush();
    if (this.#isClosed || this.#phase === "lingering") return;
    const message = this.#parser.messages[0];
    if (this.#out.isBlocked) this.#enter("sending", message);
    else if (this.#isHandling) this.#enter(message!.isComplete ? "handling" : "body", message);
    else if (this.#isOver) return this.#shutDown();
    else if (message) this.#enter("body", message);
    else if (this.#parser.isInside) this.#enter("head", message);
    else this.#enter("idle", message);
    // A response that had begun when the server was stopped did not say that it is the last.
    if (this.#phase === "idle" && (this.#hasPeerEnded || this.host.isRetiring)) {
      return this.#end();
    }
    this.#pause(this.#held !== null);
  }

  /** False when there is nothing to do. */
  #step(): boolean {
    const { messages, malformed } = this.#parser;
    const message = messages[0];
    if (!message) {
      if (malformed === null) return this.#parse();
      this.#isOver = true;
      this.#respond(null, this.host.handler.refuse(malformed));
    } else if (malformed !== null && !message.isComplete) {
      message.breakOff();
      if (this.#isHandling) return false;
      if (message.isAnswered) this.#isOver = true;
      else this.#answer(message);
    } else if (this.#isHandling) {
      return !message.isComplete && this.#parse();
    } else if (!message.isAnswered) {
      this.#answer(message);
    } else if (message.isComplete) {
      messages.shift();
    } else if (message.isTooLong) {
      this.#isOver = true;
    } else return this.#parse();
    return true;
  }

  #parse(): boolean {
    const held = this.#held;
    if (!held) return false;
    this.#held = held.byteLength > SLICE_BYTES ? held.subarray(SLICE_BYTES) : null;
    this.#parser.read(this.#held ? held.subarray(0, SLICE_BYTES) : held);
    return true;
  }

  #answer(message: Message): void {
    const { handler } = this.host;
    const request = requestOf(message, this.#address);
    if (!request) {
      this.#isOver = true;
      return this.#respond(message, handler.refuse(400));
    }
    if (!message.isComplete && expectsContinue(message, request))
      message.onAwaited = () => this.#continue();
    let response: Response | Promise<Response>;
    try {
      response = handler.handle(request);
    } catch (error) {
      response = handler.fail(error);
    }
    if (!(response instanceof Promise)) return this.#respond(message, response);
    this.#isHandling = true;
    const settle = (settled: Response) => {
      this.#isHandling = false;
      this.#respond(message, settled);
      this.#advance();
    };
    response.then(settle, (error: unknown) => settle(handler.fail(error)));
  }

  #continue(): void {
    this.#out.add(CONTINUE, CONTINUE.length);
    this.#out.flush();
  }

  /** `message` is null for bytes that are no request. */
  #respond(message: Message | null, response: Response): void {
    if (this.#isClosed) {
      // Nobody reads a body that is still to be made.
      if (textOf(response) === undefined) void response.body?.cancel();
      return;
    }
    if (message) message.isAnswered = true;
    if (this.#endsWith(message, response)) this.#isOver = true;
    const text = textOf(response);
    const isBodiless = message?.method === "HEAD";
    if (text === undefined && !isBodiless) return void this.#stream(message!, response);
    const bytes = text === undefined ? 0 : Buffer.byteLength(text);
    const head = headOf(response, bytes, this.#isOver);
    if (isBodiless) this.#out.add(head, head.length);
    else this.#out.add(head + text, head.length + bytes);
  }

  #endsWith(message: Message | null, response: Response): boolean {
    if (message === null || message.isLast || this.host.isRetiring) return true;
    if (saysLast(response)) return true;
    // Whoever still waits to be told to send its body may send it or not.
    if (message.onAwaited && !message.isComplete && !message.isAwaited) return true;
    // What follows and is no request gets no response of its own: it could be taken for this one's, or the next one's.
    const { messages } = this.#parser;
    while (message.isComplete && messages.length === 1 && this.#parse());
    return messages.length === 1 && this.#parser.malformed !== null;
  }

  /** A body that is made while it is sent. */
  async #stream(message: Message, response: Response): Promise<void> {
    const framing: Framing = message.isHttp10 ? "close" : "chunked";
    const head = headOf(response, framing, this.#isOver);
    this.#isHandling = true;
    this.#out.add(head, head.length);
    const reader = response.body!.getReader();
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        const taken = this.#out.write(framing === "chunked" ? chunkOf(value) : value);
        // A peer that stops reading in the middle of a stream has no more time than any other.
        if (this.#out.isBlocked && !this.#isClosed) this.#enter("sending", message);
        await taken;
        if (this.#isClosed) {
          await reader.cancel();
          return;
        }
      }
      if (framing === "chunked") this.#out.add(LAST_CHUNK, LAST_CHUNK.length);
      this.#isHandling = false;
      this.#advance();
    } catch (error) {
      // The head is out: only the end of the connection can say that the body is not whole.
      this.host.handler.fail(error);
      this.socket.terminate();
    }
  }

  #enter(phase: Phase, message: Message | undefined): void {
    if (phase === this.#phase && message === this.#timed && phase !== "idle") return;
    this.#phase = phase;
    this.#timed = message;
    this.#deadline = this.host.now() + SECONDS[phase];
  }

  /** What the peer sends from now on is read and thrown away: a socket closed over it would be reset. */
  #shutDown(): void {
    this.#enter("lingering", undefined);
    this.#held = null;
    this.#pause(false);
    this.socket.shutdown();
  }

  #pause(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    if (isPaused) this.socket.pause();
    else this.socket.resume();
  }
}

function expectsContinue({ isHttp10 }: Message, { headers }: Request): boolean {
  return !isHttp10 && headers.get("expect")?.toLowerCase() === "100-continue";
}
