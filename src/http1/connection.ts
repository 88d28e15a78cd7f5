// One connection: handles its requests one after another, each answered before the next is parsed.
// Bytes that arrive while a response is awaited stay unparsed: nothing that follows a request may change or replace
// its response. docs/specification/http.md#http-connections.

import { Outgoing } from "./outgoing.ts";
import {
  type Malformed,
  type Message,
  RequestParser,
  type StreamedBodies,
  type WideBodies,
} from "./parser.ts";
import { IncomingRequest } from "./request.ts";
import {
  type AnyResponse,
  discard,
  formatChunk,
  type Framing,
  formatHead,
  LAST_CHUNK,
  NO_RESPONSE,
  saysLast,
  textOf,
} from "./response.ts";

export type { Malformed };

/** Bytes parsed at a time. Limits how many pipelined requests wait behind the one being answered. */
const SLICE_BYTES = 16 * 1024;
const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";

/**
 * Time limits in seconds. A whole head or body must arrive within its limit. Idle time counts from the last response,
 * even if blank lines arrive. The other limits count from the last progress.
 */
const IDLE_SECONDS = 30;
const HEAD_SECONDS = 10;
const BODY_SECONDS = 30;
const SENDING_SECONDS = 30;
/**
 * Time for the peer to read the last response and close. Closing first could reset the connection and lose the
 * response.
 */
const LINGER_SECONDS = 5;
/**
 * After this time without progress, a connection in the middle of a body or a response may be closed for another one.
 */
const SPARE_SECONDS = 5;

/** Makes the responses. */
export interface Handler {
  handle(request: IncomingRequest): AnyResponse | Promise<AnyResponse>;
  /** Returns the response to bytes that are not a valid request. */
  refuse(status: Malformed): AnyResponse;
  /** Returns the response when `handle` throws. */
  fail(error: unknown): AnyResponse;
  /** Maximum length of a body; a longer one is not read. */
  bodyLimitBytes: number;
  /** Paths with another limit. */
  wide?: WideBodies | null;
  /** A path whose bodies are read while they arrive. */
  streamed?: StreamedBodies | null;
}

/** What a connection needs from its server. */
export interface Host {
  readonly handler: Handler;
  /** Whether the next response is the connection's last: the server is stopping, or its certificate was replaced. */
  isRetiring: boolean;
  /** Monotonic seconds. */
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
  /** Bytes received and not parsed yet. */
  #unparsed: Uint8Array | null = null;
  #isPaused = false;
  /** Whether the response to the first message is awaited, or its body is being sent. */
  #isHandling = false;
  readonly #out: Outgoing;
  /** Whether no further requests are read. */
  #isOver = false;
  #hasPeerEnded = false;
  #isClosed = false;
  /** Whether this side has ended the connection; the peer may still send. */
  #hasEnded = false;
  #phase: Phase = "idle";
  /** Whether a response was sent since the connection was last idle. */
  #hasResponded = false;
  /** The message that the deadline is for. */
  #timed: Message | undefined;
  #deadline: number;

  constructor(
    readonly socket: Bun.Socket<Connection>,
    readonly host: Host,
    /** The address group that the connection counts for, see ConnectionLimits. */
    readonly client: string | null = null,
  ) {
    const { bodyLimitBytes, wide = null, streamed = null } = host.handler;
    this.#parser = new RequestParser(bodyLimitBytes, wide, streamed);
    this.#out = new Outgoing(socket);
    this.#address = socket.remoteAddress;
    this.#deadline = host.now() + IDLE_SECONDS;
  }

  receive(bytes: Uint8Array): void {
    if (this.#isOver) return;
    this.#unparsed = this.#unparsed ? Buffer.concat([this.#unparsed, bytes]) : bytes;
    this.#advance();
  }

  /** Called when the socket is writable again. */
  drain(): void {
    if (!this.#out.isBlocked) return;
    this.#out.drain();
    this.#deadline = this.host.now() + SENDING_SECONDS;
    if (!this.#out.isBlocked) this.#advance();
  }

  /** Called when the peer has closed its sending side; it may still read. */
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

  /**
   * Whether the connection may be closed for another one (see ConnectionPool): none of its requests is being handled.
   */
  get isSpare(): boolean {
    if (this.#phase === "idle" || this.#phase === "head") return true;
    if (this.#phase === "handling") return false;
    return this.host.now() >= this.#deadline - SECONDS[this.#phase] + SPARE_SECONDS;
  }

  /** Closes the connection at once. What has been written is still sent. */
  abandon(): void {
    this.#end();
    // With only `end`, a TLS connection would wait for its peer to close first.
    this.socket.terminate();
  }

  /** Called every second. */
  expire(): void {
    if (this.host.now() < this.#deadline) return;
    const isPolite = this.#phase === "idle" || this.#phase === "lingering";
    // The second time, the peer still has not closed the connection, so it is terminated.
    if (isPolite && !this.#hasEnded) this.#end();
    else this.socket.terminate();
  }

  /** Closes the connection if it is idle; otherwise it closes after its next response. */
  retire(): void {
    if (this.#phase === "idle") this.#end();
  }

  /**
   * Ends the connection and ignores further requests: with TLS, one may arrive before the socket is closed, too late to
   * answer.
   */
  #end(): void {
    this.#hasEnded = true;
    this.#isOver = true;
    this.socket.end();
  }

  /** Continues until it has to wait: for bytes, for a response, or for the socket to become writable. */
  #advance(): void {
    while (!this.#isOver && !this.#out.isBlocked && this.#step());
    this.#out.flush();
    if (this.#isClosed || this.#phase === "lingering") return;
    const message = this.#parser.messages[0];
    if (this.#out.isBlocked) this.#enter("sending", message);
    else if (this.#isHandling) {
      const awaitsBody = !message!.isComplete && !message!.isHeld;
      this.#enter(awaitsBody ? "body" : "handling", message);
    } else if (this.#isOver) return this.#shutDown();
    else if (message) this.#enter("body", message);
    else if (this.#parser.isInside) this.#enter("head", message);
    else this.#enter("idle", message);
    // A response that had begun before the server was stopped was sent without `Connection: close`.
    if (this.#phase === "idle" && (this.#hasPeerEnded || this.host.isRetiring)) {
      return this.#end();
    }
    this.#pause(this.#unparsed !== null);
  }

  /** Does one step; returns false when there is nothing to do. */
  #step(): boolean {
    const { messages, malformed } = this.#parser;
    const message = messages[0];
    if (!message) {
      if (malformed === null) return this.#parse();
      this.#isOver = true;
      this.#respond(null, this.host.handler.refuse(malformed));
    } else if (malformed !== null && !message.isComplete) {
      message.breakOff(malformed);
      if (this.#isHandling) return false;
      if (message.hasResponse) this.#isOver = true;
      else this.#handle(message);
    } else if (this.#isHandling) {
      return !message.isComplete && !message.isHeld && this.#parse();
    } else if (!message.hasResponse) {
      this.#handle(message);
    } else if (message.isComplete) {
      messages.shift();
    } else if (message.isTooLong) {
      this.#isOver = true;
    } else return this.#parse();
    return true;
  }

  #parse(): boolean {
    const unparsed = this.#unparsed;
    if (!unparsed) return false;
    this.#unparsed = unparsed.byteLength > SLICE_BYTES ? unparsed.subarray(SLICE_BYTES) : null;
    this.#parser.read(this.#unparsed ? unparsed.subarray(0, SLICE_BYTES) : unparsed);
    return true;
  }

  #handle(message: Message): void {
    const { handler } = this.host;
    if (!hasOneHost(message)) {
      this.#isOver = true;
      return this.#respond(message, handler.refuse(400));
    }
    if (!message.isComplete && expectsContinue(message)) message.onAwaited = () => this.#continue();
    if (message.isStreamed) message.onTaken = () => this.#advance();
    let response: AnyResponse | Promise<AnyResponse>;
    try {
      response = handler.handle(new IncomingRequest(message, this.#address));
    } catch (error) {
      response = handler.fail(error);
    }
    if (!(response instanceof Promise)) return this.#respond(message, response);
    this.#isHandling = true;
    const settle = (settled: AnyResponse) => {
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

  /** Sends a response. `message` is null for bytes that are not a valid request. */
  #respond(message: Message | null, response: AnyResponse): void {
    if (this.#isClosed) return discard(response);
    if (message) message.hasResponse = true;
    this.#hasResponded = true;
    if (this.#endsWith(message, response)) this.#isOver = true;
    if (response === NO_RESPONSE) return;
    const text = textOf(response);
    const isBodiless = message?.method === "HEAD";
    if (text === undefined && !isBodiless) {
      return void this.#stream(message!, response as Response);
    }
    const bytes = text === undefined ? 0 : Buffer.byteLength(text);
    // For HEAD a stream is not produced, and its length is unknown.
    discard(response);
    const framing = text !== undefined ? bytes : message!.isHttp10 ? "close" : "chunked";
    const head = formatHead(response, framing, this.#isOver);
    if (isBodiless) this.#out.add(head, head.length);
    else this.#out.add(head + text, head.length + bytes);
  }

  #endsWith(message: Message | null, response: AnyResponse): boolean {
    if (message === null || message.isLast || this.host.isRetiring) return true;
    if (saysLast(response)) return true;
    // The rest of a long body is not read.
    if (message.isStreamed && !message.isComplete) return true;
    // A client that did not get 100 Continue may send its body or leave it out, so the next bytes are ambiguous.
    if (message.onAwaited && !message.isComplete && !message.isAwaited) return true;
    // Invalid bytes after this request get no 400 of their own, because it could be taken for the response to another
    // request. This response closes the connection instead.
    const { messages } = this.#parser;
    while (message.isComplete && messages.length === 1 && this.#parse());
    return messages.length === 1 && this.#parser.malformed !== null;
  }

  /** Sends a body while it is produced. */
  async #stream(message: Message, response: Response): Promise<void> {
    const framing: Framing = message.isHttp10 ? "close" : "chunked";
    const head = formatHead(response, framing, this.#isOver);
    this.#isHandling = true;
    this.#out.add(head, head.length);
    const reader = response.body!.getReader();
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        // As a chunk it would end the body.
        if (value.byteLength === 0) continue;
        const taken = this.#out.write(framing === "chunked" ? formatChunk(value) : value);
        // The limit for sending also holds for a peer that stops reading in the middle of a stream.
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
      // The head was sent, so only closing the connection can signal that the body is incomplete.
      // A body that fails without a reason has logged the error itself (http/api/transactions.ts).
      if (error !== undefined) this.host.handler.fail(error);
      this.socket.terminate();
    }
  }

  #enter(phase: Phase, message: Message | undefined): void {
    const isSame = phase === this.#phase && message === this.#timed;
    if (isSame && !(phase === "idle" && this.#hasResponded)) return;
    if (phase === "idle") this.#hasResponded = false;
    this.#phase = phase;
    this.#timed = message;
    this.#deadline = this.host.now() + SECONDS[phase];
  }

  /**
   * Stops sending, and reads and discards what the peer still sends: closing a socket with unread bytes would send a
   * reset.
   */
  #shutDown(): void {
    this.#enter("lingering", undefined);
    this.#unparsed = null;
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

function expectsContinue(message: Message): boolean {
  return !message.isHttp10 && message.get("expect")?.toLowerCase() === "100-continue";
}

/** Whether a request has exactly one Host field (RFC 9112, 3.2); if not, it gets a 400. HTTP/1.0 may leave it out. */
function hasOneHost({ fields, isHttp10 }: Message): boolean {
  let hosts = 0;
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index]!;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  return hosts === 1 || (hosts === 0 && isHttp10);
}
